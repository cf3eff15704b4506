"""`target="python"`: the emitted source in CPython, with the bits of the CPU, and under `pdb`."""

from __future__ import annotations

import bdb
import builtins
import contextlib
import io
import linecache
import pdb
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc import explain
from adc.api.derivative import Derivative
from adc.backend.common import prelude, vector_math
from adc.backend.common.writer import RUNTIME
from adc.backend.cpu import compile
from adc.backend.python import interpret, scalars
from adc.backend.python.load import NAMES
from adc.backend.runtime import gemm
from adc.compiler.driver import transform
from adc.ir.interp import run
from adc.ir.opdef import OPS
from adc.passes.stages import Step
from tests.corpus.language.derivatives.nested_programs import NESTED_PROGRAMS
from tests.corpus.program import Program
from tests.corpus.programs import PROGRAMS
from tests.oracle import chain as chains
from tests.system.test_array_programs import ALL
from tests.unit.backend.cpu.alarms import interrupted

EVERY = [*PROGRAMS, *ALL, *NESTED_PROGRAMS]
# What the interpreter of the IR asks of NumPy, which rounds otherwise than `vector_math`, or has
# another idea of minima of zeros.
OWN = {*vector_math.FUNCTIONS, "logaddexp", "logaddexp2", "minimum", "maximum", "fmin", "fmax"}
PLANS = ("random:1", "store", "recompute", "revolve:2:1:all")


def bits(results: Sequence[Any]) -> list[tuple[str, bytes]]:
    """Return dtypes and bits; there is one NaN, whatever it says."""
    found = [np.array(result) for result in results]
    for each in found:
        if each.dtype.kind == "f":
            each[np.isnan(each)] = np.nan
    return [(each.dtype.str, each.tobytes()) for each in found]


# --- the corpus -----------------------------------------------------------------------------------


def _elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    def evaluate(*args: Any) -> Any:
        if not any(isinstance(arg, np.ndarray) for arg in args):
            return function(*args)
        args = tuple(np.broadcast_arrays(*args))
        found = np.empty(args[0].shape, args[0].dtype)
        for index in np.ndindex(found.shape):
            found[index] = function(*[arg[index] for arg in args])
        return found

    return evaluate


@pytest.fixture
def one_arithmetic(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the interpreter of the IR call the functions of `vector_math`, and Python no BLAS."""
    undo: list[tuple[Any, Any]] = []
    for op in OPS.values():
        name = op.code.partition("(")[0]
        if name in OWN and op.code.startswith(f"{name}({{0}}"):
            undo.append((op, op.evaluate))
            object.__setattr__(op, "evaluate", _elementwise(scalars.NAMES[name]))
    monkeypatch.setattr(gemm, "SMALL", 2**62)
    yield
    for op, evaluate in undo:
        object.__setattr__(op, "evaluate", evaluate)


def _ways(program: Program, positions: tuple[int, ...]) -> Iterator[tuple[tuple[Step, ...], str]]:
    """Yield transformations and a plan: value, gradient; of some, other plans and directions."""
    yield (), "auto"
    if positions:
        yield (("adjoint", positions),), "auto"
    if positions and program.number(3) == 0:
        yield (("gradient", positions),), PLANS[program.number(len(PLANS))]
        yield (("tangent", positions),), "auto"
    if positions and program.number(9) == 0:
        yield (("gradient", positions), ("tangent", positions)), "auto"


@pytest.mark.sampled(600)
@pytest.mark.parametrize("program", EVERY, ids=str)
def test_corpus(program: Program, one_arithmetic: None) -> None:
    chain = chains.Chain.of(program.fn, program.make_args(), program.argnums)
    rng = np.random.default_rng(0)
    for steps, policy in _ways(program, chain.positions):
        made = transform(chain.lowered, steps, policy)
        given = [*chain.inputs]
        if steps and steps[-1][0] == "tangent":
            moved = [np.asarray(chain.inputs[k]) for k in chain.positions]
            given += [rng.standard_normal(each.shape).astype(each.dtype)[()] for each in moved]
        inputs = chains.fresh(given)
        found = interpret(made.fn)(*inputs)
        assert bits(inputs) == bits(given), "an argument was written"
        assert bits(found) == bits(run(made.fn, chains.fresh(given))), (steps, policy)


COMPILED = [p for p in EVERY if p.number(60) == 7]


@pytest.mark.sampled(400)
@pytest.mark.parametrize("program", COMPILED, ids=str)
def test_compiled(program: Program) -> None:
    """As compiled code; all compiled programs of the corpus are, too: see `check_compiled`."""
    chain = chains.Chain.of(program.fn, program.make_args(), program.argnums)
    made = transform(chain.lowered, ())
    found = interpret(made.fn)(*chains.fresh(chain.inputs))
    assert bits(found) == bits(compile(made.fn)(*chains.fresh(chain.inputs)))


def test_all_that_code_may_call_is_there() -> None:
    assert set(NAMES) >= {*prelude.NAMES, *RUNTIME, *gemm.NAMES, *vector_math.FUNCTIONS}


# --- what users call ------------------------------------------------------------------------------


def energy(x: Any, stiffness: Any) -> Any:
    y = x.copy()
    total = 0.0
    for i in range(1, len(y)):
        y[i] = np.tanh(y[i] + y[i - 1])
        if y[i] > 0.5:
            total += stiffness * y[i] ** 2
    return total


def steps(u: Any, n: Any) -> Any:
    for _ in range(n):
        u = np.sin(u) + 0.1 * u * u
    return np.sum(u)


def curve(x: Any) -> Any:
    return np.sin(x) * np.sum(x)


def cubes(x: Any) -> Any:
    return np.sum(x[1:] * np.tanh(x[:-1]) ** 3)


def rows(a: Any, w: Any) -> Any:
    out = np.zeros(len(a))
    for i in range(len(a)):
        for j in range(len(w)):
            out[i] += np.tanh(a[i, j] * w[j])
    return np.sum(out * out)


X = np.linspace(0.0, 1.0, 40)


def kernel(derivative: Derivative) -> Any:
    last = derivative._code.last
    assert last is not None
    return last.entry.kernel


@pytest.mark.full
@pytest.mark.parametrize(
    "options",
    [{}, {"memory": "6 kB"}, {"remat": "store"}, {"parallel": 2}, {"offload": "disk"},
     {"offload": "disk", "memory": "6 kB"}, {"deterministic": True}],
    ids=str,
)  # fmt: skip
def test_options(options: dict[str, Any]) -> None:
    """The same numbers, and the same memory."""
    found, want = (
        adc.value_and_grad(steps, target=target, **options) for target in ("python", "cpu")
    )
    assert bits(found(X, 50)) == bits(want(X, 50))
    assert kernel(found).peak == kernel(want).peak > 0
    assert kernel(found).disk == kernel(want).disk
    assert str(found.plan(X, 50)) == str(want.plan(X, 50))


@pytest.mark.full
def test_derivatives_of_all_kinds() -> None:
    def of(target: str) -> Iterator[Any]:
        yield adc.jit(curve, target=target)(X)
        yield from adc.jvp(curve, (X,), (X,), target=target)
        value, pull = adc.vjp(curve, X, target=target)
        yield from (value, *pull(X))
        yield adc.hvp(cubes, (X,), (X,), target=target)
        yield adc.jacfwd(curve, target=target)(X)
        yield adc.jacrev(curve, target=target)(X)
        yield adc.hessian(cubes, target=target)(X)
        yield adc.grad(adc.grad(lambda x: np.sin(x) ** 3), target=target)(0.3)

    assert bits(list(of("python"))) == bits(list(of("cpu")))


def test_the_source_is_that_of_the_cpu() -> None:
    found, want = (adc.grad(energy, target=target) for target in ("python", "cpu"))
    assert bits([found(X, 2.0)]) == bits([want(X, 2.0)])
    marked = found.source()
    assert marked != want.source()
    assert re.sub(rf"  # {Path(__file__).name}:\d+", "", marked) == want.source()
    line = energy.__code__.co_firstlineno + 4
    pattern = rf"t_5_ct = .*  # {Path(__file__).name}:{line}"
    assert re.search(pattern, marked)


def too_large(x: Any, most: Any) -> Any:
    y = x * 2.0
    if y[0] > most:
        raise ValueError(f"{y[0]} is too large")
    return y[7] + np.sum(y)


@pytest.mark.parametrize("most", [1.0, 5.0])
def test_errors_of_the_program(most: float) -> None:
    def raised(target: str) -> tuple[type, str, list[tuple[int | None, str]]]:
        with pytest.raises((ValueError, IndexError)) as caught:
            adc.grad(too_large, target=target)(np.ones(3), most)
        frames = traceback.extract_tb(caught.value.__traceback__)
        own = [(each.lineno, each.line or "") for each in frames if each.name == "too_large"]
        return caught.type, str(caught.value), own

    found = raised("python")
    assert found == raised("cpu")
    assert found[2][0][1]


def test_prints(capsys: pytest.CaptureFixture[str]) -> None:
    def says(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            print("at", i, x[i], x[i] > 0.5)
            total += x[i] ** 2
        return total

    adc.grad(says, target="cpu")(X[:3])
    want = capsys.readouterr().out
    adc.grad(says, target="python")(X[:3])
    assert capsys.readouterr().out == want != ""


def test_integers_wrap_around_and_nothing_is_divided_by_zero() -> None:
    def mixed(x: Any, n: Any) -> Any:
        h = np.int64(1)
        for i in range(n):
            h = h * np.int64(6364136223846793005) + i
        zero = 0.0
        for _ in range(n):
            zero *= 2.0
        return x * (h % 1000) + 1.0 / (x + 1.0), h, np.float64(1.0) / np.float64(zero)

    found, want = (adc.jit(mixed, target=target)(0.5, 9) for target in ("python", "cpu"))
    assert bits(found) == bits(want)
    assert found[2] == np.inf


SIZES = [(37, 23, 41), (37, 23, 1), (70, 1, 1), (1, 1, 70), (1, 70, 1), (2, 3, 20)]


@pytest.mark.full
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_matrices(dtype: Any) -> None:
    """Those of BLAS and those of loops, into new arrays and added to others, and transposed."""

    def product(a: Any, b: Any) -> Any:
        return np.sum(np.tanh(a @ b) @ b.T)

    found, want = (
        adc.value_and_grad(product, (0, 1), target=target) for target in ("python", "cpu")
    )
    rng = np.random.default_rng(0)
    for m, k, n in SIZES:
        a, b = rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
        value, gradients = found(a, b)
        own, others = want(a, b)
        assert bits([value, *gradients]) == bits([own, *others]), (m, k, n)


@pytest.mark.full
def test_loops_that_threads_share() -> None:
    found, want = (
        adc.value_and_grad(rows, (0, 1), parallel=2, target=target) for target in ("python", "cpu")
    )
    a = np.random.default_rng(0).normal(size=(60, 40))
    value, gradients = found(a, X)
    own, others = want(a, X)
    assert "parallel_for(" in found.source()
    assert bits([value, *gradients]) == bits([own, *others])


@pytest.mark.full
def test_random_numbers_advance_the_generator() -> None:
    def noise(x: Any, rng: Any) -> Any:
        return np.sum(x * rng.normal(size=len(x))) * rng.random()

    first, second = np.random.default_rng(3), np.random.default_rng(3)
    found = adc.grad(noise, target="python")(X, first)
    assert bits([found]) == bits([adc.grad(noise)(X, second)])
    assert first.random() == second.random()


def test_no_room_on_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ADC_OFFLOAD_DIR", str(tmp_path / "none"))
    with pytest.raises(adc.AdcError, match=r"ADC004.*no file for a tape") as caught:
        adc.grad(steps, offload="disk", target="python")(X, 50)
    assert "ADC_OFFLOAD_DIR" in str(caught.value)


def test_a_size_that_no_memory_has() -> None:
    def huge(x: Any, n: Any) -> Any:
        y = np.zeros((n, n, n))
        y[0, 0, 0] = x
        return np.sum(y)

    for target in ("python", "cpu"):
        with pytest.raises(MemoryError, match="more memory than there is"):
            adc.jit(huge, target=target)(1.0, 2**20)


def test_nothing_is_kept_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ADC_CACHE_DIR", str(tmp_path / "cache"))
    gradient = adc.grad(energy, target="python")
    gradient(X, 2.0)
    assert not (tmp_path / "cache").exists()
    adc.release_memory()
    assert kernel(gradient).nbytes == 0


def test_several_threads_at_once() -> None:
    gradient = adc.grad(steps, target="python")
    want = [gradient(X + k, 20) for k in range(4)]
    found: list[Any] = [None] * 4

    def call(k: int) -> None:
        found[k] = gradient(X + k, 20)

    threads = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bits(found) == bits(want)


@pytest.mark.skipif(sys.platform == "win32", reason="no timers")
def test_a_signal_ends_a_call() -> None:
    def spin(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = x * 1.0000001
        return x

    gradient = adc.grad(spin, target="python")
    assert gradient(1.0, 3) > 1.0
    assert isinstance(interrupted(0.1, gradient, 1.0, 10**9), KeyboardInterrupt)
    assert gradient(1.0, 3) > 1.0


def test_targets_are_named() -> None:
    with pytest.raises(adc.AdcError, match='use "cpu", "cuda" or "python"'):
        adc.grad(energy, target="tpu")
    with pytest.raises(adc.AdcError, match="host"):
        adc.grad(energy, target="python", offload="host")


# --- pdb ------------------------------------------------------------------------------------------


def session(expression: str, scope: dict[str, Any], *commands: str) -> str:
    """Return what `pdb` shows while it evaluates an expression under these commands."""
    bdb.Breakpoint.clearBreakpoints()
    shown = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("\n".join([*commands, ""])), stdout=shown, nosigint=True)
    debugger.use_rawinput = False
    with contextlib.redirect_stdout(shown):
        debugger.run(expression, dict(scope))
    return shown.getvalue()


def test_pdb_stops_in_a_gradient_at_a_line_of_the_user() -> None:
    gradient = adc.grad(energy, target="python")
    want = gradient(X, 2.0)
    lines = gradient.source().splitlines()
    place = next(k for k, line in enumerate(lines, 1) if "t_5_ct =" in line)
    shown = session(
        "result = gradient(X, 2.0)", scope := {"gradient": gradient, "X": X},
        "break gradient", "continue", f"break {place}", "continue", "list", "p t_6_r_2", "next",
        "p t_5_ct", "clear 1", "clear 2", "continue",
    )  # fmt: skip
    assert scope.keys() == {"gradient", "X"}
    line = energy.__code__.co_firstlineno + 4
    source = "y[i] = np.tanh(y[i] + y[i - 1])"
    stopped = shown.index(f"({place})energy_adjoint()\n-> t_5_ct = ")
    assert f"  # {Path(__file__).name}:{line}\n" in shown[stopped:].split("(Pdb)")[0]
    listed = shown[stopped:].split("(Pdb)")[1]
    assert f"# {line}: {source}" in listed
    assert "->" in listed
    assert re.match(r" np\.float64\(0\.\d+\)\n", shown[stopped:].split("(Pdb)")[2])
    contribution = re.findall(r"np\.float64\((.+)\)", shown)[-1]
    assert float(contribution) == want[-1]


def test_the_session_of_the_guide(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `adc explain internals` shows; `pytest --update-golden` rewrites it."""
    others = {name: entry for name, entry in linecache.cache.items() if "<adc" not in name}
    monkeypatch.setattr(linecache, "cache", others)
    text = explain.page("internals")
    (program,) = re.findall(r"```python\n(# debugged\.py\n.*?)```", text, re.DOTALL)
    (shown,) = re.findall(r"```text\n(\(Pdb\) .*?)```", text, re.DOTALL)
    path, scope = tmp_path / "debugged.py", {"__name__": "debugged"}
    path.write_text(program)
    exec(builtins.compile(program, str(path), "exec"), scope)
    commands = re.findall(r"^\(Pdb\) (.*)$", shown, re.MULTILINE)
    _, *answers = session("gradient(x, 2.0)", scope, *commands, "clear 1", "continue").split(
        "(Pdb) "
    )
    pairs = zip(commands, answers, strict=False)
    made = "".join(f"(Pdb) {command}\n{answer}" for command, answer in pairs)
    made = made.replace("\t", "    ")
    if request.config.getoption("--update-golden"):
        guide = Path(explain.__file__).parent / "internals.md"
        guide.write_text(text.replace(shown, made), encoding="utf-8")
    else:
        assert made == shown


def test_break_before_the_first_call_and_on_other_targets() -> None:
    for target in ("python", "cpu"):
        gradient = adc.grad(energy, target=target)
        assert not hasattr(gradient, "__code__")
        gradient(X, 2.0)
        assert hasattr(gradient, "__code__") == (target == "python")


def test_post_mortem_has_the_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A traceback shows the lines of the source, which is in no file."""
    gradient = adc.grad(energy, target="python")
    gradient(X, 2.0)
    monkeypatch.setitem(kernel(gradient).code.__globals__, "tanh", None)
    with pytest.raises(TypeError) as caught:
        gradient(X, 2.0)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.filename.startswith("<adc energy_adjoint")
    assert "tanh(" in (last.line or "")


def test_two_sources_of_one_name() -> None:
    first = adc.grad(energy, target="python")
    second = adc.grad(energy, remat="recompute", target="python")
    for each in (first, second):
        each(X, 2.0)
        assert "".join(linecache.getlines(each.__code__.co_filename)) == each.source()
    assert first.__code__.co_filename != second.__code__.co_filename
