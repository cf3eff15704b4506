"""The front end: what programs mean after lowering, compared with Python itself.

Everything runs in the reference interpreter, so that hundreds of programs take seconds.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import io
import itertools
import linecache
import math
import time
import traceback
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
import scipy.special

import adc
from adc.frontend import entry
from adc.frontend.core import state
from adc.frontend.core.state import Lowered
from adc.frontend.entry import lower
from adc.ir.core import walk
from adc.ir.errors import AdcError
from adc.ir.interp import Interpreter, ProgramError
from adc.ir.opdef import numpy_value
from adc.ir.text.parser import parse
from adc.ir.types import Scalar
from adc.ir.verifier import problems
from adc.testing import check_grads
from tests.corpus.language import frontend_programs as cases
from tests.corpus.program import Program
from tests.corpus.programs import PROGRAMS
from tests.oracle import chain

_serial = itertools.count()


def load(source: str, name: str = "program", **names: Any) -> Callable[..., Any]:
    """Execute source text as a file of its own; return one of its functions."""
    file = f"<frontend-{next(_serial)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np, "math": math, **names}
    exec(compile(source, file, "exec"), namespace)
    fn: Callable[..., Any] = namespace[name]
    return fn


def lowered_for(fn: Callable[..., Any], args: tuple[Any, ...]) -> Lowered:
    names = inspect.signature(fn).parameters
    return lower(fn, {n: chain.type_tree(a) for n, a in zip(names, args, strict=False)})


def _present(value: Any, ty: Any) -> Any:
    if not isinstance(ty, Scalar):
        return value
    scalar = numpy_value(value, ty)
    return scalar.item() if ty.weak else scalar


def interpreted(
    lowered: Lowered, args: tuple[Any, ...], interpreter: Interpreter | None = None
) -> Any:
    """Run a lowered program on arguments, as its Python function would return."""
    inputs = [leaf for arg in copy.deepcopy(args) for leaf in chain.flat(arg)]
    inputs += [leaf for capture in lowered.captures for leaf in capture.leaves() or ()]
    results = (interpreter or Interpreter(lowered.fn)).run(inputs)
    types = [operand.type for operand in lowered.fn.results]
    values = (_present(v, ty) for v, ty in zip(results, types, strict=True))
    return chain.rebuild(lowered.result, values)


Outcome = tuple[str, Any, str, int]


def _python(fn: Callable[..., Any], args: tuple[Any, ...]) -> Outcome:
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        try:
            return ("value", fn(*copy.deepcopy(args)), "", 0)
        except Exception as error:
            line = traceback.extract_tb(error.__traceback__)[-1].lineno or 0
            return ("error", type(error), str(error), line)


def _adc(
    lowered: Lowered, args: tuple[Any, ...], interpreter: Interpreter | None = None
) -> Outcome:
    try:
        return ("value", interpreted(lowered, args, interpreter), "", 0)
    except ProgramError as error:
        line = error.check.loc.line if error.check.loc else 0
        return ("error", type(error.error), str(error.error), line)


# --- the corpus -----------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_corpus(program: Program) -> None:
    args = program.make_args()
    lowered = lowered_for(program.fn, args)
    assert not problems(lowered.fn)
    assert parse(str(lowered.fn)) == lowered.fn
    kind, want, *_ = _python(program.fn, args)
    assert kind == "value"
    got = chain.flat_gradient(interpreted(lowered, args))
    tolerance = 1e-6 if "float32" in program.tags else 1e-13
    for a, b in zip(got, chain.flat_gradient(want), strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=1e-14)


REPRESENTATIVE = frozenset(
    {
        "all_exits_in_one_program",
        "burgers_equation",
        "chained_comparison",
        "dynamic_time_warping",
        "for_over_enumerate_of_zip",
        "helper_returns_early_from_a_loop",
        "insertion_sort_of_integers",
        "loop_variable_after_the_loop",
        "ping_pong_of_two_buffers",
        "quadrature_of_a_closure",
        "recursion_over_a_function",
        "sparse_matrix_vector_product",
        "tuple_state_carried_by_a_loop",
        "while_with_break_skips_else",
    }
)


def test_representative_programs_exist() -> None:
    assert {program.name for program in PROGRAMS} >= REPRESENTATIVE


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.name in REPRESENTATIVE], ids=str)
def test_value_form(program: Program, golden: Callable[[str, str], None]) -> None:
    lowered = lowered_for(program.fn, program.make_args())
    source = inspect.getsource(inspect.unwrap(program.fn))
    golden(f"frontend/{program.name}.txt", f"{source}\n{lowered.fn}\n")


# --- meaning --------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", cases.PROGRAMS, ids=lambda fn: str(fn.__name__))
@pytest.mark.parametrize("x", [1.5, -0.75])
def test_meaning(case: Callable[[float], Any], x: float) -> None:
    """Same value, or same exception with the same message on the same line."""
    want = _python(case, (x,))
    lowered = lowered_for(case, (x,))
    assert not problems(lowered.fn)
    got = _adc(lowered, (x,))
    if want[0] == "value" and got[0] == "value":
        assert float(got[1]) == pytest.approx(float(want[1]), rel=1e-13, nan_ok=True)
    else:
        assert got == want


VALUES: dict[str, list[Any]] = {
    "bool": [True, False],
    "int": [3, -2, 0, 1, 300],
    "float": [2.5, -1.5, 0.0, -0.0, 1e300, math.nan, math.inf],
    "bool_": [np.True_, np.False_],
}
for _name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    _info, _type = np.iinfo(_name), np.dtype(_name).type
    VALUES[_name] = [_type(v) for v in (5, 0, 1, _info.max, _info.min)]
    if _name.startswith("i"):
        VALUES[_name].append(_type(-3))
for _name in ("float32", "float64"):
    _type = np.dtype(_name).type
    VALUES[_name] = [_type(v) for v in (2.5, -1.5, 0.0, -0.0, 3.0, np.nan, np.inf)]

BINARY = (
    "a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "a ** b", "a & b", "a | b", "a ^ b",
    "a << b", "a >> b", "a < b", "a <= b", "a > b", "a >= b", "a == b", "a != b",
    "divmod(a, b)", "a if b else a", "np.add(a, b)", "np.subtract(a, b)", "np.multiply(a, b)",
    "np.divide(a, b)", "np.floor_divide(a, b)", "np.remainder(a, b)", "np.minimum(a, b)",
    "np.fmax(a, b)", "np.less(a, b)", "np.equal(a, b)", "np.float_power(a, b)",
    "np.hypot(a, b)", "np.logical_xor(a, b)", "math.pow(a, b)", "math.fmod(a, b)",
    "math.ldexp(a, b)", "math.atan2(a, b)",
)  # fmt: skip
UNARY = (
    "-a", "+a", "~a", "not a", "abs(a)", "int(a)", "float(a)", "bool(a)", "round(a)",
    "a ** 2", "a ** 3", "a ** 0", "a ** 1", "a ** -1", "a ** -2", "2.0 ** a", "1 - a", "a + 1.0",
    "a + True", "a // 2", "a % 2", "a / 2", "np.sqrt(a)", "np.abs(a)", "np.square(a)",
    "np.floor(a)", "np.rint(a)", "np.round(a)", "np.isnan(a)", "np.int8(a)", "np.uint8(a)",
    "np.float32(a)", "np.bool_(a)", "math.floor(a)", "math.sqrt(a)", "math.log(a)",
    "math.exp(a)", "math.gamma(a)", "math.lgamma(a)", "a is None", "a == None", "(a,) == (a,)",
)  # fmt: skip


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(itertools.starmap(_alike, zip(a, b, strict=True)))
    x, y = np.asarray(a), np.asarray(b)
    if x.dtype != y.dtype or isinstance(a, np.generic) != isinstance(b, np.generic):
        return False
    if x.dtype.kind == "f":
        if np.isnan(x) or np.isnan(y):
            return bool(np.isnan(x) and np.isnan(y))
        tolerance = 1e-6 if x.dtype == np.float32 else 1e-13
        return bool(np.signbit(x) == np.signbit(y) and np.isclose(x, y, rtol=tolerance, atol=0))
    return bool(x == y)


def _accepted(want: Outcome, got: Outcome) -> bool:
    """Whether a difference is documented."""
    if got[0] == "error" and "adc" in got[2]:
        return True  # Python's integers beyond 64 bits, complex powers
    # A conversion of NaN to an integer warns in NumPy and raises in adc.
    return got[0] == "error" and "cannot convert float NaN" in got[2]


def _check_expression(text: str, kinds: tuple[str, ...]) -> list[str]:
    names = "ab"[: len(kinds)]
    fn = load(f"def program({', '.join(names)}):\n    return {text}\n")
    samples = list(itertools.product(*(VALUES[kind] for kind in kinds)))
    try:
        lowered = lowered_for(fn, samples[0])
    except AdcError as error:
        return [str(error)] if error.code == "ADC900" else []
    found = [f"{text} {kinds}: {problem}" for problem in problems(lowered.fn)]
    interpreter = Interpreter(lowered.fn)
    for sample in samples:
        want, got = _python(fn, sample), _adc(lowered, sample, interpreter)
        if want[0] == got[0] == "value" and isinstance(want[1], np.generic | bool | int | tuple):
            same = _alike(want[1], got[1])
        else:
            same = want[:3] == got[:3] or (want[0] == got[0] and _alike(want[1], got[1]))
        if not same and not _accepted(want, got):
            found.append(f"{text} {sample}: {want} but {got}")
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", UNARY)
def test_unary_promotion(text: str) -> None:
    found = [line for kind in VALUES for line in _check_expression(text, (kind,))]
    assert not found


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", BINARY)
def test_binary_promotion(text: str) -> None:
    pairs = itertools.product(VALUES, repeat=2)
    found = [line for pair in pairs for line in _check_expression(text, pair)]
    assert not found


def test_refusals_of_promotion_are_few() -> None:
    """The tests above skip what is refused; the plain operators refuse what Python refuses."""
    for text in ("a + b", "a * b", "a / b", "a // b", "a < b", "a == b"):
        fn = load(f"def program(a, b):\n    return {text}\n")
        for left, right in itertools.product(VALUES, repeat=2):
            lowered_for(fn, (VALUES[left][0], VALUES[right][0]))


# --- captured variables ---------------------------------------------------------------------------


def test_captured_numbers_and_arrays_are_read_at_every_call() -> None:
    fn = load("def program(x):\n    return x * G + A[1]\n", G=2.0, A=np.array([1.0, 5.0]))
    lowered = lowered_for(fn, (3.0,))
    assert interpreted(lowered, (3.0,)) == 11.0
    fn.__globals__["G"] = 4.0
    fn.__globals__["A"] = np.array([0.0, -1.0])
    assert interpreted(lowered, (3.0,)) == 11.0
    assert all(guard.holds() for guard in lowered.guards)


def test_captured_functions_are_guarded() -> None:
    fn = load("def program(x):\n    return F(x)\n", F=math.sin)
    lowered = lowered_for(fn, (3.0,))
    assert all(guard.holds() for guard in lowered.guards)
    fn.__globals__["F"] = math.cos
    assert not all(guard.holds() for guard in lowered.guards)


def test_compiled_code_follows_captured_variables() -> None:
    fn = load("def program(x):\n    return F(x) * G\n", F=math.sin, G=2.0)
    slope = adc.grad(fn, cache=False)
    assert slope(0.5) == pytest.approx(2.0 * math.cos(0.5))
    fn.__globals__["G"] = 3.0
    assert slope(0.5) == pytest.approx(3.0 * math.cos(0.5))
    assert slope.cache_info()["compiled"] == 1
    fn.__globals__["F"] = math.cos
    assert slope(0.5) == pytest.approx(-3.0 * math.sin(0.5))
    fn.__globals__["G"] = np.float32(3.0)
    assert slope(0.5) == pytest.approx(-3.0 * math.sin(0.5), rel=1e-6)


# --- errors of the program, compiled --------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", cases.RAISING, ids=lambda fn: str(fn.__name__))
def test_exceptions_are_those_of_python(case: Callable[[Any], Any]) -> None:
    x = np.array([1.5, -2.0, 0.0])
    want = _python(case, (x,))
    assert want[0] == "error"
    before = x.copy()
    with pytest.raises(want[1]) as caught:
        adc.grad(case, cache=False)(x)
    assert type(caught.value) is want[1]
    assert str(caught.value) == want[2]
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno) == (case.__code__.co_filename, want[3])
    assert x.tobytes() == before.tobytes()


def test_endless_recursion() -> None:
    fn = load("def program(x):\n    return x if x > 1e9 else program(x * 0.5)\n")
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        adc.grad(fn, cache=False)(1.5)


# --- compile time ---------------------------------------------------------------------------------


def _nest(depth: int) -> str:
    lines = ["def program(x, n):", "    s = 0.0"]
    for k in range(depth):
        pad = "    " * (k + 1)
        lines += [f"{pad}c{k} = 0", f"{pad}for i{k} in range(n):"]
    pad = "    " * (depth + 1)
    lines += [f"{pad}s += x * i{depth - 1}"]
    for k in reversed(range(depth)):
        lines += [f"{'    ' * (k + 2)}c{k} += 1.5 * x"]
    return "\n".join([*lines, "    return s + c0", ""])


def _branches(count: int) -> str:
    lines = [
        f"    if x > {k}:\n        s = s * x\n    else:\n        s += {k}" for k in range(count)
    ]
    return "\n".join(["def program(x, n):", "    s = 1.0", *lines, "    return s", ""])


def _conjunction(count: int) -> str:
    terms = " and ".join(f"x / (n - {k}) > 0.1" for k in range(count))
    return f"def program(x, n):\n    if {terms}:\n        return x\n    return 2.0 * x\n"


def _calls(depth: int) -> str:
    lines = ["def f0(x):", "    return x * 2.0 if x > 0.0 else -x"]
    for k in range(1, depth):
        lines += [f"def f{k}(x):", f"    s = f{k - 1}(x)", "    return s if s > 1.0 else s * x"]
    lines += ["def program(x, n):", f"    return f{depth - 1}(x)", ""]
    return "\n".join(lines)


def _returns(count: int) -> str:
    lines = [f"        if x * i > {k + 50}:\n            return s + {k}" for k in range(count)]
    head = ["def program(x, n):", "    s = 0.0", "    for i in range(n):"]
    return "\n".join([*head, *lines, "        s += x", "    return s", ""])


@pytest.mark.parametrize(
    ("make", "size"), [(_nest, 4), (_branches, 30), (_conjunction, 20), (_calls, 6), (_returns, 10)]
)
def test_lowering_is_linear(make: Callable[[int], str], size: int) -> None:
    counts = []
    start = time.perf_counter()
    for times in (1, 2):
        fn = load(make(size * times))
        lowered = lowered_for(fn, (1.5, 3))
        assert _adc(lowered, (1.5, 3))[:2] == _python(fn, (1.5, 3))[:2]
        counts.append(sum(1 for _ in walk(lowered.fn.body)))
    assert counts[1] <= 2.6 * counts[0]
    assert time.perf_counter() - start < 20.0


# --- Numba's ranges -------------------------------------------------------------------------------


def counted(x: Any, many: Any) -> Any:
    total = 0.0
    for i in many(x.shape[0]):
        for k in many(1, 5, 2):
            total += x[i] ** k
    return total + len(many(3))


def test_prange_is_range() -> None:
    import numba

    x = np.array([0.5, -1.5, 2.0])
    want = lowered_for(counted, (x, range)).fn
    assert lowered_for(counted, (x, numba.prange)).fn == want
    assert adc.grad(counted)(x, numba.prange) == pytest.approx(1 + 3 * x**2)
    jitted = numba.njit(lambda x: counted(x, numba.prange))
    assert adc.grad(jitted)(x) == pytest.approx(1 + 3 * x**2)


def test_another_prange_is_what_it_says() -> None:
    class prange:
        def __new__(cls, n: int) -> Any:
            return range(n + 1)

    with pytest.raises(AdcError, match="takes 2 arguments"):
        lowered_for(counted, (np.ones(2), prange))


@adc.custom_vjp
def doubled(x: Any) -> Any:
    return x * 2.0


@adc.custom_vjp
def doubled_where_positive(x: Any) -> Any:
    return x[x > 0] * 2.0


def _two_of_them(x: Any) -> Any:
    return x[:2] * 2.0, len(x)


for custom in (doubled, doubled_where_positive):
    custom.defvjp(_two_of_them, lambda n, ct: (np.full(n, 2.0 * len(ct)),))


def test_a_rule_returns_a_value_of_the_shape_that_its_function_returns() -> None:
    with pytest.raises(ValueError, match="has size 2 along axis 0, that of the function 5"):
        adc.grad(lambda x: np.sum(doubled(x)))(np.arange(5.0))
    assert adc.grad(lambda x: np.sum(doubled(x)))(np.ones(2)) == pytest.approx([4.0, 4.0])
    other = adc.custom_vjp(lambda x: x * np.ones(3))
    other.defvjp(lambda x: (x * np.ones(2), None), lambda kept, ct: (np.sum(ct),))
    with pytest.raises(AdcError, match="has size 2 along axis 0, that of the function 3"):
        adc.grad(lambda x: np.sum(other(x)))(2.0)


def test_sizes_that_no_argument_tells_are_those_of_the_rule() -> None:
    """A wrong rule has wrong results; nothing is read or written where no array is."""

    def program(x: Any) -> Any:
        y = doubled_where_positive(x)
        return np.sum(y * np.arange(len(y))) + len(y)

    value, gradient = adc.value_and_grad(program)(np.arange(5.0))
    assert value == 4.0
    assert gradient == pytest.approx(np.full(5, 4.0))


def _columns(x: Any, axis: int = 0, mode: str = "sum", scale: bool = True) -> Any:
    y = x * 2.0 if scale else x
    return np.mean(y, axis=axis) if mode == "mean" else np.sum(y, axis=axis)


def _many_calls(x: Any) -> Any:
    parts = {}
    for name in ("a", "b", "c"):
        parts[name] = _columns(x) + _columns(x.T, axis=1, scale=False)
        parts[name] = parts[name] * scipy.special.logsumexp(x) + _columns(x, 0, "mean")
    return sum(np.sum(part) for part in parts.values())


def test_functions_that_need_constants_are_inlined_into_large_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(entry, "Shared", functools.partial(state.Shared, inlined=150))
    x = np.array([[0.3, -0.5], [0.7, 1.1]])
    assert np.isclose(adc.jit(_many_calls)(x), _many_calls(x), rtol=1e-14)


def _advanced(q: Any, p: Any, step: float) -> Any:
    return q + step * np.array(p), p - step * np.sin(q)


def _chained(q: Any) -> Any:
    n = len(q)
    turned: Any = [[None]] * n
    for i in range(n):
        turned[i] = np.array([np.cos(q[i]), np.sin(q[i])])
    total = np.zeros(2)
    for i in range(n):
        total = total + turned[i] * (i + 1.0)
    return total


def _swung(q: Any, p: Any) -> Any:
    for _ in range(3):
        q, p = _advanced(q, p, 0.1)
        p = p - 0.1 * _chained(q)[1]
    return np.sum(q * p)


def test_functions_that_large_code_calls_know_the_sizes_of_arguments_and_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(entry, "Shared", functools.partial(state.Shared, inlined=20))
    check_grads(_swung, (np.array([0.3, -0.5, 0.8]), np.array([0.7, 1.1, 0.2])))


def _clipped(x: Any, most: Any) -> Any:
    return most if x > most else x * x


_CLIPPED: Any = numba.vectorize(nopython=True)(_clipped)  # type: ignore[no-untyped-call]


def test_functions_of_numba_vectorize_are_mapped() -> None:
    def program(x: Any) -> Any:
        return np.sum(_CLIPPED(x[:, None], np.array([0.4, 9.0]))) + _CLIPPED(x[0], 2.0)

    x = np.array([0.3, 0.7, 1.6])
    assert adc.jit(program)(x) == pytest.approx(program(x))
    check_grads(program, (x,))
