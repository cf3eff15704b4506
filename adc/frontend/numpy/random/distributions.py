"""Draws of random generators from distributions.

Where a number is a function of parameters and of a draw that does not depend on them
(``loc + scale * z``, an inverse distribution function), it is computed by ordinary arithmetic,
which is differentiated. What is drawn by rejection has no derivative by the parameters that decide
what is rejected.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from adc.frontend.core import bindings, numbers
from adc.frontend.core.bindings import ArrayRef, Binding, Lazy, Num, Static, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.numpy.random import draws
from adc.frontend.values import arguments, arrays, elementwise, views
from adc.frontend.values.arguments import Given, Handler
from adc.ir.core import Literal, Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.types import F64, I64, Scalar
from adc.library import distributions, random

_Check = Callable[..., None]


def _float(
    lo: Lowerer, given: Given, name: str, node: ast.Call, check: _Check | None = None,
    default: float | None = None,
) -> Binding:  # fmt: skip
    """Return a parameter in double precision, checked."""
    value = draws.parameter(lo, given, name, 0.0 if default is None else default, node)
    value = draws.as_floats(lo, value, node)
    if check is not None:
        if isinstance(value, Num) and isinstance(value.operand, Literal):
            try:
                check(float(value.operand.value), name)
            except ValueError:
                pass
            else:
                return value
        draws.call(lo, check, [value, Static(name)], node)
    return value


def _apply(lo: Lowerer, row: str) -> Callable[..., Operand]:
    return lambda *operands: numbers.apply(lo, row, *operands)


# -- standard draws --------------------------------------------------------------------------------


def _simple(lo: Lowerer, given: Given, node: ast.Call, name: str) -> Binding:
    draws.no_out(lo, given, node)
    dtype = arrays.dtype_argument(lo, given.get("dtype"), node) or "f64"
    if dtype not in ("f64", "f32"):
        raise TypeMismatchError(f"no random numbers of dtype {dtype}", lo.span(node))
    return draws.standard(lo, given["generator"], name, draws.size(lo, given, node), node, dtype)


@draws.method("generator size? dtype? out?")
@draws.legacy("generator size?", "random", "random_sample")
def _random(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    return _simple(lo, given, node, "random")


@draws.method("generator size? dtype? out?", "standard_normal")
@draws.legacy("generator size?", "standard_normal")
def _standard_normal(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    return _simple(lo, given, node, "standard_normal")


@draws.method("generator size? dtype? method? out?", "standard_exponential")
@draws.legacy("generator size?", "standard_exponential")
def _standard_exponential(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    if arguments.text(lo, given.get("method"), "zig", node, "the method") != "zig":
        raise lo.unsupported("a method other than 'zig'", node, "leave it out")
    return _simple(lo, given, node, "standard_exponential")


def _by_counts(name: str) -> Handler:
    """Lower a method whose arguments are the sizes of the axes: `rand` and `randn`."""

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        generator, *sizes = args
        if kwargs:
            text = f"{ast.unparse(node.func)}() takes no keyword arguments"
            raise TypeMismatchError(text, lo.span(node), "pass the sizes of the axes")
        for each in sizes:
            if isinstance(each, TupleOf | bindings.ListRef | ArrayRef | Lazy):
                raise TypeMismatchError(
                    f"{kind_of(each)} cannot be interpreted as an integer", lo.span(node),
                    "pass the sizes of the axes one by one: `rand(2, 3)`, or `rand(*shape)`",
                )  # fmt: skip
        given = {"generator": generator}
        if sizes:
            given["size"] = TupleOf(tuple(sizes))
        return _simple(lo, given, node, name)

    return handler


draws.LEGACY |= {"rand": _by_counts("random"), "randn": _by_counts("standard_normal")}


# -- functions of a standard draw ------------------------------------------------------------------


@draws.both("generator loc? scale? size?")
def _normal(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    loc = draws.parameter(lo, given, "loc", 0.0, node)
    scale = draws.parameter(lo, given, "scale", 1.0, node)
    draws.checked(lo, random.require_not_negative, draws.as_floats(lo, scale, node), node)
    return draws.located(lo, given, node, "standard_normal", loc, scale)


@draws.both("generator scale? size?")
def _exponential(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    scale = draws.parameter(lo, given, "scale", 1.0, node)
    draws.checked(lo, random.require_not_negative, draws.as_floats(lo, scale, node), node)
    return draws.located(lo, given, node, "standard_exponential", None, scale)


@draws.both("generator low? high? size?")
def _uniform(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    low = draws.parameter(lo, given, "low", 0.0, node)
    high = draws.parameter(lo, given, "high", 1.0, node)
    width = draws.combined(lo, lambda a, b: numbers.apply(lo, "sub", b, a), [low, high], node)
    width = elementwise.materialised(lo, width, node)
    older = bindings.is_legacy(given["generator"])
    draws.checked(lo, random.require_finite if older else random.require_range, width, node)
    return draws.located(lo, given, node, "random", low, width)


def _shifted(name: str) -> Any:
    def handler(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
        scale = _float(lo, given, "scale", node, distributions.require_not_negative, 1.0)
        return draws.located(lo, given, node, name, _float(lo, given, "loc", node), scale)

    return handler


for _name in ("laplace", "logistic", "gumbel"):
    draws.both("generator loc? scale? size?", _name)(_shifted(_name))


@draws.both("generator size?", "standard_cauchy")
def _standard_cauchy(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    return draws.transformed(lo, given, node, "cauchy", (), lambda z: z)


@draws.both("generator mean? sigma? size?", "lognormal")
def _lognormal(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    sigma = _float(lo, given, "sigma", node, distributions.require_not_negative, 1.0)
    mul, add, exp = _apply(lo, "mul"), _apply(lo, "add"), _apply(lo, "libm_exp")
    parts = [_float(lo, given, "mean", node), sigma]
    return draws.transformed(
        lo, given, node, "standard_normal", parts, lambda m, s, z: exp(add(m, mul(s, z)))
    )


@draws.both("generator scale? size?", "rayleigh")
def _rayleigh(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    scale = _float(lo, given, "scale", node, distributions.require_not_negative, 1.0)
    return draws.located(lo, given, node, "rayleigh", None, scale)


def _exp_less_one(lo: Lowerer, x: Operand, older: bool) -> Operand:
    """Return ``exp(x) - 1``, which a `RandomState` computes in two steps."""
    if not older:
        return numbers.apply(lo, "libm_expm1", x)
    return numbers.apply(lo, "sub", numbers.apply(lo, "libm_exp", x), Literal(1.0, F64))


@draws.both("generator a size?", "pareto")
def _pareto(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    a = _float(lo, given, "a", node, distributions.require_positive)
    older = bindings.is_legacy(given["generator"])

    def compute(a: Operand, e: Operand) -> Operand:
        part = numbers.apply(lo, "truediv", e, a)
        return _exp_less_one(lo, part, older)

    return draws.transformed(lo, given, node, "standard_exponential", [a], compute)


@draws.both("generator a size?", "power")
def _power(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    a = _float(lo, given, "a", node, distributions.require_positive)
    one = Literal(1.0, F64)
    older = bindings.is_legacy(given["generator"])

    def compute(a: Operand, e: Operand) -> Operand:
        below = _exp_less_one(lo, numbers.apply(lo, "neg", e), older)
        inverse = numbers.apply(lo, "truediv", one, a)
        return numbers.apply(lo, "libm_pow", numbers.apply(lo, "neg", below), inverse)

    return draws.transformed(lo, given, node, "standard_exponential", [a], compute)


@draws.both("generator left mode right size?", "triangular")
def _triangular(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    parts = [_float(lo, given, name, node) for name in ("left", "mode", "right")]
    draws.call(lo, distributions.require_order, parts, node)
    mul, add, sub = _apply(lo, "mul"), _apply(lo, "add"), _apply(lo, "sub")
    one = Literal(1.0, F64)

    def compute(left: Operand, mode: Operand, right: Operand, u: Operand) -> Operand:
        base, before = sub(right, left), sub(mode, left)
        ratio = numbers.apply(lo, "truediv", before, base)
        rising = add(left, numbers.apply(lo, "sqrt", mul(u, mul(before, base))))
        after = mul(sub(right, mode), base)
        falling = sub(right, numbers.apply(lo, "sqrt", mul(sub(one, u), after)))
        below = numbers.apply(lo, "le", u, ratio)
        return lo.exact(numbers.select(lo, below, rising, falling), F64)

    return draws.transformed(lo, given, node, "random", parts, compute)


@draws.both("generator a size?", "weibull")
def _weibull(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    a = _float(lo, given, "a", node, distributions.require_not_negative)
    return _each(lo, given, node, distributions.weibull64, [a])


# -- by rejection ----------------------------------------------------------------------------------


def _each(
    lo: Lowerer, given: Given, node: ast.Call, fn: Callable[..., Any],
    parameters: Sequence[Binding], scale: Binding | None = None, element: Scalar = F64,
) -> Binding:  # fmt: skip
    """Draw with parameters of each place; the numbers are multiplied by `scale`."""
    scales = [] if scale is None else [scale]
    dims, parts = draws.fitted(lo, given, node, [*parameters, *scales])
    count = len(parameters)
    generator = given["generator"]
    if dims is None or not dims:
        found = draws.drawn(lo, generator, fn, node, dims, element=element, more=parts[:count])
    else:
        each: list[Lazy] = []
        for part in parts[:count]:
            if isinstance(part, ArrayRef | Lazy):
                each.append(elementwise.lazy(lo, part, node))
            else:
                each.append(_repeated(elementwise.number(lo, part, node), dims))
        found = draws.drawn(lo, generator, fn, node, dims, element=element, each=each)
    if scale is not None:
        found = draws.combined(lo, _apply(lo, "mul"), [parts[count], found], node)
    if dims is None:
        return Num(numbers.weak(lo, elementwise.number(lo, found, node)))
    return found


def _repeated(operand: Operand, dims: Sequence[Operand]) -> Lazy:
    """Return an array whose elements are all one number."""
    return Lazy(tuple(dims), numbers.scalar_type(operand), lambda index: operand)


def _in_double(lo: Lowerer, given: Given, node: ast.Call) -> None:
    draws.no_out(lo, given, node)
    if arrays.dtype_argument(lo, given.get("dtype"), node) not in (None, "f64"):
        raise lo.unsupported("a gamma draw in single precision", node, "use `.astype`")


@draws.method("generator shape size? dtype? out?", "standard_gamma")
@draws.legacy("generator shape size?", "standard_gamma")
def _standard_gamma(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    _in_double(lo, given, node)
    shape = _float(lo, given, "shape", node, distributions.require_not_negative)
    return _each(lo, given, node, distributions.gamma64, [shape])


@draws.both("generator shape scale? size?", "gamma")
def _gamma(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    shape = _float(lo, given, "shape", node, distributions.require_not_negative)
    scale = _float(lo, given, "scale", node, distributions.require_not_negative, 1.0)
    return _each(lo, given, node, distributions.gamma64, [shape], scale)


@draws.both("generator df size?", "chisquare")
def _chisquare(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    df = _float(lo, given, "df", node, distributions.require_positive)
    two = Literal(2.0, F64)
    half = draws.combined(lo, lambda x: numbers.apply(lo, "truediv", x, two), [df], node)
    half = elementwise.materialised(lo, half, node)
    return _each(lo, given, node, distributions.gamma64, [half], Num(two))


@draws.both("generator df size?", "standard_t")
def _standard_t(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    df = _float(lo, given, "df", node, distributions.require_positive)
    return _each(lo, given, node, distributions.student64, [df])


@draws.both("generator dfnum dfden size?", "f")
def _f(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    names = ("dfnum", "dfden")
    parts = [_float(lo, given, name, node, distributions.require_positive) for name in names]
    return _each(lo, given, node, distributions.f64, parts)


@draws.both("generator a b size?", "beta")
def _beta(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    names = ("a", "b")
    parts = [_float(lo, given, name, node, distributions.require_positive) for name in names]
    return _each(lo, given, node, distributions.beta64, parts)


@draws.both("generator alpha size?", "dirichlet")
def _dirichlet(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    alpha = draws.as_floats(lo, arrays.as_array(lo, given["alpha"], node), node)
    if not isinstance(alpha, ArrayRef) or len(views.dims_of(lo, alpha)) != 1:
        raise TypeMismatchError("alpha must be a vector", lo.span(node))
    draws.call(lo, distributions.require_positive, [alpha, Static("alpha")], node)
    dims = draws.size(lo, given, node) or []
    (parts,) = views.dims_of(lo, alpha)
    with lo.at(node):
        count = views.size_of(lo, dims)
        version = arrays.created(lo, "f64", [count, parts], None, "drawn")
        rows = lo.new_array(version, (count, parts), "drawn")
        draws.drawn(lo, given["generator"], distributions.dirichlet, node, more=[rows, alpha])
        return elementwise.copy(lo, views.reshaped(lo, rows, [*dims, parts]), node)


# -- integers --------------------------------------------------------------------------------------


@draws.both("generator lam? size?", "poisson")
def _poisson(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    lam = _float(lo, given, "lam", node, distributions.require_rate, 1.0)
    return _each(lo, given, node, distributions.poisson64, [lam], element=I64)


@draws.both("generator p size?", "geometric")
def _geometric(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    p = _float(lo, given, "p", node, distributions.require_possible)
    return _each(lo, given, node, distributions.geometric64, [p], element=I64)


@draws.both("generator n p size?", "binomial")
def _binomial(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    count = draws.parameter(lo, given, "n", 0.0, node)

    def whole(items: list[Binding]) -> Binding:
        operand = elementwise.number(lo, items[0], node)
        if operand.type.kind == "f":
            raise TypeMismatchError("`n` must be an integer", lo.span(node))
        return Num(lo.exact(lo.convert(operand, I64), I64))

    count = elementwise.materialised(lo, elementwise.lift(lo, [count], whole, node), node)
    draws.call(lo, distributions.require_count, [count, Static("n")], node)
    p = _float(lo, given, "p", node, distributions.require_probability)
    return _each(lo, given, node, distributions.binomial64, [count, p], element=I64)


# -- vectors ---------------------------------------------------------------------------------------


@draws.method("generator mean cov size? check_valid? tol? * method?", "multivariate_normal")
def _multivariate_normal(lo: Lowerer, given: Given, node: ast.Call) -> Binding:
    if arguments.text(lo, given.get("method"), "svd", node, "the method") != "cholesky":
        raise lo.unsupported(
            "drawing vectors by a method other than 'cholesky'", node, "give `method='cholesky'`"
        )
    mean = draws.as_floats(lo, arrays.as_array(lo, given["mean"], node), node)
    cov = draws.as_floats(lo, arrays.as_array(lo, given["cov"], node), node)
    if not isinstance(mean, ArrayRef):
        raise TypeMismatchError("mean must be 1 dimensional", lo.span(node))
    dims = draws.size(lo, given, node) or []
    parts = views.dims_of(lo, mean)
    with lo.at(node):
        count = views.size_of(lo, dims)
        z = draws.standard(lo, given["generator"], "standard_normal", [count, *parts], node)
        found = draws.call(lo, distributions.normals, [mean, cov, z], node)
        assert isinstance(found, ArrayRef | Lazy)
        made = elementwise.base_of(lo, found, node)
        return elementwise.copy(lo, views.reshaped(lo, made, [*dims, *parts]), node)
