"""`scipy.optimize`: roots of functions of one number, and solvers of SciPy's that run outside."""

from __future__ import annotations

import ast
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.frontend.control import program
from adc.frontend.core import dispatch
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    DictRef,
    Lazy,
    LeftOut,
    Num,
    RecordOf,
    Static,
    TupleOf,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import library, linear
from adc.frontend.scipy import host
from adc.frontend.transforms import derivatives
from adc.frontend.values import arguments, elementwise, objects, views
from adc.frontend.values.arguments import Given, Handler
from adc.ir.core import Literal
from adc.ir.errors import ArgumentError
from adc.library.scipy import sessions
from adc.library.scipy.optimize import roots, scalars, solvers


def _root(fn: Callable[..., Any]) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        return linear.run(lo, fn, args, kwargs, node)

    return handler


library.enter_named(
    {f"scipy.optimize.{name}": _root(getattr(roots, name)) for name in roots.__all__}
)


def _no_name(lo: Lowerer, given: Given, function: str, node: ast.Call) -> None:
    """Refuse a `jac` that names a way of SciPy to find differences."""
    if _text_of(given.get("jac", NONE)) is not None:
        raise lo.unsupported(
            f"`scipy.optimize.{function}` with a `jac` that is a name", node,
            "leave `jac` out, or pass a function",
        )  # fmt: skip


def _slope(lo: Lowerer, given: Given, node: ast.Call) -> None:
    """Replace `jac` by a function, and say what kind it is."""
    jac = given.pop("jac", NONE)
    kind = sessions.APART
    if isinstance(jac, Num):
        kind = sessions.BOTH if arguments.flag(lo, jac, node, "`jac`") else sessions.NONE
    elif arguments.is_none(jac) or _text_of(jac) is not None:
        kind = sessions.NONE
    given["kind"] = lo.num(kind)
    given["own"] = Static(solvers.first_of if kind == sessions.BOTH else solvers.same)
    given["jac"] = jac if kind == sessions.APART else Static(solvers.nothing)


def _text_of(value: Binding) -> str | None:
    return value.value if isinstance(value, Static) and isinstance(value.value, str) else None


def _method(lo: Lowerer, given: Given, default: Any, node: ast.Call) -> None:
    method = given.get("method", static(default))
    if not (isinstance(method, Static) and isinstance(method.value, str | None)):
        raise lo.unsupported(
            "a solver of `scipy.optimize` with a `method` that is no name", node,
            "pass the name of one of SciPy's methods",
        )  # fmt: skip
    given["method"] = method


def _root_of_system(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    given = arguments.match(lo, "fun x0 args? method? jac? tol? callback? options?", args, kwargs,
                            node)  # fmt: skip
    arguments.refuse(lo, given, ("callback",), "`scipy.optimize.root`", node)
    _method(lo, given, "hybr", node)
    _slope(lo, given, node)
    return _solved(lo, solvers.root, given, node)


_LEFT_OUT = "adc does not compute (it has `nfev` and `fvec`)"


def _fsolve(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    form = "fun x0 args? jac? full_output? col_deriv? xtol? maxfev? band? eps? factor? diag?"
    names = {"func": "fun", "fprime": "jac", "epsfcn": "eps"}
    kwargs = {names.get(name, name): value for name, value in kwargs.items()}
    given = arguments.match(lo, form, args, kwargs, node)
    in_full = arguments.flag(lo, given.pop("full_output", None), node, "`full_output`")
    arguments.refuse(lo, given, ("col_deriv", "band", "diag"), "`scipy.optimize.fsolve`", node)
    given = {"xtol": lo.num(1.49012e-08), "maxfev": lo.num(0)} | given
    given["options"] = host.settings(lo, given, ("eps", "factor"))
    if isinstance(given.get("jac"), Num):
        raise lo.unsupported(
            "`scipy.optimize.fsolve` with an `fprime` that is no function", node,
            "pass the derivative as a function",
        )  # fmt: skip
    _slope(lo, given, node)
    alone = given["jac"] == Static(solvers.nothing)
    given["calls"] = lo.num(200 if alone else 100)
    if not in_full:
        return _solved(lo, solvers.fsolve, given, node)
    if isinstance(given["xtol"], Num) and not isinstance(given["xtol"].operand, Literal):
        # A text has it.
        raise lo.constant_needed(given["xtol"], "`xtol` of `fsolve` with `full_output`", node)
    found = _solved(lo, solvers.fsolve_in_full, given, node)
    assert isinstance(found, TupleOf)
    x, nfev, fvec, status, message = found.items
    # SciPy counts the Jacobian matrices that it is given.
    left_out = ("fjac", "r", "qtf") if alone else ("njev", "fjac", "r", "qtf")
    info: dict[str, Binding] = {name: LeftOut(_LEFT_OUT, lo.span(node)) for name in left_out}
    info = {"nfev": nfev} | info | {"fvec": fvec}
    record = RecordOf(tuple(info), tuple(info.values()))
    return TupleOf((x, lo.new_ref(DictRef, record), status, message))


def _minimize(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    form = "fun x0 args? method? jac? hess? hessp? bounds? constraints? tol? callback? options?"
    given = arguments.match(lo, form, args, kwargs, node)
    arguments.refuse(lo, given, ("hess", "hessp", "callback"), "`scipy.optimize.minimize`", node)
    constraints = given.pop("constraints", NONE)
    if not arguments.is_none(constraints) and constraints != TupleOf(()):
        raise lo.unsupported(
            "`scipy.optimize.minimize` with `constraints`", node,
            "solve the conditions of Karush, Kuhn and Tucker with `scipy.optimize.root`",
        )  # fmt: skip
    _method(lo, given, None, node)
    _no_name(lo, given, "minimize", node)
    _slope(lo, given, node)
    given["bounds"] = _pairs(lo, given.get("bounds", NONE), node)
    return _solved(lo, solvers.minimize, given, node)


def _pairs(lo: Lowerer, bounds: Binding, node: ast.Call) -> Binding:
    """Return the lower and the upper bounds, for pairs of them or an object of SciPy's."""
    if arguments.is_none(bounds):
        return NONE
    if isinstance(bounds, Static) and hasattr(bounds.value, "lb"):
        sides = (bounds.value.lb, bounds.value.ub)
        items = [TupleOf(tuple(lo.num(float(v)) for v in np.ravel(side))) for side in sides]
        return TupleOf(tuple(items))
    pairs = arguments.sequence(lo, bounds)
    each = [arguments.sequence(lo, pair) for pair in pairs or ()]
    if pairs is None or any(pair is None or len(pair) != 2 for pair in each):
        raise lo.unsupported(
            "`bounds` that are no sequence of pairs", node, "pass `[(low, high), ...]`"
        )
    infinite = (lo.num(-math.inf), lo.num(math.inf))
    return TupleOf(
        tuple(
            TupleOf(
                tuple(
                    infinite[k] if arguments.is_none(pair[k]) else pair[k] for pair in each if pair
                )
            )
            for k in (0, 1)
        )
    )


def _minimize_scalar(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    form = "fun bracket? bounds? args? method? tol? options?"
    given = arguments.match(lo, form, args, kwargs, node)
    _method(lo, given, None, node)
    return _solved(lo, solvers.minimize_scalar, given, node)


def _least_squares(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    form = (
        "fun x0 jac? bounds? method? ftol? xtol? gtol? x_scale? loss? f_scale? diff_step? "
        "tr_solver? tr_options? jac_sparsity? max_nfev? verbose? args? kwargs? callback? workers?"
    )
    given = arguments.match(lo, form, args, kwargs, node)
    if _text_of(given.pop("loss", static("linear"))) != "linear":
        raise lo.unsupported(
            "`scipy.optimize.least_squares` with `loss`", node,
            "minimise the sum with `scipy.optimize.minimize`",
        )  # fmt: skip
    refused = (
        "f_scale", "diff_step", "tr_solver", "tr_options", "jac_sparsity", "verbose", "kwargs",
        "callback", "workers",
    )  # fmt: skip
    arguments.refuse(lo, given, refused, "`scipy.optimize.least_squares`", node)
    _method(lo, given, "trf", node)
    given["difference"] = static(_text_of(given.get("jac", NONE)) or "2-point")
    _slope(lo, given, node)
    given["bounds"] = _limits(lo, given.get("bounds", NONE), node)
    defaults = {"ftol": 1e-8, "xtol": 1e-8, "gtol": 1e-8, "x_scale": 1.0}
    given = {name: lo.num(value) for name, value in defaults.items()} | given
    return _solved(lo, solvers.least_squares, given, node)


def _limits(lo: Lowerer, bounds: Binding, node: ast.Call) -> Binding:
    """Return the lower and the upper bounds, for a pair of them or an object of SciPy's."""
    sides = arguments.sequence(lo, bounds)
    if sides is not None and len(sides) == 2:
        return TupleOf(tuple(elementwise.materialised(lo, side, node) for side in sides))
    return _pairs(lo, bounds, node)


def _curve_fit(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    passed = ("ftol", "xtol", "gtol", "maxfev", "max_nfev", "epsfcn", "factor")
    form = (
        "f xdata ydata p0? sigma? absolute_sigma? check_finite? bounds? method? jac? "
        "full_output? nan_policy? "
    ) + "".join(f"{name}? " for name in passed)
    given = arguments.match(lo, form, args, kwargs, node)
    arguments.refuse(lo, given, ("full_output", "nan_policy"), "`scipy.optimize.curve_fit`", node)
    _method(lo, given, None, node)
    _no_name(lo, given, "curve_fit", node)
    _slope(lo, given, node)
    given["bounds"] = _limits(lo, given.get("bounds", NONE), node)
    start = given.pop("p0", NONE)
    count = _parameters(lo, given["f"], start, node)
    if arguments.is_none(start):
        start = dispatch.apply(lo, Static(solvers.feasible), [lo.num(count), given["bounds"]], {},
                               node)  # fmt: skip
    given |= {"x0": start, "n": lo.num(count)}
    given.setdefault("absolute_sigma", lo.num(False))
    if arguments.is_none(given.get("check_finite", NONE)):
        given["check_finite"] = lo.num(True)
    given["options"] = host.settings(lo, given, passed)
    return _solved(lo, solvers.curve_fit, given, node)


def _parameters(lo: Lowerer, fn: Binding, start: Binding, node: ast.Call) -> int:
    """Return how many parameters a model has, from the start or the model's signature."""
    if not arguments.is_none(start):
        items = arguments.sequence(lo, start)
        if items is not None:
            return len(items)
        if isinstance(start, Num):
            return 1
        if isinstance(start, ArrayRef | Lazy):
            sizes = views.dims_of(lo, start)
            if len(sizes) == 1 and isinstance(sizes[0], Literal):
                return int(sizes[0].value)
    count = len(derivatives.parameters(lo, fn, node)) - 1
    if count < 1:
        raise lo.unsupported(
            "`scipy.optimize.curve_fit` where the number of parameters is not known", node,
            "pass `p0` as a list, or a model with a parameter for each",
        )  # fmt: skip
    return count


def _solved(lo: Lowerer, fn: Callable[..., Any], given: Given, node: ast.Call) -> Binding:
    """Lower a call of a solver."""
    host.require(lo, f"scipy.optimize.{fn.__name__.removesuffix('_in_full')}", node)
    given.setdefault("args", TupleOf(()))
    return host.run(lo, fn, given, node)


def _fixed_point(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
    fn = scalars.fixed_point
    assert isinstance(fn, types.FunctionType)
    return program.call_function(lo, fn, args, kwargs, node)


# The method that SciPy's function chooses, and the function that has it.
_METHODS: dict[str, Callable[..., Any]] = {
    "bisect": roots.bisect, "brentq": roots.brentq, "halley": roots.newton, "newton": roots.newton,
    "secant": roots.newton,
}  # fmt: skip


def _root_scalar(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    form = "f args? method? bracket? fprime? fprime2? x0? x1? xtol? rtol? maxiter? options?"
    given = arguments.match(lo, form, args, kwargs, node)
    arguments.refuse(lo, given, ("options",), "`scipy.optimize.root_scalar`", node)
    given = {name: value for name, value in given.items() if not arguments.is_none(value)}
    for name in ("fprime", "fprime2"):
        if isinstance(given.get(name), Num):
            raise lo.unsupported(
                f"`scipy.optimize.root_scalar` with `{name}` that is no function", node,
                "pass the derivative as a function",
            )  # fmt: skip
    _method(lo, given, None, node)
    name = (_text_of(given.pop("method")) or _chosen(given)).lower()
    if not name:
        raise ArgumentError(
            "Unable to select a solver as neither bracket nor starting point provided.",
            lo.span(node),
        )
    if name not in _METHODS:
        raise lo.unsupported(
            f"`scipy.optimize.root_scalar` with `method={name!r}`", node,
            f"`method` may be {', '.join(map(repr, _METHODS))}",
        )  # fmt: skip
    start = "bracket" if name in ("bisect", "brentq") else "x0"
    if start not in given:
        raise ArgumentError(f"`{start}` is needed for the method {name!r}", lo.span(node))
    found = _root(_METHODS[name])(lo, [], _for_method(lo, name, given, node), node)
    return objects.construct(lo, scalars.Root, [found], {}, node)


def _chosen(given: Given) -> str:
    if "bracket" in given:
        return "brentq"
    if "x0" not in given:
        return ""
    if "fprime" in given:
        return "halley" if "fprime2" in given else "newton"
    return "secant" if "x1" in given else "newton"


def _for_method(lo: Lowerer, name: str, given: Given, node: ast.Call) -> Given:
    """Return the arguments of the function that has a method."""
    f = given["f"]
    found: Given = {word: given[word] for word in ("args", "rtol", "maxiter") if word in given}
    if name in ("bisect", "brentq"):
        ends = arguments.sequence(lo, given["bracket"])
        if ends is None or len(ends) < 2:
            raise lo.unsupported("a `bracket` that is no pair", node, "pass `(a, b)`")
        found |= {"f": f, "a": ends[0], "b": ends[1]}
        return found | ({"xtol": given["xtol"]} if "xtol" in given else {})
    found |= {"func": f, "x0": given["x0"]}
    if "xtol" in given:
        found["tol"] = given["xtol"]
    if name == "secant":
        return found | ({"x1": given["x1"]} if "x1" in given else {})
    if name == "halley" and not {"fprime", "fprime2"} <= set(given):
        raise ArgumentError("`fprime` and `fprime2` are needed for the method 'halley'",
                            lo.span(node))  # fmt: skip
    if name == "halley":
        found["fprime2"] = given["fprime2"]
    own = dispatch.apply(lo, Static(scalars.differences), [f], {}, node)
    return found | {"fprime": given.get("fprime", own)}


library.enter_named(
    {
        "scipy.optimize.curve_fit": _curve_fit,
        "scipy.optimize.fixed_point": _fixed_point,
        "scipy.optimize.root_scalar": _root_scalar,
        "scipy.optimize.fsolve": _fsolve,
        "scipy.optimize.least_squares": _least_squares,
        "scipy.optimize.minimize": _minimize,
        "scipy.optimize.minimize_scalar": _minimize_scalar,
        "scipy.optimize.root": _root_of_system,
    }
)
