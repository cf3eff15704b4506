"""Rows that SciPy computes (`adc.ir.ops.ufuncs`): values bit by bit, derivatives of both orders.

Values are those of the ufuncs. What derivatives ought to be, mpmath says where it has the function,
else differences of SciPy's values do.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from adc.backend.cpu import compile
from adc.backend.python import interpret
from adc.backend.runtime import special
from adc.ir.core import Apply, Function, Value
from adc.ir.errors import NotDifferentiableError, UnsupportedError
from adc.ir.interp import run
from adc.ir.opdef import OPS, OpDef
from adc.ir.ops import algorithms, ufuncs
from adc.ir.ops.scipy import kernels
from adc.ir.ops.ufuncs import find_ufunc, rows
from adc.ir.text.parser import parse
from adc.ir.types import Scalar
from adc.ir.verifier import problems, verify
from adc.passes.ad.adjoint import adjoint
from adc.passes.ad.tangent import tangent
from tests.unit.ir.ufunc_tables import MEANING, POINTS, TOLERANCE

ROWS = sorted(rows(), key=lambda op: op.name)
NAN, INF = math.nan, math.inf

# --- values ---------------------------------------------------------------------------------------

# Operands of every row, whether they are in its domain or not.
NUMBERS = (0.3, 2.0, 0.0, 1.0, -1.5, 7.25, 1e-300, 45.0, INF, -INF, NAN)

# Boost raises outside of their domain; `adc.library.scipy.stats` keeps calls inside.
RAISING = {
    f"scipy_{name}_{inverse}"
    for name in ("skewnorm", "invgauss", "binom", "nbinom")
    for inverse in ("ppf", "isf")
}


def _program(own: list[OpDef], dtype: str) -> Function:
    """Return a function of numbers with a result for every row."""
    ty = Scalar(dtype)
    params = tuple(Value(f"x{k}", ty) for k in range(max(op.arity for op in own)))
    body = [Apply((Value(f"r{k}", ty),), op, params[: op.arity]) for k, op in enumerate(own)]
    return verify(Function("rows", params, tuple(body), tuple(stmt.result for stmt in body)))


def _operands(count: int) -> Iterator[list[float]]:
    """Yield operands: every number beside two others."""
    for shift, x in itertools.product((0, 1, 3), range(len(NUMBERS))):
        yield [NUMBERS[(x + shift * k) % len(NUMBERS)] for k in range(count)]


def _counts(op: OpDef) -> int:
    """Return how many of the first operands of a row are integers."""
    assert op.ufunc is not None
    return op.ufunc.loop.count("l")


@pytest.mark.parametrize("dtype", ["f64", pytest.param("f32", marks=pytest.mark.full)])
@pytest.mark.parametrize("counts", [False, True], ids=["numbers", "integers"])
def test_values_have_the_bits_of_scipy(dtype: str, counts: bool) -> None:
    number = np.float64 if dtype == "f64" else np.float32
    own = [op for op in ROWS if bool(_counts(op)) == counts and (not counts or dtype == "f64")]
    own = [op for op in own if op.name not in RAISING]
    if not own:
        return
    fn = _program(own, dtype)
    kernel, slowly = compile(fn), interpret(fn)
    wrong = []
    for args in _operands(len(fn.params)):
        if counts:  # loops for integers are as long as these are
            args = [abs(x) if math.isfinite(x) else 3.0 for x in args]
        given = [number(x) for x in args]
        for op, found, other in zip(own, kernel(*given), slowly(*given), strict=True):
            want = op.evaluate(*given[: op.arity])
            assert type(want) is number
            for each in (found, other):
                if number(each).tobytes() != want.tobytes() and not (each != each and want != want):
                    wrong.append((op.name, given[: op.arity], each, want))
    assert wrong == []


def test_values_are_those_of_the_public_functions() -> None:
    for op in ROWS:
        assert op.ufunc is not None
        ufunc = find_ufunc(op.ufunc.name)
        assert ufunc is not None
        for point in POINTS[op.name]:
            if set(op.ufunc.loop) & set("lD"):
                continue
            found = ufunc(*point)
            want = found[op.ufunc.output] if isinstance(found, tuple) else found
            assert op.evaluate(*map(np.float64, point)) == want, op


# --- derivatives ----------------------------------------------------------------------------------


def _alone(op: OpDef, dtype: str = "f64") -> tuple[Function, tuple[int, ...]]:
    """Return a function that applies a row, and which operands it is differentiated by."""
    params = ", ".join(f"%x{k}: {dtype}" for k in range(op.arity))
    args = " ".join(f"%x{k}" for k in range(op.arity))
    text = f"fn f({params}) -> {dtype} {{\n  %y = {op.name} {args}\n  return %y\n}}\n"
    refused = op.refused or ("",) * op.arity
    return parse(text), tuple(k for k, why in enumerate(refused) if not why)


def _differences(fn: Callable[[float], float], x: float) -> float:
    """Return a derivative by differences, extrapolated to a step of zero (Richardson)."""
    step = 0.02 * max(abs(x), 0.1)
    for _ in range(10):
        if not (math.isfinite(fn(x + step)) and math.isfinite(fn(x - step))):
            step /= 3.0
    step /= 2.0
    table: list[list[float]] = []
    for row in range(7):
        h = step / 1.7**row
        table.append([(fn(x + h) - fn(x - h)) / (2.0 * h)])
        for k in range(row):
            factor = 1.7 ** (2 * (k + 1))
            table[row].append((factor * table[row][k] - table[row - 1][k]) / (factor - 1.0))
    # Where neighbours agree best.
    pairs = [(abs(row[k] - row[k - 1]), row[k]) for row in table for k in range(1, len(row))]
    return min(pairs)[1]


def _slope(op: OpDef, point: tuple[float, ...], k: int) -> float:
    """Return the derivative of a row by one operand, without its rule."""
    meaning = MEANING.get(op.name)

    def along(x: Any, of: Callable[..., Any], numbers: tuple[Any, ...]) -> Any:
        return of(*numbers[:k], x, *numbers[k + 1 :])

    if meaning is None:
        return _differences(
            lambda x: float(along(np.float64(x), op.evaluate, tuple(map(np.float64, point)))),
            point[k],
        )
    with mp.workdps(40):
        numbers = tuple(mp.mpf(x) for x in point)
        return float(mp.diff(lambda x: along(x, meaning, numbers), numbers[k]))


@pytest.mark.sampled(40)
@pytest.mark.parametrize("op", ROWS, ids=lambda op: str(op.name))
def test_first_derivatives(op: OpDef) -> None:
    fn, wrt = _alone(op)
    if not wrt:
        return
    reverse, forward = adjoint(fn, wrt), tangent(fn, wrt)
    assert problems(reverse) == []
    tolerance = TOLERANCE.get(op.name, 1e-9 if op.name in MEANING else 1e-7)
    with np.errstate(all="ignore"):
        for point in POINTS[op.name]:
            args = tuple(map(np.float64, point))
            found = [float(each) for each in run(reverse, args)[1:]]
            for k, slope in zip(wrt, found, strict=True):
                want = _slope(op, point, k)
                assert slope == pytest.approx(want, rel=tolerance, abs=tolerance * 1e-2), (point, k)
                along = [np.float64(j == k) for j in wrt]
                assert float(run(forward, (*args, *along))[1]) == pytest.approx(slope, rel=1e-14)


@pytest.mark.sampled(80)
@pytest.mark.parametrize("op", ROWS, ids=lambda op: str(op.name))
def test_second_derivatives(op: OpDef) -> None:
    """Differences of the first derivative, which is right, are the second one."""
    fn, wrt = _alone(op)
    if not wrt:
        return
    first = adjoint(fn, wrt)
    try:
        second = tangent(first, wrt)
    except NotDifferentiableError:
        assert op.name in ONCE
        return
    assert op.name not in ONCE
    with np.errstate(all="ignore"):
        for point in POINTS[op.name]:
            args = tuple(map(np.float64, point))
            for k in wrt:
                along = [np.float64(j == k) for j in wrt]
                found = run(second, (*args, *along))[-len(wrt) :]
                for j in range(len(wrt)):

                    def slope(x: float, j: int = j, k: int = k, args: Any = args) -> float:
                        moved = (*args[:k], np.float64(x), *args[k + 1 :])
                        return float(run(first, moved)[1 + j])

                    want = _differences(slope, point[k])
                    scale = 1e-6 * max(1.0, abs(slope(point[k])))
                    assert float(found[j]) == pytest.approx(want, rel=2e-6, abs=scale), (
                        point,
                        k,
                        j,
                    )


# Rows whose derivative contains what is refused: there are no second ones.
ONCE = frozenset(
    f"scipy_{name}"
    for name in (
        "kolmogorov", "kolmogi", "smirnov", "smirnovi",
        *[f"{each}gamma_{part}" for each in ("", "log", "r") for part in ("re", "im")],
    
    )
)  # fmt: skip


@pytest.mark.full
def test_rules_keep_the_dtype() -> None:
    for op in ROWS:
        for dtype in ("f64", "f32"):
            fn, wrt = _alone(op, dtype)
            if not wrt or (_counts(op) and dtype == "f32"):
                continue
            reverse = adjoint(fn, wrt)
            assert problems(reverse) == [], op
            assert parse(str(reverse)) == reverse
            values = [each for stmt in reverse.body for each in stmt.results]
            assert {each.type.dtype for each in values} <= {dtype, "bool", "b1"}, op


@pytest.mark.parametrize("mode", [adjoint, tangent])
def test_operands_without_a_derivative_are_refused(mode: Any) -> None:
    count = 0
    for op in ROWS:
        for k, why in enumerate(op.refused):
            if why:
                count += 1
                with pytest.raises(NotDifferentiableError, match="is not differentiated by"):
                    mode(_alone(op)[0], (k,))
    assert count > 5


# --- where numbers are large, or at the edge ------------------------------------------------------

EDGES: list[tuple[str, tuple[float, ...], tuple[float | None, ...]]] = [
    ("gammaln", (1e-300,), (-1e300,)),
    ("gammaln", (1e300,), (math.log(1e300),)),
    ("log_ndtr", (-40.0,), (40.02496884720727,)),
    ("log_ndtr", (-1e10,), (1e10,)),
    ("log_ndtr", (50.0,), (0.0,)),
    ("ndtr", (-50.0,), (0.0,)),
    ("erfcx", (1e8,), (-1.0 / math.sqrt(math.pi) * 1e-16,)),
    ("dawsn", (-1e8,), (-0.5e-16,)),
    ("xlogy", (0.0, 0.0), (-INF, 0.0)),
    ("xlogy", (0.0, 3.0), (math.log(3.0), 0.0)),
    ("xlog1py", (0.0, -1.0), (-INF, 0.0)),
    ("rel_entr", (0.0, 0.5), (-INF, 0.0)),
    ("rel_entr", (1.0, 1e-310), (1.0 - math.log(1e-310), -INF)),
    ("kl_div", (0.0, 0.5), (-INF, 1.0)),
    ("entr", (0.0,), (INF,)),
    ("logit", (0.0,), (INF,)),
    ("logit", (1e-300,), (1e300,)),
    ("log_expit", (-800.0,), (1.0,)),
    ("log_expit", (40.0,), (math.exp(-40.0),)),
    ("gammainc", (2.0, 0.0), (None, 0.0)),
    ("gammainc", (1.0, 0.0), (None, 1.0)),
    ("gammainc", (0.5, 0.0), (None, INF)),
    ("gammaincinv", (1.0, 0.0), (None, 1.0)),
    ("betainc", (1.0, 1.0, 0.0), (None, None, 1.0)),
    ("betainc", (2.0, 3.0, 1.0), (None, None, 0.0)),
    ("huber", (1.0, 5.0), (4.0, 1.0)),
    ("pseudo_huber", (0.0, 3.0), (3.0, 0.0)),
    ("boxcox", (2.0, 0.0), (0.5, 0.5 * math.log(2.0) ** 2)),
    ("inv_boxcox", (2.0, 0.0), (math.exp(2.0), -2.0 * math.exp(2.0))),
    ("rgamma", (-3.0,), (-6.0,)),
    ("rgamma", (0.0,), (1.0,)),
    ("exprel", (0.0,), (0.5,)),
    ("ndtri", (0.5,), (math.sqrt(2.0 * math.pi),)),
    ("erfinv", (0.0,), (0.5 * math.sqrt(math.pi),)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "point", "want"), EDGES, ids=str)
def test_edges(name: str, point: tuple[float, ...], want: tuple[float | None, ...]) -> None:
    fn, wrt = _alone(OPS[f"scipy_{name}"])
    with np.errstate(all="ignore"):
        found = run(adjoint(fn, wrt), tuple(map(np.float64, point)))[1:]
    for k, slope in zip(wrt, found, strict=True):
        assert float(slope) == pytest.approx(want[k], rel=1e-12, abs=1e-300)


@pytest.mark.full
def test_a_cotangent_of_zero_contributes_nothing() -> None:
    """Even where the derivative is infinite or NaN."""
    for op in ROWS:
        fn, wrt = _alone(op)
        if not wrt or _counts(op):
            continue
        text = str(fn).replace("  return %y", "  %z = mul %y 0.0:f64\n  return %z")
        reverse = adjoint(parse(text), wrt)
        for args in _operands(op.arity):
            if op.arity > 2:  # SciPy's hypergeometric functions of infinities take forever
                args = [x if math.isfinite(x) else 0.7 for x in args]
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                try:
                    found = run(reverse, tuple(map(np.float64, args)))[1:]
                except OverflowError:  # as SciPy's quantiles raise it: `ppf` asks before
                    continue
            assert all(float(each) == 0.0 for each in found), (op, args)


# --- what a version of SciPy may lack -------------------------------------------------------------


def test_a_function_that_scipy_lacks_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_ufunc

    def lacking(name: str) -> Any:
        return None if name == "psi" else found(name)

    monkeypatch.setattr(ufuncs, "find_ufunc", lacking)
    compile(_alone(OPS["scipy_gammaln"])[0])
    with pytest.raises(UnsupportedError, match=r"`scipy\.special\.psi`, which the program"):
        compile(_alone(OPS["scipy_psi"])[0])


def test_functions_that_scipy_offers_to_cython_are_called_directly() -> None:
    names = {op.ufunc.name for op in ROWS if op.ufunc and special.direct(op.ufunc.name, "d->d")}
    assert {"gammaln", "psi", "erf", "ndtr"} <= names
    assert special.direct("erf", "D->D") is None
    assert special.direct("gammainc", "dd->d") is not None
    assert special.direct("gammainc", "d->d") is None


KERNELS = [op for op in ROWS if op.ufunc is not None and callable(op.ufunc.device)]
SPECIAL = (0.0, -0.0, 0.3, 1.0, 2.5, 30.0, -0.7, -3.0, 1e300, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("op", KERNELS, ids=str)
def test_what_a_gpu_computes(op: OpDef, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what SciPy does."""
    for name in ("scipy_erfc", "scipy_erfcx"):
        monkeypatch.setattr(kernels, name, OPS[name])
    assert op.ufunc is not None
    assert callable(op.ufunc.device)
    device = algorithms.bound(op.ufunc.device, lambda row: row.evaluate)
    points = [*POINTS[op.name], *itertools.product(SPECIAL, repeat=op.arity)]
    if op.name == "scipy_zeta":  # SciPy has NaN for some of 0
        points = [each for each in points if each[0] < 1e100]
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        found = [device(*map(np.float64, each)) for each in points]
        want = [op.evaluate(*map(np.float64, each)) for each in points]
    np.testing.assert_allclose(found, want, rtol=1e-11, atol=1e-15)


def test_a_gpu_is_exact_beside_a_zero() -> None:
    (row,) = [op for op in KERNELS if op.name.endswith("logit")]
    assert row.ufunc is not None
    assert callable(row.ufunc.device)
    device = algorithms.bound(row.ufunc.device, lambda row: row.evaluate)
    for x in 0.5 + np.array([1e-6, 3.3e-6, 1e-5]):
        assert device(x) == pytest.approx(row.evaluate(x), rel=1e-14, abs=0.0)
