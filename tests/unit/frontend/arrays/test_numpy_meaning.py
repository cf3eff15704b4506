"""What functions of NumPy and Python return: type, dtype, shape and value, or the exception."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import AdcError, IRError, LimitError
from adc.supported import page
from tests.oracle import numpy_sweep
from tests.oracle.chain import Chain
from tests.oracle.numpy_sweep import Raised, difference

# How often each expression runs, by default and with --full.
FEW, MANY = 1, 30
_refused: dict[bool, int] = {True: 0, False: 0}


def _sweep(name: str, count: int, *, half: bool = False) -> list[str]:
    found: list[str] = []
    for text in numpy_sweep.table()[name]:
        expression = numpy_sweep.Expression(text)
        for case in numpy_sweep.cases(text, count, half=half):
            got = expression.adc(case)
            refused = numpy_sweep.is_refusal(got)
            if refused and isinstance(expression.python(case), Raised):
                continue
            _refused[refused] += 1
            problem = "" if refused else numpy_sweep.complaint(expression, case, got)
            if problem:
                found.append(f"{case}: {problem}")
        expression.close()
    return found


@pytest.mark.sampled(32)
@pytest.mark.parametrize("name", numpy_sweep.table())
def test_like_python(name: str) -> None:
    assert _sweep(name, FEW) == []


@pytest.mark.full
@pytest.mark.parametrize("name", numpy_sweep.table())
def test_like_python_often(name: str) -> None:
    assert _sweep(name, MANY) == []


@pytest.mark.sampled(40)
@pytest.mark.parametrize("name", sorted({*numpy_sweep.table()} - {"np.sinc", "np.i0"}))
def test_like_python_with_float16(name: str) -> None:
    # (The two that are left out have more digits than NumPy's.)
    assert _sweep(name, FEW, half=True) == []


@pytest.mark.sampled(40)
@pytest.mark.parametrize("name", numpy_sweep.table())
def test_views_are_those_of_numpy(name: str) -> None:
    """Results are written to: arguments change where NumPy's results are views of them."""
    found: list[str] = []
    for text in numpy_sweep.table()[name]:
        (case,) = numpy_sweep.cases(text, 1)
        if "; " in text or not case.args:
            continue
        expression = numpy_sweep.Expression(f"r = {text}; r[...] = 1; (r, {', '.join(case.args)})")
        want = expression.python(case)
        if not isinstance(want, Raised):  # as for numbers
            got = expression.adc(case)
            problem = "" if numpy_sweep.is_refusal(got) else difference(got, want)
            if problem:
                found.append(f"{case}: {problem}")
        expression.close()
    assert found == []


def test_few_of_them_are_refused() -> None:
    """After the sweep: what NumPy computes is mostly computed."""
    total = sum(_refused.values())
    assert total < 1000 or _refused[True] < 0.1 * total, _refused


def test_the_sweep_knows_every_function() -> None:
    supported = set(re.findall(r"`((?:np|math)[\w.]+)`", page()))
    # Types of complex numbers: of real ones they make no difference that is seen.
    supported -= {"np.complex64", "np.complex128", "np.csingle", "np.cdouble"}
    # Of times Python computes when code is compiled.
    supported -= {"np.datetime64", "np.timedelta64"}
    # What decides which warnings are shown (`tests.unit.frontend.like_python`).
    supported -= {"np.seterr"}
    # Fourier transforms have tests of their own.
    supported = {name for name in supported if not name.startswith("np.fft")}
    # Checks return nothing (`tests.unit.frontend.like_python`).
    supported = {name for name in supported if not name.startswith("np.testing")}
    modules = {
        "np.emath",
        "np.linalg",
        "np.polynomial",
        "np.random",
        "np.random.Generator",
        "np.random.RandomState",
        "np.random.rand",
        "np.random.default_rng",
    }
    assert supported - modules - set(numpy_sweep.table()) == set()


def test_the_sweep_sees_differences() -> None:
    expression = numpy_sweep.Expression("np.sum(x)")
    case = numpy_sweep.Case("np.sum(x)", {"x": np.ones(3, np.int8)})
    for wrong in (3, np.int8(3), np.int64(4), np.array(3), Raised(ValueError("no"))):
        assert numpy_sweep.complaint(expression, case, wrong)
    assert not numpy_sweep.complaint(expression, case, np.int64(3))
    expression.close()


# --- what was found -------------------------------------------------------------------------------

V = np.array([100, 200, 250], np.uint8)
F = np.array([0.5, 2.0, -1.0])
M = np.array([[1.0, 4.0, 9.0], [2.0, 3.0, 7.0]])
NARROW = np.array([-100, 100], np.int8)
WITH_NAN = np.array([np.nan, 1.0, 9.0])
WITH_INFINITY = np.array([1.0, 2.0, np.inf])

# Expressions, and what the names in them are.
FOUND: list[tuple[str, dict[str, Any]]] = [
    # Sums in the type that is asked for.
    ("np.sum(v, dtype=np.int8)", {"v": V}),
    ("v.prod(dtype=np.uint8)", {"v": V}),
    ("np.cumsum(v, dtype=np.int8)", {"v": V}),
    ("np.cumprod(v > 0, dtype=bool)", {"v": V}),
    ("np.mean(v, dtype=np.int8)", {"v": V}),
    ("np.add.reduce(v, dtype=np.int16)", {"v": V}),
    ("np.trace(m, dtype=np.int8)", {"m": 100 * np.eye(3, dtype=np.int64)}),
    ("np.sum(v > 0, dtype=bool)", {"v": V}),
    ("np.sum(m > 0, axis=0)", {"m": M}),
    ("np.std(v, dtype=np.float32)", {"v": V}),
    ("b = np.zeros((), np.int8); np.sum(v)", {"v": V}),
    ("b = np.zeros(3, np.int8); np.sum(m, axis=0, out=b); b", {"m": np.full((2, 3), 100, np.int8)}),
    ("sum(v)", {"v": V}),
    ("sum(v > 0, False)", {"v": V}),
    ("max(v)", {"v": np.array([1.0, np.nan, 2.0])}),
    ("min(v)", {"v": np.array([np.nan, 1.0, 2.0])}),
    ("v[0].item()", {"v": V}),
    # Integers of 63 bits.
    ("n + n", {"n": 2**62 - 2**52}),
    ("3 * n", {"n": -(2**61)}),
    ("2**n", {"n": 62}),
    ("1 << n", {"n": 62}),
    # Middle elements of integers, and places between infinite elements.
    ("np.median(v)", {"v": np.array([200, 250], np.uint8)}),
    ("np.median(v)", {"v": np.array([2**62, 2**62 + 2])}),
    ("np.median(m, axis=1)", {"m": np.zeros((3, 0))}),
    ("np.quantile(v, 0.3)", {"v": NARROW}),
    ("np.quantile(v, 0.5)", {"v": NARROW}),
    ("np.quantile(v, 0.75)", {"v": WITH_INFINITY}),
    ("np.percentile(v, 100)", {"v": WITH_INFINITY}),
    ("np.quantile(v, 0.25)", {"v": WITH_NAN}),
    ("np.quantile(v, 0.25)", {"v": F.astype(np.float32)}),
    ("np.percentile(v, 30.0)", {"v": F.astype(np.float32)}),
    ("np.quantile(v, 0.3, method='median_unbiased')", {"v": F.astype(np.float32)}),
    ("np.nanquantile(m, np.float64(0.3), axis=0, method='lower')", {"m": M.astype(np.float32)}),
    ("np.diff(v, prepend=0)", {"v": F}),
    ("np.diff(v, 2, prepend=[0.5, 1.0], append=v[:1])", {"v": F.astype(np.float32)}),
    ("np.diff(m, axis=0, prepend=0, append=m[:1])", {"m": M}),
    ("np.dot(2.0, v)", {"v": F.astype(np.float32)}),
    ("np.dot(v, 2)", {"v": F.astype(np.float32)}),
    ("np.choose(v > 1, [v, 2.0])", {"v": F.astype(np.float32)}),
    ("np.percentile(v, np.int64(30))", {"v": F.astype(np.float32)}),
    ("np.percentile(v, [10, 90])", {"v": F.astype(np.float32)}),
    ("np.quantile(m, (0.1, 0.5, 1.0), axis=-1, keepdims=True)", {"m": M}),
    ("np.quantile(m, np.array([[0.1, 0.5], [0.9, 0.0]]), axis=0)", {"m": M}),
    ("np.nanquantile(v, [0.25, 0.5])", {"v": WITH_NAN}),
    ("np.nanpercentile(v, [25, 75], method='higher')", {"v": WITH_NAN}),
    *(
        (f"np.quantile(v, [0.0, 0.03, 0.3, 0.5, 0.77, 0.97, 1.0], method='{method}')", {"v": F})
        for method in (
            "hazen",
            "weibull",
            "median_unbiased",
            "normal_unbiased",
            "interpolated_inverted_cdf",
            "lower",
            "higher",
            "midpoint",
            "nearest",
        )
    ),
    # Interpolation.
    ("np.interp(x, [0.0, 1.0, 2.0], [3.0, 4.0, np.inf])", {"x": WITH_NAN}),
    ("np.interp(x, [0.0, 1.0], [3.0, 4.0], left=-1, right=7)", {"x": 0.5}),
    ("np.searchsorted(v, w)", {"v": np.array([0.0, 1.0]), "w": np.array([np.nan, 0.5])}),
    # Products and differences of other shapes.
    ("np.kron(v, m)", {"v": F, "m": M}),
    ("np.kron(m, v)", {"v": F, "m": M}),
    ("np.gradient(m)", {"m": M}),
    ("np.gradient(m, 2.0, 0.5)", {"m": M}),
    ("np.gradient(m, [0.0, 1.0, 3.0], axis=1, edge_order=2)", {"m": M}),
    ("np.gradient(v)", {"v": V}),
    ("np.isclose(v, v + np.uint8(1), atol=3)", {"v": V}),
    # What NumPy and Python raise.
    ("i ** -1", {"i": np.array([1, 2])}),
    ("i ** -1", {"i": np.array([], np.int64)}),
    ("np.average(m, weights=w)", {"m": M, "w": F}),
    ("np.average(m, axis=0, weights=w)", {"m": M, "w": F}),
    ("np.average(v, weights=w)", {"v": F, "w": np.array([1.0, -2.0, 1.0])}),
    ("np.arange(1, 9, k)", {"k": 0}),
    ("sum([n]) / sum([n - n])", {"n": 1.5}),
    # Singular matrices.
    ("np.linalg.det(m)", {"m": np.array([[1.0, 2.0], [2.0, 4.0]])}),
    ("np.linalg.slogdet(m)", {"m": np.zeros((2, 2))}),
    # Values that are given again and again.
    ("b = np.zeros(6); np.put(b, [0, 2, 4], v); b", {"v": np.array([7.0, 8.0])}),
    ("b = np.arange(6.0); np.putmask(b, b > 1, v); b", {"v": np.array([7.0, 8.0])}),
    # Numbers, and 0-d arrays.
    ("np.where(n > 0, n, 0.0)", {"n": 1.5}),
    ("np.where(n > 0, n, 0.0) * 2.0", {"n": 1.5}),
    ("isinstance(np.where(n > 0, n, 0.0), np.ndarray)", {"n": 1.5}),
    ("b = np.where(n > 0, n, 0.0); b += 1; b", {"n": 1.5}),
    ("b = np.where(n > 0, n, 0); b *= 2; b", {"n": np.int8(3)}),
    ("b = np.where(n > 0, n, 0.0); c = b; b += 1; c", {"n": 3.0}),
    ("np.select([n > 0], [n])", {"n": np.float32(1.5)}),
    ("np.zeros_like(n)", {"n": np.int8(3)}),
    ("np.asarray(n)", {"n": np.float64(3)}),
    ("np.ascontiguousarray(n)", {"n": 3.0}),
    ("np.tensordot(v, v, 1)", {"v": F}),
    ("v[0].copy()", {"v": F}),
    ("v[0].astype(float)", {"v": V}),
    ("v[0].reshape(1, 1)", {"v": V}),
    ("np.max(v[0])", {"v": V}),
    ("np.std(v[0])", {"v": V}),
    ("np.argmax(v[0])", {"v": V}),
    ("np.linspace(n, 1, 3)", {"n": np.float32(0.1)}),
    ("np.linspace(n, 1, 4, dtype=int)", {"n": -2.5}),
    ("np.clip(n, x, 300)", {"n": -4, "x": F.astype(np.float32)}),
    ("np.ascontiguousarray(n)", {"n": np.array(3.0)}),
    ("np.flip(n)", {"n": np.array(3.0)}),
    ("sum(v, n)", {"v": np.array([200, 100], np.uint8), "n": np.array(7, np.uint8)}),
    # Norms of no elements.
    ("np.linalg.norm(v, np.inf)", {"v": np.zeros(0)}),
    ("np.linalg.norm(m, 1)", {"m": np.zeros((2, 0))}),
    ("np.linalg.norm(m, np.inf, axis=1)", {"m": np.zeros((2, 0))}),
    # Functions that begin with their identity, or whose results have one sign.
    ("np.hypot.reduce(v)", {"v": np.array([-4.0])}),
    ("np.spacing(v)", {"v": np.array([-0.0, -1.0])}),
    # The type of `out` counts, as does that of the roots; a number is not an array.
    ("np.einsum('p,p->p', v, v, out=np.zeros(2))", {"v": NARROW}),
    ("np.poly(v)", {"v": F.astype(np.float32)}),
    ("np.isreal(n)", {"n": 2.0}),
    ("np.isreal(n)", {"n": np.float64(2.0)}),
    # What does not fit into narrow integers, unless it is NumPy's own number.
    ("np.insert(v, [0, 2], n)", {"v": V, "n": -1.0}),
    ("np.vectorize(lambda u: u * 2)(v)", {"v": V}),
    ("np.vectorize(lambda u: u * 2)(n)", {"n": np.uint8(255)}),
    # The first complaint is NumPy's.
    ("np.linalg.cond(m)", {"m": np.zeros((0, 3))}),
    ("np.linalg.tensorsolve(m, v)", {"m": np.eye(3), "v": np.zeros(2)}),
    ("np.bincount(j)", {"j": np.array([1, 2**63 - 2])}),
    ("np.bincount(j)", {"j": np.array([1, -2])}),
    # Powers as C computes them, also of one number.
    ("np.float_power(n, 0.5)", {"n": -np.inf}),
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("text", "args"), FOUND, ids=[text for text, _ in FOUND])
def test_found(text: str, args: dict[str, Any]) -> None:
    expression = numpy_sweep.Expression(text)
    case = numpy_sweep.Case(text, args)
    assert numpy_sweep.complaint(expression, case, expression.adc(case)) == ""
    expression.close()


REFUSED = [
    ("b = np.zeros(3, np.int8); np.copyto(b, v); b", {"v": F}),
    ("b = np.zeros(3, np.int8); np.putmask(b, b > 0, v); b", {"v": F}),
    ("v[0].sort()", {"v": F}),
    ("np.longlong(n)", {"n": 3}),
    ("np.var(v, dtype=np.int8)", {"v": V}),
    ("np.linalg.outer(m, m)", {"m": M}),
    ("np.nonzero(n)", {"n": 3.0}),
    ("np.einsum('p,p->p', v, v, out=np.zeros(3, np.float32))", {"v": F}),
    ("n.__len__()", {"n": np.array(3.0)}),
    ("b = np.where(n > 0, n, 0); b += 0.5; b", {"n": 3}),
]


@pytest.mark.parametrize(("text", "args"), REFUSED, ids=[text for text, _ in REFUSED])
def test_refused(text: str, args: dict[str, Any]) -> None:
    expression = numpy_sweep.Expression(text)
    found = expression.adc(numpy_sweep.Case(text, args))
    assert isinstance(found, Raised)
    assert isinstance(found.error, AdcError)
    assert not isinstance(found.error, IRError)
    assert found.error.span is not None
    expression.close()


def test_no_try_catches_what_python_computes() -> None:
    def power(x: Any, y: Any) -> Any:
        try:
            z = x**y
        except ValueError:
            return x
        return z

    def product(x: Any, n: Any) -> Any:
        try:
            n = n * n * n
        except (OverflowError, ArithmeticError, ValueError):
            return x
        return x * n

    def padded(x: Any, n: Any) -> Any:
        try:
            return np.sum(np.pad(x, n, mode="symmetric"))
        except ValueError:
            return 0.0 * x[0]

    def rows(x: Any, n: Any) -> Any:
        found = [x[: 1 + k] for k in range(n)]
        return x[0] + len(found)

    def total(x: Any, n: Any) -> Any:
        found = [x[:2] for _ in range(n)]
        try:
            return x[0] + sum(found)
        except ValueError:
            return x[0]

    def whole(x: Any, n: Any) -> Any:
        try:
            return x * n ** (1 - n)
        except ValueError:
            return x

    with pytest.raises(LimitError, match="complex"):
        adc.grad(power)(-0.2, 0.5)
    with pytest.raises(LimitError, match="wider than the array"):
        adc.grad(padded)(np.ones(3), 4)
    with pytest.raises(LimitError, match="must have one shape"):
        adc.grad(rows)(np.ones(3), 2)
    with pytest.raises(LimitError, match="is empty"):
        adc.jit(total)(np.ones(3), 0)
    with pytest.raises(LimitError, match="exponent that is not negative"):
        adc.grad(whole)(2.0, 2)
    assert adc.grad(power)(0.25, 0.5) == 1.0
    with pytest.raises(LimitError, match="64 bits"):
        adc.grad(product)(1.0, 2**40)
    assert adc.grad(product)(1.0, 2) == 8.0


def test_numbers_of_more_than_64_bits_are_errors() -> None:
    for text, args in (
        ("v[0].item()", {"v": np.array([2**64 - 1], np.uint64)}),
        ("math.gcd(n, 0)", {"n": -(2**63)}),
        ("n + n", {"n": 2**62}),
        ("3 * n", {"n": 2**62}),
        ("2**n", {"n": 63}),
        ("1 << n", {"n": 63}),
    ):
        expression = numpy_sweep.Expression(text)
        found = expression.adc(numpy_sweep.Case(text, args))
        assert isinstance(found, Raised)
        assert isinstance(found.error, LimitError)
        expression.close()


def test_compiled() -> None:
    """What the interpreter cannot show: 0-d results, numbers with methods."""

    def program(x: Any, n: Any) -> Any:
        first = x[0]
        chosen = np.where(n > 0.0, n, 2.0)
        return first.copy(), first.astype(float), np.max(first), chosen, np.sum(x, dtype=np.int8)

    args = V, 1.5
    assert difference(adc.jit(program)(*args), program(*args)) == ""


def test_values_of_a_choice_have_gradients() -> None:
    def program(n: Any) -> Any:
        return np.where(n > 0.0, n * n, 2.0)

    assert adc.value_and_grad(program)(1.5) == (2.25, 3.0)


def test_logarithms_of_sums_have_gradients_at_infinities() -> None:
    def program(a: Any, b: Any) -> Any:
        return np.logaddexp(a, b) + np.logaddexp2(a, b)

    inf = np.inf
    for a, b, want in ((inf, 1.0, (2.0, 0.0)), (2.0, -inf, (2.0, 0.0)), (-inf, inf, (0.0, 2.0))):
        chain = Chain.of(program, (np.float64(a), np.float64(b)), (0, 1))
        assert chain.gradient(chain.run(chain.joined)) == want


@pytest.mark.full
def test_determinants_of_singular_matrices_have_gradients() -> None:
    def program(a: Any) -> Any:
        return np.linalg.det(a)

    singular = [
        ([[1.0, 2.0], [2.0, 4.0]], [[4.0, -2.0], [-2.0, 1.0]]),
        ([[0.0, 1.0], [0.0, 2.0]], [[2.0, 0.0], [-1.0, 0.0]]),
        ([[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]),
        ([[0.0]], [[1.0]]),
    ]
    for a, adjugate in singular:
        chain = Chain.of(program, (np.array(a),), (0,))
        value, gradient = chain.run(chain.joined)
        assert value == 0.0
        np.testing.assert_allclose(gradient, adjugate, atol=1e-15)
