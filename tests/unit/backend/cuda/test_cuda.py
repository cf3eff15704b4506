"""`target="cuda"`: the corpus in Numba's simulator, errors, and what launches are made of."""

from __future__ import annotations

import ast
import builtins
import functools
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.backend.cuda import api
from adc.backend.cuda.device import BLOCK, Device, Number
from adc.backend.cuda.emit import emit
from adc.compiler.driver import transform
from adc.ir.analysis.target import Target
from adc.ir.errors import AdcError, ArgumentError, DeviceError
from adc.ir.interp import ProgramError
from adc.passes.target import kernels
from adc.passes.target.kernels import _Kernels
from tests.corpus.arrays.array_programs import ARRAY_PROGRAMS
from tests.corpus.arrays.complex_programs import COMPLEX_PROGRAMS
from tests.corpus.arrays.linear_programs import LINEAR_PROGRAMS
from tests.corpus.language.derivatives.nested_programs import NESTED_PROGRAMS
from tests.corpus.loops.stencil_programs import STENCIL_PROGRAMS
from tests.corpus.loops.thread_programs import THREAD_PROGRAMS
from tests.corpus.program import Program
from tests.corpus.programs import differentiable
from tests.oracle.chain import Chain, fresh, run


def corpus() -> list[Program]:
    found = [
        *differentiable(),
        *ARRAY_PROGRAMS,
        *COMPLEX_PROGRAMS,
        *STENCIL_PROGRAMS,
        *THREAD_PROGRAMS,
        *NESTED_PROGRAMS,
        *LINEAR_PROGRAMS,
    ]
    return list({p.fn.__name__: p for p in found if p.argnums}.values())


# Loops that carry arrays, overwrite elements, and read those of others.
SOME = [p for p in corpus() if p.fn.__name__.startswith(("steps_", "overwrite", "scatter"))]


def copied(args: tuple[Any, ...]) -> list[Any]:
    return [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]


def outcome(call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return what a call does: its results, or the type and text of its error."""
    try:
        return call(*copied(args))
    except AdcError:
        raise
    except Exception as error:
        return type(error), str(error)


@pytest.mark.sampled(400)
@pytest.mark.parametrize("program", corpus(), ids=lambda p: p.fn.__name__)
def test_gradients(program: Program) -> None:
    args = program.make_args()
    got = outcome(adc.value_and_grad(program.fn, program.argnums, target="cuda"), args)
    chain = Chain.of(program.fn, args, program.argnums)
    try:
        want = run(transform(chain.lowered, (("adjoint", chain.positions),)).fn, chain.inputs)
    except ProgramError:
        assert got == outcome(program.fn, args)
        return
    single = any(np.asarray(leaf).dtype == np.float32 for leaf in want)
    rtol, atol = (1e-5, 1e-6) if single else (1e-12, 1e-13)
    for one, other in zip(want, leaves(got), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(other, one, rtol=rtol, atol=atol)


def leaves(tree: Any) -> list[Any]:
    import optree

    return optree.tree_leaves(tree)


def rotated(z: Any) -> Any:
    return np.sum(np.abs(z * np.exp(1j * np.abs(z))) ** 2) + z[0].real


def test_complex_arguments() -> None:
    z = np.exp(1j * np.arange(5.0)) * 0.5
    got = adc.grad(rotated, target="cuda")(z)
    np.testing.assert_allclose(got, adc.grad(rotated)(z), rtol=1e-12)


def noisy(x: Any, generator: Any) -> Any:
    return np.sum(x * generator.normal(size=x.shape[0]))


def noise(x: Any, generator: Any) -> Any:
    return x * generator.random()


@pytest.mark.parametrize(("fn", "x"), [(noisy, np.ones(3)), (noise, 2.0)])
def test_draws_are_refused(fn: Callable[..., Any], x: Any) -> None:
    generator = np.random.default_rng(1)
    with pytest.raises(DeviceError, match="random draws cannot run"):
        adc.grad(fn, target="cuda")(x, generator)
    assert generator.bit_generator.state == np.random.default_rng(1).bit_generator.state


# --- tests of the tests ---------------------------------------------------------------------------


def wrong(programs: list[Program]) -> bool:
    """Whether launches that run out of order show in a gradient of one of some programs."""
    for program in programs:
        chain = Chain.of(program.fn, program.make_args(), program.argnums)
        steps = (("adjoint", chain.positions),)
        try:
            want = run(transform(chain.lowered, steps).fn, fresh(chain.inputs))
            launches = transform(chain.on_device, steps, target=Target("cuda")).fn
            got = run(launches, fresh(chain.inputs))
        except AdcError:
            return True
        except Exception:
            continue  # of the program
        if not all(map(functools.partial(np.allclose, rtol=1e-9), got, want)):
            return True
    return False


@pytest.mark.full
def test_launches_are_right_without_a_defect() -> None:
    assert not wrong(SOME)


@pytest.mark.parametrize("defect", ["own", "only added to"])
def test_a_defect_shows(defect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    match defect:
        case "own":
            monkeypatch.setattr(_Kernels, "own", lambda self, nest, able, arrays: tuple(able))
        case _:
            monkeypatch.setattr(kernels, "_is_only_added_to", lambda found: True)
    assert wrong(SOME)


# --- errors ---------------------------------------------------------------------------------------


def past_the_end(x: Any, k: Any) -> Any:
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = x[i + k]
    return np.sum(y)


def zero_division(x: Any, n: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * (1.0 / (i - n))
    return total


def bounded(x: Any, most: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] >= most:
            raise ValueError("too large")
        total += x[i] * x[i]
    return total


@pytest.mark.parametrize(
    ("fn", "args", "line"),
    [
        (past_the_end, (np.arange(4.0), 2), "y[i] = x[i + k]"),
        (zero_division, (np.arange(4.0), 2), "total += x[i] * (1.0 / (i - n))"),
        (bounded, (np.arange(4.0), 1.5), 'raise ValueError("too large")'),
    ],
)
def test_an_error_of_the_program_has_its_line(
    fn: Callable[..., Any], args: tuple[Any, ...], line: str
) -> None:
    kind, message = outcome(fn, args)
    with pytest.raises(kind) as caught:
        adc.grad(fn, target="cuda", progress=False)(*args)
    assert str(caught.value) == message
    assert str(caught.traceback[-1].statement).strip().endswith(line)


def test_options_that_do_not_go_together() -> None:
    with pytest.raises(ArgumentError, match="parallel is not supported with target"):
        adc.grad(past_the_end, target="cuda", parallel=True)
    with pytest.raises(ArgumentError, match="is not a target"):
        adc.grad(past_the_end, target="gpu")


@pytest.mark.full
@pytest.mark.parametrize(("what", "message"), [
    ("package", 'target="cuda" needs numba-cuda'), ("gpu", "there is no GPU"),
])  # fmt: skip
def test_without_a_gpu_or_numba_cuda(what: str, message: str, tmp_path: Any) -> None:
    file = tmp_path / "program.py"
    file.write_text("""
import sys
if sys.argv[1] == "package":
    sys.modules["numba_cuda"] = None
import adc
adc.grad(lambda x: x * x, target="cuda", cache=False)(2.0)
""")
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    if what == "gpu" and has_gpu(environment):
        return
    done = subprocess.run(
        [sys.executable, str(file), what], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert f"DeviceError: [ADC028] {message}" in done.stderr


def has_gpu(environment: dict[str, str]) -> bool:
    code = "from numba import cuda; print(cuda.is_available())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    return done.stdout.strip() == "True"


def prints(x: Any) -> Any:
    for i in range(2):
        print("now", i, x[i])
        x[i] *= 2.0
    return np.sum(x)


def test_prints(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.array([1.5, 2.5])
    adc.grad(prints)(x)
    want = capsys.readouterr().out
    adc.grad(prints, target="cuda")(x)
    assert capsys.readouterr().out == want
    np.testing.assert_array_equal(x, [1.5, 2.5])


def test_jit_and_repeated_calls() -> None:
    def step(x: Any, y: Any) -> Any:
        return x * y + np.sum(x), y.shape[0]

    on_device = adc.jit(step, target="cuda")
    for n in (1, 5, 3, 0):
        x, y = np.arange(n + 0.0), np.arange(n + 1.0)[1:]
        for one, other in zip(step(x, y), on_device(x, y), strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-14)


def rows_and_columns(x: Any) -> Any:
    return np.sum(np.sin(x) * x[0])


@pytest.mark.parametrize("how", [lambda x: x.T, lambda x: x[::2], lambda x: x.T[1:, ::-1]])
def test_arguments_that_lie_otherwise(how: Callable[[Any], Any]) -> None:
    x = how(np.arange(12.0).reshape(3, 4))
    want = adc.grad(rows_and_columns)(x)
    np.testing.assert_allclose(adc.grad(rows_and_columns, target="cuda")(x), want, rtol=1e-14)


def rare(x: Any, n: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0] - 1):
        total += np.logaddexp(x[i], x[i + 1]) * np.logaddexp2(x[i], 0.5) * np.gcd(n, 2 * i)
        total += (x[i] % 0.7) * (x[i] // 0.3) * np.lcm(i + 1, 4)
        total += np.sign(x[i]) * x[i] * (n >> i) + np.heaviside(x[i], 0.5) * x[i] ** 2
    return total


def test_rare_functions() -> None:
    x, n = np.array([0.4, -1.3, 0.4, 0.4, 2.6, -0.2, 900.0, 1.0]), 12
    want = adc.value_and_grad(rare)(x, n)
    for one, other in zip(want, adc.value_and_grad(rare, target="cuda")(x, n), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12)


# --- the device -----------------------------------------------------------------------------------


def device() -> Device:
    return Device(lambda number, told: None)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("count", [0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 3, 90])
@pytest.mark.parametrize("name", ["sum", "mul", "minimum", "maximum"])
def test_combine(name: str, count: int) -> None:
    own = device()
    x = np.random.default_rng(count).normal(size=count)
    array = own.empty(np.float64, (count,))
    if count:
        array.copy_to_device(x)
    numpy = {"sum": np.add, "mul": np.multiply, "minimum": np.minimum, "maximum": np.maximum}[name]
    found = own.combine(name, array, 0.25)
    assert isinstance(found, Number)
    assert own.get(found) == pytest.approx(numpy.reduce(x, initial=0.25), rel=1e-13)


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 5), (2, 3, 4), (2, 0, 3)])
def test_arrays(shape: tuple[int, ...]) -> None:
    own = device()
    made = own.full(np.float64, shape, 1.5)
    np.testing.assert_array_equal(made.copy_to_host(), np.full(shape, 1.5))
    if made.size:
        x = np.random.default_rng(0).normal(size=shape)
        np.testing.assert_array_equal(own.copy(api.cuda.to_device(x)).copy_to_host(), x)
        turned = api.cuda.to_device(np.asfortranarray(x))
        np.testing.assert_array_equal(own.copy(turned).copy_to_host(), x)


@pytest.mark.full
def test_numbers() -> None:
    own = device()
    numbers = [own.number(np.float64, float(k)) for k in range(1500)]  # more than a chunk
    assert [own.get(numbers[k]) for k in (0, 7, 1023, 1024, 1499)] == [
        0.0,
        7.0,
        1023.0,
        1024.0,
        1499.0,
    ]
    again = own.number(np.float64, numbers[7])
    assert own.get(again) == 7.0


def test_what_is_pushed_stays_as_it_was() -> None:
    own = device()
    array = own.full(np.float64, (3,), 1.0)
    own.push(array, own.number(np.float64, 2.0), 5)
    own.launch(_overwrite, (3,), array)
    kept, number, plain = own.pop()
    np.testing.assert_array_equal(kept.copy_to_host(), np.ones(3))
    assert (own.get(number), plain) == (2.0, 5)


cuda = api.cuda


@api.kernel
def _overwrite(failed: Any, n: Any, out: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        out[i] = 7.0


# --- PTX ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "part", [0] + [pytest.param(k, marks=pytest.mark.full) for k in range(1, 8)]
)
def test_kernels_compile_to_ptx(part: int) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    # By default a sample; with `--full` all, in eight parts.
    which = [str(part - 1), "8", "1"] if part else ["0", "8", "200"]
    command = [sys.executable, "-m", "tests.oracle.cuda_ptx", *which]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip().endswith("kernels compile")


def gathered(x: Any, places: Any) -> Any:
    return np.sum(np.sin(x[places]) ** 2)


def shared(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        y = x[i]
        while y < 2.0:
            y = y * w[0] + w[1]
        total += y * w[1]
    return total


@pytest.mark.full
@pytest.mark.parametrize("deterministic", [False, True])
def test_additions_that_threads_share(deterministic: bool) -> None:
    x, places = np.linspace(0.1, 1.0, 5), np.array([0, 1, 1, 4, 4, 4, 2])
    wanted = adc.value_and_grad(gathered)(x, places)
    fn = adc.value_and_grad(gathered, target="cuda", deterministic=deterministic)
    for one, other in zip(wanted, fn(x, places), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12)
    assert ("cuda.atomic.add" in fn.source(x, places)) is not deterministic
    plan = fn.plan(x, places)
    assert plan is not None
    assert [each.decision for each in plan.atomics] == ["atomic"] * (not deterministic)
    assert ("atomic" in str(plan)) is not deterministic
    assert type(plan).from_json(plan.to_json()) == plan


@pytest.mark.full
def test_elements_that_all_threads_add_to_are_added_up_in_one_order() -> None:
    x, w = np.linspace(0.1, 1.0, 5), np.array([1.2, 0.3])
    wanted = adc.grad(shared, (0, 1))(x, w)
    fn = adc.grad(shared, (0, 1), target="cuda", deterministic=True)
    for one, other in zip(wanted, fn(x, w), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12)
    source = fn.source(x, w)
    assert "device.rows" in source
    assert "atomic" not in source
    assert "for k" not in source[source.rindex("def shared") :]  # no loop is left on the host


def test_code_on_the_cpu_is_deterministic_anyway() -> None:
    x, places = np.linspace(0.1, 1.0, 5), np.array([0, 1, 1, 4])
    fn = adc.grad(gathered, deterministic=True)
    assert fn(x, places).tobytes() == adc.grad(gathered)(x, places).tobytes()


def column_sums(x: Any, w: Any) -> Any:
    y = np.zeros(x.shape[1])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[j] += x[i, j] * w[i]
    return np.sum(y**3)


def pulled(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(w.shape[0]):
        for j in range(w.shape[0]):
            d = x[i, 0] - x[j, 0]
            total += w[i] * w[j] * np.exp(-d * d)
    return total


@pytest.mark.full
@pytest.mark.parametrize("many", [1, 1 << 40])
@pytest.mark.parametrize("fn", [column_sums, pulled])
def test_threads_that_share_nothing_and_more_that_do(
    fn: Callable[..., Any], many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, w = np.sin(np.arange(12.0)).reshape(4, 3), np.linspace(0.5, 2.0, 4)
    monkeypatch.setattr(kernels, "MANY", many)
    on_device = adc.value_and_grad(fn, (0, 1), target="cuda")
    wanted, found = adc.value_and_grad(fn, (0, 1))(x, w), on_device(x, w)
    for one, other in zip(leaves(wanted), leaves(found), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-14)
    assert f">= {many}" in on_device.source(x, w)  # there is code for both


# --- what files import ----------------------------------------------------------------------------


def loop_of_sinc(x: Any) -> Any:
    y = x.copy()
    for i in range(len(x)):
        y[i] = np.sinc(x[i])
    return y


def test_algorithms_without_sums() -> None:
    """No kernel combines anything, and still there is a function of the device's."""
    x = np.linspace(0.1, 1.0, 5)
    np.testing.assert_allclose(adc.jit(loop_of_sinc, target="cuda")(x), np.sinc(x), atol=1e-15)


@pytest.mark.sampled(100)
@pytest.mark.parametrize("program", corpus(), ids=lambda p: p.fn.__name__)
def test_imports(program: Program) -> None:
    """A file imports what it uses: not what has its name in a comment, or is called on the host."""
    chain = Chain.of(program.fn, program.make_args(), program.argnums)
    steps = (("adjoint", chain.positions),)
    try:
        made = transform(chain.on_device, steps, target=Target("cuda"))
        tree = ast.parse(emit(made.fn).source)
    except DeviceError:
        return
    nodes = list(ast.walk(tree))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    imported = {alias.name for node in imports for alias in node.names}
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    stored |= {arg.arg for node in nodes if isinstance(node, ast.arguments) for arg in node.args}
    stored |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    used = {node.id for node in names} - stored - {"np"}
    assert used - {*dir(builtins)} <= imported  # `pow` may be either
    assert imported - used <= {"cuda", "kernel", "ops"}
