"""`adc.torch`: NumPy functions as functions of tensors, beside the same functions in PyTorch."""

from __future__ import annotations

import copy
import doctest
import os
import pickle
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import adc
import adc.torch
from adc.api import bridge
from adc.ir.errors import ArgumentError, UnsupportedError

# PyTorch's own forward mode uses it.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")


@pytest.fixture(autouse=True)
def seed() -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def leaf(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(shape, dtype=dtype, requires_grad=True)


def layer(x: Any, w: Any) -> Any:
    return np.tanh(w @ x) * np.sum(x)


def loss(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(w @ x) ** 2)


def loss_in_torch(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.sum(torch.tanh(w @ x) ** 2)


def decay(u: Any, rate: Any, steps: int) -> Any:
    u = u.copy()
    for _ in range(steps):
        for i in range(1, len(u)):
            u[i] -= rate * (u[i] - u[i - 1])
    return u


def decay_in_torch(u: torch.Tensor, rate: torch.Tensor, steps: int) -> torch.Tensor:
    parts = list(u)
    for _ in range(steps):
        for i in range(1, len(parts)):
            parts[i] = parts[i] - rate * (parts[i] - parts[i - 1])
    return torch.stack(parts)


# -- derivatives -----------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("fn", [layer, loss])
def test_gradcheck(fn: Callable[..., Any]) -> None:
    args = (leaf(3), leaf(4, 3))
    wrapped = adc.torch.wrap(fn)
    assert gradcheck(wrapped, args, check_forward_ad=True)
    assert gradgradcheck(wrapped, args, check_fwd_over_rev=True, check_rev_over_rev=True)


@pytest.mark.full
def test_in_place_loops_have_pytorchs_gradients() -> None:
    u, rate = leaf(5), leaf()
    wrapped = adc.torch.wrap(decay)
    found = wrapped(u, rate, steps=3)
    expected = decay_in_torch(u, rate, 3)
    torch.testing.assert_close(found, expected)
    weights = torch.randn(5, dtype=torch.float64)
    ours = torch.autograd.grad(found, (u, rate), weights, create_graph=True)
    theirs = torch.autograd.grad(expected, (u, rate), weights, create_graph=True)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(
        torch.autograd.grad(ours[0].sum(), rate), torch.autograd.grad(theirs[0].sum(), rate)
    )
    assert gradgradcheck(lambda u, rate: wrapped(u, rate, 2), (u, rate))


@pytest.mark.full
def test_complex_gradients_follow_pytorch() -> None:
    def real(z: Any, x: Any) -> Any:
        return np.sum(np.abs(z * x) ** 2 * x)

    def both(z: Any, x: Any) -> Any:
        return np.abs(z) ** 2 * x, z * z * x

    z, x = leaf(3, dtype=torch.complex128), leaf(3)
    for fn in (real, both):
        assert gradcheck(adc.torch.wrap(fn), (z, x), check_forward_ad=True)
        assert gradgradcheck(adc.torch.wrap(fn), (z, x))
    (found,) = torch.autograd.grad(adc.torch.wrap(real)(z, x), z)
    (expected,) = torch.autograd.grad(torch.sum(torch.abs(z * x) ** 2 * x), z)
    torch.testing.assert_close(found, expected)
    lazy = z.detach().conj()  # PyTorch computes it when it is read
    assert adc.torch.wrap(lambda z: z[0])(lazy) == lazy[0]
    assert adc.torch.wrap(lambda y: y[0])(lazy.imag) == lazy.imag[0]


TRANSFORMED: dict[str, Callable[[Any], Any]] = {
    "hessian": torch.func.hessian,
    "reverse over reverse": lambda f: torch.func.jacrev(torch.func.jacrev(f, 1)),
    "forward over forward": lambda f: torch.func.jacfwd(torch.func.jacfwd(f), 1),
    "reverse over forward": lambda f: torch.func.jacrev(torch.func.jacfwd(f)),
    "third derivatives": lambda f: torch.func.jacrev(torch.func.hessian(f)),
    "vmap of grad": lambda f: (
        lambda x, w: torch.func.vmap(torch.func.grad(f), (0, None))(torch.stack([x, 2.0 * x]), w)
    ),
    "vmap of hessian, another axis": lambda f: (
        lambda x, w: torch.func.vmap(torch.func.hessian(f), (1, 2))(
            torch.stack([x, 2.0 * x], 1), torch.stack([w, w * w], 2)
        )
    ),
    "vmap of vmap": lambda f: (
        lambda x, w: torch.func.vmap(torch.func.vmap(f, (0, None)), (None, 0))(
            torch.stack([x, 2.0 * x]), torch.stack([w, w * w, w + 1.0])
        )
    ),
    "grad of vmap": lambda f: torch.func.grad(
        lambda x, w: torch.func.vmap(f, (0, None))(torch.stack([x, x * x]), w).sum()
    ),
    "jvp of grad": lambda f: (
        lambda x, w: torch.func.jvp(torch.func.grad(f, (0, 1)), (x, w), (x * x, w + 1.0))
    ),
}


@pytest.mark.full
@pytest.mark.parametrize("name", TRANSFORMED)
def test_transformations_of_torch_func(name: str) -> None:
    x, w = leaf(3).detach(), leaf(4, 3).detach()
    found = TRANSFORMED[name](adc.torch.wrap(loss))(x, w)
    expected = TRANSFORMED[name](loss_in_torch)(x, w)
    torch.testing.assert_close(found, expected)


def test_a_tangent_passes_where_no_graph_is_made() -> None:
    x, w, t = leaf(3), leaf(4, 3), leaf(3).detach()

    def along(fn: Any) -> Any:
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, t)
            (slope,) = torch.autograd.grad(fn(dual, w), dual)
            return torch.autograd.forward_ad.unpack_dual(slope).tangent

    torch.testing.assert_close(along(adc.torch.wrap(loss)), along(loss_in_torch))


def test_several_cotangents_at_once() -> None:
    x, w = leaf(3), leaf(4, 3)

    def jacobian(y: Any) -> Any:
        return torch.func.vmap(lambda v: torch.autograd.grad(y, (x, w), v))(
            torch.eye(4, dtype=torch.float64)
        )

    found, expected = adc.torch.wrap(layer)(x, w), torch.tanh(w @ x) * x.sum()
    torch.testing.assert_close(jacobian(found), jacobian(expected))


def test_backward_twice() -> None:
    # Where a gradient was computed with the value, what the caller got may have changed.
    x, w = leaf(3), leaf(4, 3)
    value = adc.torch.wrap(loss)(x, w)
    value.backward(retain_graph=True)
    first = x.grad.clone()
    value.backward()
    torch.testing.assert_close(x.grad, 2.0 * first)


def test_forward_and_backward_of_a_number_are_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[str] = []
    run = bridge.Program.run

    def noted(self: bridge.Program, args: Any) -> Any:
        runs.append(repr(self.fn))
        return run(self, args)

    monkeypatch.setattr(bridge.Program, "run", noted)
    x, w = leaf(3), leaf(4, 3).detach()
    value = adc.torch.wrap(loss)(x, w)
    (3.0 * value).backward()
    assert runs == ["<adc value_and_grad(loss)>"]
    torch.testing.assert_close(x.grad, torch.autograd.grad(3.0 * loss_in_torch(x, w), x)[0])


def test_a_cotangent_of_zero_is_zero() -> None:
    x = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
    root = adc.torch.wrap(lambda x: np.sum(np.sqrt(x)))
    (found,) = torch.autograd.grad(root(x), x, torch.tensor(0.0, dtype=torch.float64))
    assert found.tolist() == [0.0, 0.0]


# -- arguments and results -------------------------------------------------------------------------


class Scale(NamedTuple):
    factor: Any
    shift: Any


def network(x: Any, layers: Any, scale: Any, *, how: str = "tanh", power: int = 1) -> Any:
    for parameters in layers:
        x = parameters["w"] @ x + parameters["b"]
        if how == "tanh":
            x = np.tanh(x)
    return {"y": scale.factor * x**power + scale.shift, "n": len(layers), "large": x > 0.5}, "done"


def test_structures() -> None:
    x, scale = leaf(3), Scale(leaf(), 0.5)
    layers = [{"w": leaf(3, 3), "b": leaf(3)} for _ in range(4)]
    layers[1]["w"].requires_grad_(False)
    found, text = adc.torch.wrap(network)(x, layers, power=2, scale=scale)
    h = x
    for each in layers:
        h = torch.tanh(each["w"] @ h + each["b"])
    expected = scale.factor * h**2 + 0.5
    torch.testing.assert_close(found["y"], expected)
    assert text == "done"
    assert found["n"].item() == 4
    assert not found["n"].requires_grad
    assert found["large"].tolist() == (h > 0.5).tolist()
    inputs = [x, scale.factor, *[t for each in layers for t in each.values() if t.requires_grad]]
    torch.testing.assert_close(
        torch.autograd.grad(found["y"].sum(), inputs), torch.autograd.grad(expected.sum(), inputs)
    )


@pytest.mark.full
def test_dicts_in_another_order() -> None:
    def model(p: Any) -> Any:
        return p["b"] * 2.0 + p["a"] * p["deep"]["c"] * p["deep"]["n"]

    p = OrderedDict(deep=OrderedDict(n=3, c=leaf(3)), b=leaf(3), a=leaf(3))
    inputs = [p["b"], p["a"], p["deep"]["c"]]
    wrapped = adc.torch.wrap(model)
    for fn in (wrapped, adc.torch.wrap(model, memory="1 MB")):
        torch.testing.assert_close(
            torch.autograd.grad(fn(p).sum(), inputs), torch.autograd.grad(model(p).sum(), inputs)
        )
    number = adc.torch.wrap(lambda p: np.sum(model(p)))
    torch.testing.assert_close(
        torch.autograd.grad(2.0 * number(p), inputs),
        torch.autograd.grad(2.0 * model(p).sum(), inputs),
    )

    def of(b: Any, a: Any, c: Any, fn: Any) -> Any:
        return fn(OrderedDict(deep=OrderedDict(n=3, c=c), b=b, a=a))

    for mode in (torch.func.jacfwd, torch.func.jacrev):
        torch.testing.assert_close(mode(of, (0, 1, 2))(*inputs, wrapped),
                                   mode(of, (0, 1, 2))(*inputs, model))  # fmt: skip
    batch = [torch.stack([each, 2.0 * each]) for each in inputs]
    torch.testing.assert_close(
        torch.func.vmap(lambda b, a, c: of(b, a, c, wrapped))(*batch),
        torch.func.vmap(lambda b, a, c: of(b, a, c, model))(*batch),
    )


@pytest.mark.full
def test_dtypes_and_numbers() -> None:
    x = leaf(3, dtype=torch.float32)
    chosen = adc.torch.wrap(lambda x, n, mask: np.where(mask, x, 0.0) * n)
    mask = torch.tensor([True, False, True])
    assert chosen(x, torch.tensor(2), mask).dtype == torch.float64  # as NumPy's np.int64(2)
    found = chosen(x, 2, mask)
    assert found.dtype == torch.float32
    found.sum().backward()
    torch.testing.assert_close(x.grad, torch.tensor([2.0, 0.0, 2.0]))
    counts = adc.torch.wrap(lambda k: (k + 1, k > 1, 2.5, 1j, None))(torch.arange(3))
    assert [each.dtype for each in counts[:4]] == [
        torch.int64, torch.bool, torch.float64, torch.complex128,
    ]  # fmt: skip
    assert counts[4] is None
    half = leaf(3, dtype=torch.float16)
    (slope,) = torch.autograd.grad(adc.torch.wrap(lambda x: np.sum(x * x))(half), half)
    assert slope.dtype == torch.float16


def test_strides() -> None:
    base = leaf(6, 4)
    for view in (base.T, base[::2, 1:], base[:, :1].expand(6, 4), base[1]):
        found = adc.torch.wrap(lambda a: np.sum(a * a * a[0]))(view)
        expected = torch.sum(view * view * view[0])
        torch.testing.assert_close(
            torch.autograd.grad(found, base), torch.autograd.grad(expected, base)
        )


def test_memory_is_shared_and_not_changed() -> None:
    x = torch.arange(4.0)
    array = adc.torch._array(x[1:], "cpu")
    assert array.ctypes.data == x[1:].data_ptr()

    def fill(a: Any) -> Any:
        a[:] = 7.0
        return a

    out = adc.torch.wrap(fill)(x)
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert out.tolist() == [7.0] * 4
    same = adc.torch.wrap(lambda a: a)(x)
    assert same.data_ptr() != x.data_ptr()


@pytest.mark.full
def test_functions_that_change_an_argument_that_is_held_fixed() -> None:
    def filled(buffer: Any, x: Any) -> Any:
        for i in range(len(x)):
            buffer[i] = buffer[i] * x[i] ** 2
        return buffer

    buffer, x = torch.ones(3, dtype=torch.float64), leaf(3)
    wrapped = adc.torch.wrap(filled)
    assert gradcheck(lambda x: wrapped(buffer, x), (x,), check_forward_ad=True)
    assert gradgradcheck(lambda x: wrapped(buffer, x), (x,))
    found = torch.func.vmap(torch.func.jacrev(lambda x: wrapped(buffer, x)))(torch.stack([x, x]))
    torch.testing.assert_close(found, torch.diag(2.0 * x).expand(2, 3, 3))
    assert buffer.tolist() == [1.0] * 3


@pytest.mark.full
def test_arguments_that_change_before_backward() -> None:
    x, data = leaf(3), np.ones(3)
    value = adc.torch.wrap(lambda x, data: x * data)(x, data)
    data[:] = 5.0
    value.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0] * 3
    wrapped = adc.torch.wrap(lambda x: x * x)
    y = x * 2.0
    value = wrapped(y)
    y += 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.sum().backward()


@pytest.mark.full
def test_random_numbers_are_those_of_the_call() -> None:
    def dropout(x: Any, rng: Any) -> Any:
        return x * rng.normal(size=len(x))

    x, rng = leaf(3), np.random.default_rng(1)
    expected = np.random.default_rng(1).normal(size=(2, 3))
    wrapped = adc.torch.wrap(dropout)
    first, second = wrapped(x, rng), wrapped(x, rng)
    np.testing.assert_allclose(torch.autograd.grad(first.sum(), x)[0], expected[0])
    np.testing.assert_allclose(torch.autograd.grad(second.sum(), x, retain_graph=True)[0],
                               expected[1])  # fmt: skip
    np.testing.assert_allclose(torch.autograd.grad(second.sum(), x)[0], expected[1])
    _, tangent = torch.func.jvp(lambda x: wrapped(x, np.random.default_rng(1)), (x,), (x,))
    np.testing.assert_allclose(tangent.detach(), expected[0] * x.detach().numpy())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("how", [{"memory": "6 kB"}, {"remat": "recompute"}])
def test_plans(how: dict[str, Any]) -> None:
    u, rate = leaf(50), leaf()
    free = adc.torch.wrap(decay)(u, rate, 40)
    frugal = adc.torch.wrap(**how)(decay)(u, rate, 40)
    ours = torch.autograd.grad(frugal.sum(), (u, rate), create_graph=True)
    theirs = torch.autograd.grad(free.sum(), (u, rate))
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
    frugal = adc.torch.wrap(**how)(decay)(u, rate, 40)
    for ours_, theirs_ in zip(torch.autograd.grad(frugal.sum(), (u, rate)), theirs, strict=True):
        assert torch.equal(ours_, theirs_)


@pytest.mark.full
def test_derivatives_are_functions_too() -> None:
    x, w = leaf(3), leaf(4, 3)
    slope = adc.torch.wrap(adc.grad(loss))(x, w)
    expected = torch.autograd.grad(loss_in_torch(x, w), x, create_graph=True)[0]
    torch.testing.assert_close(slope, expected)
    torch.testing.assert_close(
        torch.autograd.grad(slope.sum(), w), torch.autograd.grad(expected.sum(), w)
    )
    batch = adc.torch.wrap(adc.vmap(loss, (0, None)))(torch.stack([x, x]), w)
    torch.testing.assert_close(batch, torch.stack([loss_in_torch(x, w)] * 2))


def test_no_graph_is_made_where_none_is_asked_for() -> None:
    x, w = leaf(3), leaf(4, 3)
    wrapped = adc.torch.wrap(loss)
    with torch.no_grad():
        assert not wrapped(x, w).requires_grad
    with torch.inference_mode():
        assert not wrapped(x, w).requires_grad
    assert not wrapped(x.detach(), w.detach()).requires_grad


# -- on a GPU --------------------------------------------------------------------------------------


@pytest.mark.full
def test_tensors_of_the_cpu_are_copied_to_a_gpu() -> None:
    x, w = leaf(3), leaf(3)
    for fn in (lambda x, w: np.tanh(x * w) * 2.0, lambda x, w: np.sum(np.tanh(x * w) ** 2)):
        wrapped = adc.torch.wrap(fn, target="cuda")
        assert wrapped(x, w).device.type == "cpu"
        assert gradcheck(wrapped, (x, w))


ON_GPU = """
import numpy as np, torch, adc, adc.torch
from torch.autograd import gradcheck, gradgradcheck
x = torch.randn(3, 40, dtype=torch.float64, device="cuda")[:, ::2].requires_grad_()
w = torch.randn(20, dtype=torch.float64, device="cuda", requires_grad=True)
k = torch.tensor(1.5, dtype=torch.float64, device="cuda", requires_grad=True)
for fn in (lambda x, w, k: np.tanh(x * w) * k, lambda x, w, k: np.sum(np.tanh(x * w) ** 2) * k):
    f = adc.torch.wrap(fn, target="cuda")
    y = f(x, w, k)
    assert y.is_cuda, y
    slopes = torch.autograd.grad(y.sum(), (x, w, k))
    assert all(each.is_cuda for each in slopes), slopes
    assert gradcheck(f, (x, w, k), nondet_tol=1e-10)
    assert gradgradcheck(f, (x, w, k), nondet_tol=1e-10)
    found = torch.func.vmap(torch.func.grad(lambda x: f(x, w, k).sum()))(torch.stack([x, 2 * x]))
    assert torch.allclose(found[0], slopes[0]), found
try:
    adc.torch.wrap(fn)(x, w, k)
except adc.AdcError as error:
    assert 'target="cuda"' in error.hint
print("done")
"""


if torch.cuda.is_available():

    def test_tensors_of_a_gpu(tmp_path: Path) -> None:
        file = tmp_path / "program.py"
        file.write_text(ON_GPU)
        # Not in the simulator, which this process has.
        environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
        done = subprocess.run(
            [sys.executable, str(file)], env=environment, capture_output=True, text=True
        )
        assert done.stdout == "done\n", done.stderr


# -- what is refused -------------------------------------------------------------------------------


def refused(call: Callable[[], Any]) -> str:
    with pytest.raises(ArgumentError) as info:
        call()
    return f"{info.value.message} {info.value.hint}"


def test_tensors_without_arrays() -> None:
    wrapped = adc.torch.wrap(layer)
    x, w = torch.ones(3), torch.ones(4, 3)
    assert "sparse_coo" in refused(lambda: wrapped(x, w.to_sparse()))
    assert "`x.float()`" in refused(lambda: wrapped(x.bfloat16(), w))
    assert "meta" in refused(lambda: wrapped(x.to("meta"), w))
    y = wrapped(x.requires_grad_(), w)
    assert "torch.func.vmap" in refused(
        lambda: torch.autograd.grad(y, x, torch.eye(4), is_grads_batched=True)
    )


def test_a_tensor_on_a_gpu_needs_the_target() -> None:
    class OnGPU:
        layout = torch.strided
        device = torch.device("cuda", 0)

    assert 'target="cuda"' in refused(lambda: adc.torch._array(OnGPU(), "cpu"))


def test_errors_name_the_line_of_the_user() -> None:
    def bad(x: Any) -> Any:
        return np.sum(x) + open("file")

    with pytest.raises(UnsupportedError) as info:
        adc.torch.wrap(bad)(leaf(3))
    assert info.value.span is not None
    assert info.value.span.file == __file__
    with pytest.raises(TypeError, match="strange"):
        adc.torch.wrap(layer)(leaf(3), leaf(3), strange=1)
    with pytest.raises(TypeError, match="'memry'"):
        adc.torch.wrap(layer, memry="1 MB")  # type: ignore[call-overload]  # what is tested
    with pytest.raises(ArgumentError, match="not a function"):
        adc.torch.wrap(3)  # type: ignore[call-overload]  # what is tested


@pytest.mark.full
def test_without_pytorch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import adc\n"
        "try: adc.torch\n"
        "except adc.AdcError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[ADC002]" in done.stdout
    assert "pip install torch" in done.stdout


# -- in programs -----------------------------------------------------------------------------------


def spring(positions: Any, velocities: Any, stiffness: Any, steps: int) -> Any:
    """Return the positions of masses on springs after some steps, which are in place."""
    x, v = positions.copy(), velocities.copy()
    for _ in range(steps):
        for i in range(1, len(x) - 1):
            v[i] += 0.1 * stiffness[i] * (x[i + 1] - 2.0 * x[i] + x[i - 1])
        x += 0.1 * v
    return x


class Springs(torch.nn.Module):  # type: ignore[misc]  # of an untyped module
    """A simulation as a layer, with the springs as parameters."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.stiffness = torch.nn.Parameter(torch.ones(size, dtype=torch.float64))
        self.simulate = adc.torch.wrap(spring)

    def forward(self, positions: torch.Tensor) -> Any:
        return self.simulate(positions, torch.zeros_like(positions), self.stiffness, 20)


@pytest.mark.full
def test_a_simulation_is_a_layer() -> None:
    true = torch.linspace(0.5, 2.0, 6, dtype=torch.float64)
    start = torch.rand(8, 6, dtype=torch.float64)
    wanted = torch.stack(
        [torch.from_numpy(spring(each.numpy(), np.zeros(6), true.numpy(), 20)) for each in start]
    )
    model = Springs(6)
    batched = torch.func.vmap(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        error = torch.mean((batched(start) - wanted) ** 2)
        error.backward()
        optimizer.step()
    torch.testing.assert_close(model.stiffness[1:-1], true[1:-1], rtol=1e-2, atol=1e-2)


def test_copies_of_modules() -> None:
    model = Springs(4)
    x = torch.rand(4, dtype=torch.float64)
    expected = model(x)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        torch.testing.assert_close(other(x), expected)
    assert copy.deepcopy(doubled) is doubled
    assert pickle.loads(pickle.dumps(doubled)) is doubled


@adc.torch.wrap
def doubled(x: Any) -> Any:
    return 2.0 * x


class Model:
    power = 3

    @adc.torch.wrap
    def value(self, x: Any) -> Any:
        return np.sum(x**self.power)


def test_methods() -> None:
    x = leaf(3)
    torch.testing.assert_close(Model().value(x), (x**3).sum())
    torch.testing.assert_close(adc.torch.wrap(Scaled(2.0).of)(x), 2.0 * x)


class Scaled:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def of(self, x: Any) -> Any:
        return self.factor * x


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # PyTorch looks at it itself
def test_torch_compile_breaks_the_graph() -> None:
    wrapped = adc.torch.wrap(layer)
    x, w = leaf(3), leaf(4, 3)

    def program(x: torch.Tensor, w: torch.Tensor) -> Any:
        return torch.sin(wrapped(2.0 * x, w)).sum()

    compiled = torch.compile(program, backend="eager")
    torch.testing.assert_close(compiled(x, w), program(x, w))
    torch.testing.assert_close(
        torch.autograd.grad(compiled(x, w), x), torch.autograd.grad(program(x, w), x)
    )
    torch._dynamo.reset()  # it has code for the function
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(program, backend="eager", fullgraph=True)(x, w)


def test_threads() -> None:
    wrapped = adc.torch.wrap(loss)
    inputs = [(leaf(3), leaf(4, 3)) for _ in range(16)]

    def slope(args: tuple[torch.Tensor, torch.Tensor]) -> Any:
        return torch.autograd.grad(wrapped(*args), args)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(slope, inputs))
    for each, args in zip(found, inputs, strict=True):
        torch.testing.assert_close(each, torch.autograd.grad(loss_in_torch(*args), args))


class Simulated(torch.utils.data.Dataset[torch.Tensor]):  # type: ignore[misc]  # of an untyped module
    """Data that a wrapped function makes."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, k: int) -> torch.Tensor:
        start = torch.arange(3, dtype=torch.float64) + k
        found: torch.Tensor = doubled(start)
        return found


def test_data_loader() -> None:
    (batch,) = torch.utils.data.DataLoader(Simulated(), batch_size=4)
    assert batch[:, 0].tolist() == [0.0, 2.0, 4.0, 6.0]


def test_checkpoints_of_pytorch() -> None:
    x, w = leaf(3), leaf(3, 3)
    wrapped = adc.torch.wrap(layer)
    found = torch.utils.checkpoint.checkpoint(wrapped, x, w, use_reentrant=False)
    torch.testing.assert_close(
        torch.autograd.grad(found.sum(), x),
        torch.autograd.grad((torch.tanh(w @ x) * x.sum()).sum(), x),
    )


@pytest.mark.full
def test_examples_run() -> None:

    found = doctest.testmod(adc.torch)
    assert found.attempted
    assert found.failed == 0
