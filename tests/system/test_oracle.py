"""The oracles, the corpus and the generator are right before anything is compared with them."""

from __future__ import annotations

import collections
import copy
import inspect
import io
import math
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pytest

from tests.corpus.program import Program
from tests.corpus.programs import PROGRAMS, by_name, differentiable, tagged
from tests.fuzz import command
from tests.fuzz.families import fuzz_scalars
from tests.fuzz.program import Generated, Unreliable, forget, load
from tests.fuzz.shrink import shrink
from tests.oracle import oracle

# --- known gradients ------------------------------------------------------------------------------

_MATH_POINTS: list[tuple[Callable[..., Any], tuple[float, ...]]] = [
    (math.sin, (0.4,)),
    (math.tan, (-0.4,)),
    (math.asin, (0.4,)),
    (math.acos, (-0.4,)),
    (math.atan, (-2.4,)),
    (math.sinh, (0.4,)),
    (math.cosh, (-1.4,)),
    (math.tanh, (0.4,)),
    (math.asinh, (-0.4,)),
    (math.acosh, (1.9,)),
    (math.atanh, (0.4,)),
    (math.exp, (-0.4,)),
    (math.exp2, (0.4,)),
    (math.expm1, (1e-9,)),
    (math.log, (0.4,)),
    (math.log, (0.4, 3.0)),
    (math.log2, (0.4,)),
    (math.log10, (0.4,)),
    (math.log1p, (-1e-9,)),
    (math.sqrt, (0.4,)),
    (math.cbrt, (-0.4,)),
    (math.erf, (-0.4,)),
    (math.erfc, (2.4,)),
    (math.hypot, (0.4, -2.0)),
    (math.atan2, (0.4, -2.0)),
    (math.atan2, (-0.4, 2.0)),
    (math.pow, (0.4, -2.0)),
    (math.fmod, (-5.3, 2.0)),
    (math.remainder, (5.3, 2.0)),
    (math.copysign, (5.3, -2.0)),
    (math.fabs, (-5.3,)),
    (math.degrees, (-5.3,)),
    (math.radians, (-5.3,)),
    (math.floor, (2.3,)),
]


@pytest.mark.parametrize(("fn", "at"), _MATH_POINTS, ids=lambda v: getattr(v, "__name__", None))
def test_functions_of_the_complex_step_agree_with_differences(
    fn: Callable[..., Any], at: tuple[float, ...]
) -> None:
    def call(*xs: float) -> float:
        return float(fn(*xs))

    argnums = tuple(range(len(at)))
    exact = oracle.complex_step_gradient(fn, at, argnums)
    differences = oracle.finite_difference_gradient(call, at, argnums)
    oracle.assert_gradients_close(differences, exact, rtol=1e-9, atol=1e-10)


def _cubic(x: Any) -> Any:
    return x[0] ** 3 * x[1] + 2.0 / x[1]


def test_known_polynomial() -> None:
    x = np.array([1.5, -0.7])
    want = (np.array([3 * 1.5**2 * -0.7, 1.5**3 - 2.0 / 0.49]),)
    oracle.assert_gradients_close(oracle.complex_step_gradient(_cubic, (x,)), want, rtol=1e-14)
    oracle.assert_gradients_close(oracle.finite_difference_gradient(_cubic, (x,)), want, rtol=1e-10)


def _overwriting(a: Any, c: Any) -> Any:
    for i in range(1, len(a)):
        a[i] = a[i] * a[i - 1] + c
    return a[-1]


def test_arguments_are_not_modified() -> None:
    a = np.array([0.5, 2.0, -1.0])
    before = a.copy()
    want = (np.array([-2.0, -0.5, 1.3]), -1.0 + 1.0)
    for method in (oracle.complex_step_gradient, oracle.finite_difference_gradient):
        got = method(_overwriting, (a, 0.3), (0, 1))
        oracle.assert_gradients_close(got, want, rtol=1e-10)
    assert np.array_equal(a, before)


def _of_tuple(p: Any) -> Any:
    a, c, n = p
    return a[0] * c * n


def test_tuple_arguments_have_gradients_of_the_same_structure() -> None:
    args = ((np.array([2.0, 3.0]), 0.5, 4),)
    for method in (oracle.complex_step_gradient, oracle.finite_difference_gradient):
        (got,) = method(_of_tuple, args)
        assert isinstance(got, tuple)
        oracle.assert_gradients_close(got, (np.array([2.0, 0.0]), 8.0, 0.0), rtol=1e-10)


def _single(x: Any) -> Any:
    return np.float32(x) * np.float32(0.1) * x


def test_single_precision_is_differentiated_without_rounding() -> None:
    x = np.float32(0.7)
    want = (2.0 * 0.1 * float(x),)
    for method in (oracle.complex_step_gradient, oracle.finite_difference_gradient):
        oracle.assert_gradients_close(method(_single, (x,)), want, rtol=1e-7)


def _staircase(x: Any) -> Any:
    return x * x if x > 0.7001 else -5.0


def test_differences_step_over_a_nearby_jump() -> None:
    want = (2.0 * 0.7005,)
    oracle.assert_gradients_close(
        oracle.finite_difference_gradient(_staircase, (0.7005,)), want, rtol=1e-8
    )


def _to_real_number(x: Any) -> Any:
    return float(np.asarray([x])[0]) * 2.0


def _counts_numpy_bools(x: Any) -> Any:
    return ((x > 0.1) + (x > 0.2)) * x


@pytest.mark.parametrize("fn", [_to_real_number, _counts_numpy_bools])
def test_complex_step_refuses_what_it_cannot_run_faithfully(fn: Callable[..., Any]) -> None:
    program = Program(fn.__name__, fn, (np.float64(0.7),))
    if fn is _counts_numpy_bools:
        with pytest.raises(oracle.OracleError, match="complex step"):
            oracle.complex_step_gradient(fn, program.make_args())
    (got,) = oracle.oracle_gradient(program)
    assert got == pytest.approx(2.0 if fn is _to_real_number else 1.0, rel=1e-9)


def _returns_array(x: Any) -> Any:
    return np.zeros(3)


def test_results_that_are_not_numbers_are_refused() -> None:
    with pytest.raises(oracle.OracleError, match="returns ndarray"):
        oracle.complex_step_gradient(_returns_array, (0.7,))


def test_integer_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="argument 1 is int"):
        oracle.complex_step_gradient(math.pow, (0.7, 2), (0, 1))


def test_sensitivity_is_the_condition_of_the_gradient() -> None:
    assert oracle.sensitivity(math.sin, (0.7,)) < 2.0
    assert oracle.sensitivity(lambda x: math.sin(1e4 * x), (0.7,)) > 1e3


@pytest.mark.parametrize(
    ("got", "want"),
    [
        ((1.0 + 1e-8,), (1.0,)),
        ((np.array([1.0, 2.0]),), (np.array([1.0, -2.0]),)),
        ((np.array([1.0, np.nan]),), (np.array([1.0, 2.0]),)),
        ((np.zeros(2),), (np.zeros(3),)),
        ((1e-30,), (0.0,)),
        ((1.0,), (1.0, 2.0)),
        ((np.float32(1.001),), (1.0,)),
    ],
)
def test_comparison_notices(got: Any, want: Any) -> None:
    assert oracle.gradient_mismatch(got, want)
    with pytest.raises(AssertionError, match="here: "):
        oracle.assert_gradients_close(got, want, label="here")


def test_comparison_allows_for_cancellation_and_precision() -> None:
    oracle.assert_gradients_close((np.array([1.0, 1e-12]),), (np.array([1.0, 0.0]),))
    oracle.assert_gradients_close((np.float32(1.00001),), (1.0,))
    oracle.assert_gradients_close((1.0 + 1e-8,), (1.0,), magnification=1e6)


# --- the corpus -----------------------------------------------------------------------------------


def _run(program: Program, args: tuple[Any, ...]) -> tuple[Any, str]:
    out = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(out):
        warnings.simplefilter("error")
        return program.fn(*args), out.getvalue()


def test_corpus_is_large_and_names_are_unique() -> None:
    assert len(PROGRAMS) >= 130
    repeated = [n for n, k in collections.Counter(p.name for p in PROGRAMS).items() if k > 1]
    assert not repeated
    assert by_name("horner").name == "horner"
    assert len(differentiable()) + len(tagged("primal-only")) == len(PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_program_runs_as_its_tags_say(program: Program) -> None:
    args = program.make_args()
    result, printed = _run(program, args)
    again, _ = _run(program, program.make_args())
    assert repr(result) == repr(again)
    assert bool(printed) == ("print" in program.tags)
    if "primal-only" not in program.tags:
        assert isinstance(result, float | np.floating)
        assert math.isfinite(result)
    # Compared with a second copy: samples are never handed out themselves.
    untouched = repr(args) == repr(program.make_args())
    assert untouched == ("mutates" not in program.tags)
    assert f"def {program.name}(" in inspect.getsource(program.fn)


@pytest.mark.parametrize("program", differentiable(), ids=str)
def test_oracles_agree_on_program(program: Program) -> None:
    args = program.make_args()
    before = copy.deepcopy(args)
    want = oracle.oracle_gradient(program)
    differences, _ = oracle.finite_differences(program.fn, args, program.argnums)
    assert repr(args) == repr(before)
    oracle.assert_gradients_close(differences, want, rtol=1e-8, atol=1e-9)
    assert (oracle.largest(want) == 0.0) == ("constant" in program.tags)
    assert len(want) == len(program.argnums)


# --- the generator --------------------------------------------------------------------------------


@pytest.mark.full
def test_generated_programs_run_and_have_source() -> None:
    for seed in range(150):
        generated = fuzz_scalars.generate(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert math.isfinite(generated.fn(*generated.make_args()))
        assert inspect.getsource(generated.fn).startswith("def program(")
        forget(generated)


def test_generation_is_deterministic() -> None:
    a, b = fuzz_scalars.generate(7), fuzz_scalars.generate(7)
    assert a.source == b.source
    assert repr(a.args) == repr(b.args)
    assert a.source != fuzz_scalars.generate(8).source


@pytest.mark.full
def test_most_generated_gradients_are_known_and_not_zero() -> None:
    known = nonzero = 0
    for seed in range(60):
        try:
            checkable = fuzz_scalars.known_gradient(fuzz_scalars.generate(seed))
        except Unreliable:
            continue
        known += 1
        nonzero += oracle.largest(checkable.gradient) > 0.0
    assert known > 48
    assert nonzero > 48


@pytest.mark.parametrize("text", ["math.sin(1e8 * x)", "x * 1e5", "x if x > 0.7 else -x"])
def test_programs_without_a_reliable_gradient_are_refused(text: str) -> None:
    source = f"import math\n\ndef program(x):\n    return {text}\n"
    with pytest.raises(Unreliable):
        fuzz_scalars.known_gradient(Generated(source, load(source), (0.7,), (0,), 0))


def test_checkable_programs_repeat() -> None:
    a, b = fuzz_scalars.generate_checkable(3), fuzz_scalars.generate_checkable(3)
    assert a.generated.source == b.generated.source
    assert a.value == b.value
    oracle.assert_gradients_close(a.gradient, b.gradient)


@pytest.mark.full
def test_shrinking_keeps_the_failure_and_little_else() -> None:
    generated = next(g for g in map(fuzz_scalars.generate, range(50)) if "math.atan2" in g.source)

    def fails(g: Generated) -> bool:
        return "math.atan2" in g.source

    small = shrink(generated, fails, seconds=5.0)
    assert fails(small)
    assert math.isfinite(small.fn(*small.make_args()))
    assert len(small.source) < 0.5 * len(generated.source)


@pytest.mark.full
def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--n", "5", "--seed", "11", "--compiled", "0.5"]) == 0
    assert "5 programs" in capsys.readouterr().out
    assert command.main(["--show", "11"]) == 0
    assert "def program(" in capsys.readouterr().out
