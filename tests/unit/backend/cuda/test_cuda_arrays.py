"""Arrays on a GPU as arguments and results of `target="cuda"`, in Numba's simulator."""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.backend.cuda import api, arrays, device
from adc.ir import foreign
from adc.ir.errors import ArgumentError, OverlapError

cuda = api.cuda


class Shown:
    """An array that says where it is, as CuPy's do; `base` is the memory of the simulator."""

    def __init__(self, base: Any, **more: Any) -> None:
        self.base = base
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": base.shape,
            "strides": None if base.flags.c_contiguous else base.strides,
            "typestr": base.dtype.str,
            "data": (base.ctypes.data, not base.flags.writeable),
            "stream": None,
            **more,
        }

    def item(self) -> Any:
        return np.asarray(getattr(self.base, "copy_to_host", lambda: self.base)()).item()


class Exchanged:
    """An array that is handed over by DLPack, as JAX's are."""

    def __getattribute__(self, name: str) -> Any:
        return super().__getattribute__(name)  # so that adc sees no program in the class

    def __init__(self, base: Any, device: tuple[int, int] = (2, 0)) -> None:
        self.base, self.shape, self.dtype = base, base.shape, base.dtype
        self.device = device
        self.asked: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, stream: Any = None, **how: Any) -> Any:
        self.asked.append(stream)
        return self.base.__dlpack__(**how)


def on_device(x: Any) -> Any:
    """Return an array of Numba's, with the strides of another one."""
    return type(cuda.to_device(np.ones(1)))(x)


def memory(array: Any) -> Any:
    return foreign.memory_of(array)


def loss(x: Any, y: Any) -> Any:
    for i in range(x.shape[0]):
        x[i] *= y[i] + x[i]
    return np.sum(x * y)


def data() -> tuple[Any, Any]:
    return np.array([0.5, -1.0, 2.0]), np.array([1.0, 3.0, -0.25])


WAYS: list[Callable[[Any], Any]] = [on_device, Shown, Exchanged]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mixed", [False, True])
def test_arrays_are_used_where_they_are(
    way: Callable[[Any], Any], mixed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = data()
    want_value, want = adc.value_and_grad(loss, (0, 1))(x.copy(), y.copy())
    f = adc.value_and_grad(loss, (0, 1), target="cuda")
    seen: list[Any] = []
    view = arrays.view

    def noted(value: Any, queue: Any) -> Any:
        seen.append(view(value, queue))
        return seen[-1]

    monkeypatch.setattr(arrays, "view", noted)
    monkeypatch.setattr(arrays, "like", lambda source, array: array)
    value, (dx, dy) = f(way(x), y if mixed else way(y))
    assert len(seen) == 2 - mixed
    for array, base in zip(seen, (x, y), strict=False):
        assert memory(array).ctypes.data == base.ctypes.data
    assert value == pytest.approx(want_value, rel=1e-14)
    assert type(value) is float or isinstance(value, np.floating)
    assert foreign.is_on_gpu(dx)
    assert isinstance(dy, np.ndarray) == mixed
    np.testing.assert_allclose(dx.copy_to_host(), want[0], rtol=1e-14)
    np.testing.assert_allclose(dy if mixed else dy.copy_to_host(), want[1], rtol=1e-14)
    assert not np.shares_memory(memory(dx), x)
    for array, before in zip((x, y), data(), strict=True):
        np.testing.assert_array_equal(array, before)


def itself(x: Any) -> Any:
    return x, x[1:]


def test_results_are_new() -> None:
    x = on_device(np.arange(3.0))
    found, rest = adc.jit(itself, target="cuda")(x)
    for array in (found, rest):
        assert foreign.is_on_gpu(array)
        assert not np.shares_memory(memory(array), memory(x))
    assert not np.shares_memory(memory(found), memory(rest))
    np.testing.assert_array_equal(rest.copy_to_host(), [1.0, 2.0])


def table(x: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s += np.sin(x[i, j]) * x[i, 0]
    return s + np.sum(x * x) + np.sum(x.reshape(-1))


@pytest.mark.full
@pytest.mark.parametrize(
    "how",
    [
        lambda x: x,
        lambda x: x.T,
        lambda x: x[::2],
        lambda x: x.T[1:, ::-1],
        lambda x: np.broadcast_to(x[0], x.shape),
        lambda x: x[:, :0],
        lambda x: x[:1],
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_strides_and_sizes(how: Callable[[Any], Any], dtype: Any) -> None:
    x = how(np.random.default_rng(0).normal(size=(4, 5)).astype(dtype))
    fn = table if x.size else empty
    want = adc.grad(fn)(x)
    for way in (on_device, Shown):
        got = adc.grad(fn, target="cuda")(way(x))
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        np.testing.assert_allclose(
            got.copy_to_host(), want, rtol=1e-5 if x.itemsize == 4 else 1e-13
        )


def empty(x: Any) -> Any:
    return np.sum(x * 2.0)


@pytest.mark.parametrize(
    "dtype", ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
)
def test_dtypes(dtype: str) -> None:
    def weighted(w: Any, k: Any) -> Any:
        return np.sum(np.where(k > 0, w * 2.0, w))

    w, k = np.ones(4), np.array([0, 1, 1, 0]).astype(dtype)
    got = adc.grad(weighted, target="cuda")(on_device(w), Shown(k))
    np.testing.assert_array_equal(got.copy_to_host(), np.where(k > 0, 2.0, 1.0))


@pytest.mark.full
def test_read_only() -> None:
    x, y = data()
    x.flags.writeable = y.flags.writeable = False

    def read(x: Any, y: Any) -> Any:
        return loss(x.copy(), y)

    want = adc.grad(read)(x, y)
    got = adc.grad(read, target="cuda")(Shown(x), Shown(y))
    np.testing.assert_allclose(got.copy_to_host(), want, rtol=1e-14)


def test_arrays_without_axes_are_numbers() -> None:
    def scaled(x: Any, factor: Any) -> Any:
        return np.sum(x) * factor

    x, factor = np.ones(3), np.array(2.5)
    dx, slope = adc.grad(scaled, (0, 1), target="cuda")(on_device(x), Shown(factor))
    np.testing.assert_array_equal(dx.copy_to_host(), 2.5 * x)
    assert (slope, type(slope)) == (3.0, np.float64)


@dataclasses.dataclass
class Weights:
    w: Any
    b: Any
    names: tuple[str, ...] = ("w", "b")


def test_trees() -> None:
    def deep(parts: Any, more: Any) -> Any:
        return np.sum(parts["first"].w * parts["first"].b) + parts["rest"][0] * np.sum(more[0])

    x, y = data()
    found = adc.grad(deep, (0, 1), target="cuda")(
        {"first": Weights(on_device(x), y), "rest": [2.0]}, (Shown(y),)
    )
    parts, (more,) = found
    np.testing.assert_array_equal(parts["first"].w.copy_to_host(), y)
    np.testing.assert_array_equal(parts["first"].b, x)
    assert type(parts["first"].b) is np.ndarray
    assert parts["rest"] == [pytest.approx(np.sum(y))]
    np.testing.assert_array_equal(more.copy_to_host(), [2.0] * 3)


OUTSIDE = on_device(np.array([1.0, 2.0, 3.0]))


def reads_outside(x: Any) -> Any:
    return np.sum(x * OUTSIDE)


def test_arrays_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    f = adc.grad(reads_outside, target="cuda")
    np.testing.assert_array_equal(f(np.ones(3)), [1.0, 2.0, 3.0])
    monkeypatch.setitem(globals(), "OUTSIDE", np.array([4.0, 5.0, 6.0]))
    np.testing.assert_array_equal(f(np.ones(3)), [4.0, 5.0, 6.0])
    monkeypatch.undo()
    with pytest.raises(ArgumentError, match="`OUTSIDE`: a FakeCUDAArray of numba on a GPU"):
        adc.grad(reads_outside)(np.ones(3))


@pytest.mark.full
def test_an_error_of_the_program() -> None:
    def bounded(x: Any) -> Any:
        for i in range(x.shape[0]):
            if x[i] > 1.0:
                raise ValueError("too large")
        return np.sum(x)

    for how in (slice(None), slice(None, None, -2)):
        with pytest.raises(ValueError, match="too large"):
            adc.grad(bounded, target="cuda")(Shown(np.array([0.0, 0.5, 2.0])[how]))


def test_plans_and_signatures() -> None:
    x, y = data()
    f = adc.grad(loss, target="cuda")
    got, want = f.plan(Shown(x), on_device(y)), f.plan(x, y)
    assert got.peak_bytes == want.peak_bytes
    assert f.signatures() == ["loss(x: f64[:], y: f64[:])"] * 2
    assert "def loss_" in f.source(Shown(x), y)


# --- refusals -------------------------------------------------------------------------------------


def total(x: Any, y: Any = 1.0) -> Any:
    x[0] = 2.0
    return np.sum(x) + np.sum(y)


@pytest.mark.parametrize("way", WAYS)
def test_code_for_the_cpu_takes_none(way: Callable[[Any], Any]) -> None:
    adc.grad(total)(np.ones(3))
    for args in ((way(np.ones(3)), 1.0), (np.ones(3), [way(np.ones(2))])):
        with pytest.raises(ArgumentError, match="on a GPU") as caught:
            adc.grad(total)(*args)
        assert 'use target="cuda"' in str(caught.value)
        assert caught.value.code == "ADC020"


def test_what_cannot_be_taken() -> None:
    f = adc.grad(total, target="cuda")
    x = np.ones(3)

    class Differentiated:
        @property
        def __cuda_array_interface__(self) -> Any:
            raise RuntimeError("it requires grad")

    class Elsewhere:
        @property
        def __cuda_array_interface__(self) -> Any:
            raise AttributeError("no such thing on the CPU")

    for value, message in (
        (Shown(x, mask=Shown(x > 0)), "'x' of total.*: a Shown of tests that has a mask"),
        (Shown(x.astype(np.float16)), "of dtype float16"),
        (Shown(x + 1j), "of dtype complex128"),
        (Exchanged(x, (1, 0)), "that is in the memory of the CPU"),
        (Exchanged(x, (2, 1)), "is on GPU 1, and GPU 0 is used"),
        (Elsewhere(), "that is no dense array on a GPU"),
        (Differentiated(), "that cannot be read: it requires grad"),
    ):
        with pytest.raises(ArgumentError, match=message):
            f(value)
    with pytest.raises(ArgumentError, match="in the memory of the CPU") as caught:
        adc.grad(total)(Exchanged(x, (1, 0)))
    assert "pass a NumPy array, which shares it: `np.asarray(x)`" in str(caught.value)


def test_arrays_that_overlap() -> None:
    f = adc.grad(total, target="cuda")
    x = np.arange(6.0)
    f(Shown(x[:3]), Shown(x[3:]))
    exchanged = Exchanged(x)
    for pair in ((Shown(x[:3]), on_device(x[2:])), (exchanged, exchanged)):
        with pytest.raises(OverlapError, match="overlap in memory"):
            f(*pair)


# --- libraries ------------------------------------------------------------------------------------


def test_results_are_of_the_library_of_the_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Any] = []

    def take(shown: Any, **how: Any) -> Any:
        taken.append((shown, how))
        return "an array"

    modules = {
        "cupy": types.SimpleNamespace(asarray=take),
        "torch": types.SimpleNamespace(as_tensor=take),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
        source = type("Array", (Shown,), {"__module__": f"{name}.inner", "device": "cuda:0"})
        monkeypatch.setattr(type(OUTSIDE), "__cuda_array_interface__", {"data": 1}, raising=False)
        made = on_device(np.ones(2))
        assert arrays.like(source(np.ones(3)), made) == "an array"
        shown, how = taken.pop()
        assert shown.__cuda_array_interface__ == {"data": 1, "stream": None}
        assert how == ({"device": "cuda:0"} if name == "torch" else {})
    made = on_device(np.ones(2))
    assert arrays.like(OUTSIDE, made) is made
    assert arrays.like(Shown(np.ones(2)), made) is made


# --- streams --------------------------------------------------------------------------------------


class Log:
    """What happens on streams, by their addresses: launches, transfers, and who waits for whom."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.launches: list[int] = []
        self.waits: list[int] = []
        self.orders: list[tuple[int, int]] = []
        self.transfers: list[int] = []
        device._never(0)  # which is made once, and waited for
        launching = type(device._set)
        configure = launching.__getitem__

        def configured(kernel: Any, how: Any) -> Any:
            self.launches.append(address(how[2]))
            return configure(kernel, how)

        patch.setattr(launching, "__getitem__", configured)
        for module in (api, device):
            patch.setattr(module, "wait", lambda stream: self.waits.append(address(stream)))
        patch.setattr(
            api, "order", lambda a, b: self.orders.append((address(a), address(b)))
        )  # fmt: skip
        arrays_of_numba = type(OUTSIDE)
        send = arrays_of_numba.copy_to_device

        def sent(array: Any, source: Any, stream: Any = 0) -> Any:
            self.transfers.append(address(stream))
            return send(array, source, stream=stream)

        patch.setattr(arrays_of_numba, "copy_to_device", sent)


def address(stream: Any) -> int:
    return int(stream.handle) if stream else 0


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    return Log(monkeypatch)


def doubled(x: Any, y: Any) -> Any:
    return x * 2.0, np.sin(y) * x


def library(name: str, pointer: int, patch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    """Return what makes arrays of a library whose current stream is at an address."""
    asked = types.SimpleNamespace(ptr=pointer, cuda_stream=pointer)
    streams = types.SimpleNamespace(
        get_current_stream=lambda: asked, current_stream=lambda device: asked
    )
    module = types.SimpleNamespace(cuda=streams)
    patch.setitem(sys.modules, name, module)
    patch.setattr(arrays, "like", lambda source, array: array)
    return type("Array", (Shown,), {"__module__": name, "device": "cuda:0"})


@pytest.mark.parametrize("name", ["cupy", "torch"])
@pytest.mark.parametrize("pointer", [0, 1, 77])
def test_work_is_queued_on_the_stream_of_the_caller(
    name: str, pointer: int, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = library(name, pointer, monkeypatch)
    x, y = data()
    found, other = adc.jit(doubled, target="cuda")(made(x), made(y))
    np.testing.assert_array_equal(found.copy_to_host(), 2.0 * x)
    stream = 0 if pointer == 1 else pointer
    assert {*log.launches} == {stream}
    assert log.transfers == []
    assert (log.waits, log.orders) == ([], [])
    assert address(found.stream) == address(other.stream) == stream


def test_streams_of_several_arguments(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data()
    f = adc.jit(doubled, target="cuda")
    made = library("cupy", 77, monkeypatch)
    f(made(x), Shown(y, stream=88))
    assert {*log.launches} == {77}
    assert log.orders == [(88, 77), (77, 88)]
    assert log.waits == []
    f(Shown(x, stream=88), Shown(y, stream=88))
    assert log.launches[-1] == 88


def test_what_is_waited_for(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data()
    f = adc.jit(doubled, target="cuda")
    made = library("cupy", 77, monkeypatch)
    # A caller may change an array on the host when the call returns.
    f(made(x), y)
    assert log.waits == log.transfers == [77]
    # Nobody knows what others do on which stream.
    exchanged = Exchanged(y)
    f(made(x), exchanged)
    assert log.waits == [77, 77]
    assert exchanged.asked == [77]
    f(exchanged, exchanged)
    assert log.waits == [77, 77, 0]
    assert exchanged.asked[1:] == [1, 1]
    # Numbers, and whether a check has failed.
    adc.grad(product, target="cuda")(made(x), made(y))
    assert len(log.waits) == 3
    adc.value_and_grad(product, target="cuda")(made(x), made(y))
    assert log.waits[3:] == [77]
    adc.jit(root, target="cuda")(made(x))
    assert log.waits[4:] == [77]


def product(x: Any, y: Any) -> Any:
    return np.sum(np.sin(x) * y)


def root(x: Any) -> Any:
    y = x * 1.0
    for i in range(x.shape[0]):
        assert x[i] < 100.0
        y[i] = x[i] * 2.0
    return y
