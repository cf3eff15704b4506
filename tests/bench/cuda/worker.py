"""A process that has one tool differentiate one program on a GPU: what `tests.bench.cuda` starts.

Lines of JSON go out, each with more of what is known: what the gradient should be, what it is, how
long it takes. Data are on the device before anything is timed, and results stay there, where the
tool can do that. Only the tool is imported: others may be in another interpreter.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.bench.cuda.programs import PROGRAMS
from tests.bench.kernels import Arguments, Kernel

SECONDS = 10.0  # a call that takes long gets fewer rounds
# Copies that are timed at once: a single one may be as short as what starts it.
COPIES = 20
SAMPLES = 1000
FEW = 1e-13  # off by so little, nobody asks what rounding does


@dataclass
class Prepared:
    """A call of value and gradient, what waits for the device, and what brings an array back.

    `gradient` computes no value. `numba` tells that the tool launches Numba's kernels.
    """

    call: Callable[[], Any]
    wait: Callable[[], Any]
    host: Callable[[Any], Any]
    packages: tuple[str, ...]
    note: str = ""
    gradient: Callable[[], Any] | None = None
    numba: bool = False


def say(**known: Any) -> None:
    print(json.dumps(known), flush=True)


# --- tools ----------------------------------------------------------------------------------------


def of_adc(kernel: Kernel, args: Arguments) -> Prepared:
    """Return adc's call, with arrays that are on the device already if it takes them."""
    import adc
    from adc.backend.cuda.api import cuda
    from adc.ir.errors import AdcError

    call = adc.value_and_grad(kernel.loss, kernel.wrt, target="cuda", progress=False)
    alone = adc.grad(kernel.loss, kernel.wrt, target="cuda", progress=False)
    given, note = on_device(args), ""
    try:
        # The simulator's arrays do not say that they are on a device.
        if not all(hasattr(x, "__cuda_array_interface__") for x in given if hasattr(x, "shape")):
            raise adc.AdcError("these arrays are not on a device")
        call(*given)
    except AdcError:
        given, note = args, "with transfers"
        call(*given)  # or it is refused for another reason
    return Prepared(
        lambda: call(*given), cuda.synchronize, fetched, ("adc-autodiff", "numba-cuda"), note,
        lambda: alone(*given), numba=True,
    )  # fmt: skip


def by_hand(kernel: Kernel, args: Arguments) -> Prepared:
    from adc.backend.cuda.api import cuda
    from tests.bench.cuda.hand import HAND

    call, given = HAND[kernel.loss.__name__], on_device(args)
    return Prepared(
        lambda: call(*given), cuda.synchronize, fetched, ("numba-cuda",), numba=True
    )  # fmt: skip


def of_jax(kernel: Kernel, args: Arguments) -> Prepared:
    import jax

    from tests.bench.ports import jax_ports

    expect(jax.devices()[0].platform == "gpu")
    call, given = jax_ports.compiled(kernel, "arrays"), jax_ports.take(kernel.name, args)
    return Prepared(lambda: call(*given), lambda: None, np.asarray, ("jax",))


def of_torch(kernel: Kernel, args: Arguments) -> Prepared:
    import torch

    expect(torch.cuda.is_available())
    if torch.cuda.is_available():
        torch.set_default_device("cuda")
    from tests.bench.ports import torch_ports

    call = torch_ports.eager(kernel, "arrays")
    given = torch_ports.leaves(kernel, args)
    wait = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    return Prepared(
        lambda: call(*given), wait, lambda x: torch.as_tensor(x).cpu().numpy(), ("torch",)
    )


TOOLS: dict[str, Callable[[Kernel, Arguments], Prepared]] = {
    "adc": of_adc, "hand": by_hand, "jax": of_jax, "torch": of_torch,
}  # fmt: skip


def expect(gpu: bool) -> None:
    """Raise if a tool has no GPU; where adc has the simulator's, it may do without."""
    if not gpu and os.environ.get("NUMBA_ENABLE_CUDASIM", "0") == "0":
        raise RuntimeError("it has no GPU")


def on_device(args: Arguments) -> Arguments:
    from adc.backend.cuda.api import cuda

    return tuple(cuda.to_device(arg) if isinstance(arg, np.ndarray) else arg for arg in args)


def fetched(array: Any) -> Any:
    return np.asarray(array.copy_to_host() if hasattr(array, "copy_to_host") else array)


# --- what is found out ----------------------------------------------------------------------------


def parts(found: Any, host: Callable[[Any], Any]) -> tuple[float, list[Any]]:
    """Return a value and its gradients, on the host."""
    value, gradients = found
    each = gradients if isinstance(gradients, (tuple, list)) else (gradients,)
    return float(host(value)), [np.asarray(host(gradient)) for gradient in each]


def samples(gradients: Sequence[Any]) -> list[list[float]]:
    """Return some elements of each gradient."""
    flat = [gradient.reshape(-1) for gradient in gradients]
    return [each[:: max(1, -(-each.size // SAMPLES))].tolist() for each in flat]


def distance(found: Sequence[Any], wanted: Sequence[Any]) -> float:
    """Return how far arrays are from others, relative to the largest element of each."""
    apart = [
        float(np.max(np.abs(np.subtract(a, b)), initial=0.0))
        / (float(np.max(np.abs(b), initial=0.0)) or 1.0)
        for a, b in zip(found, wanted, strict=True)
    ]
    return max(apart)


def timed(call: Callable[[], Any], wait: Callable[[], Any], rounds: int) -> list[float]:
    """Time single calls, until the device is done with each."""
    spent: list[float] = []
    while len(spent) < rounds and (not spent or sum(spent) < SECONDS):
        wait()
        start = time.perf_counter()
        found = call()
        wait()
        spent.append(time.perf_counter() - start)
        del found  # so that the next call has its memory
    return spent


@contextmanager
def launches() -> Iterator[list[tuple[str, Any, Any]]]:
    """Have events recorded before and after every launch of Numba's."""
    from adc.backend.cuda.api import cuda

    kernel: Any = importlib.import_module("numba.cuda.dispatcher")._Kernel
    plain, found = kernel.launch, []

    def launch(self: Any, *args: Any, **more: Any) -> Any:
        before, after = cuda.event(), cuda.event()
        before.record()
        plain(self, *args, **more)
        after.record()
        found.append((getattr(self.py_func, "__name__", "?"), before, after))

    kernel.launch = launch
    try:
        yield found
    finally:
        kernel.launch = plain


def in_kernels(call: Callable[[], Any]) -> dict[str, tuple[float, int]]:
    """Return the seconds that the device spends in each of a call's kernels, and its launches."""
    from adc.backend.cuda.api import cuda

    with launches() as found:
        call()
    cuda.synchronize()
    spent: dict[str, tuple[float, int]] = {}
    for name, *events in found:
        seconds, count = spent.get(name, (0.0, 0))
        spent[name] = seconds + 1e-3 * cuda.event_elapsed_time(*events), count + 1
    return spent


def copied(small: bool, rounds: int) -> None:
    """Say how many bytes a second a copy from the device to itself reads and writes."""
    from adc.backend.cuda.api import cuda

    source = cuda.to_device(np.zeros(16 if small else 2**26))
    out = cuda.device_array_like(source)

    def call() -> None:
        for _ in range(COPIES):
            out.copy_to_device(source)

    call()
    seconds = statistics.median(timed(call, cuda.synchronize, rounds)) / COPIES
    say(bandwidth=2 * source.nbytes / seconds)


def rounding(kernel: Kernel, args: Arguments, wanted: Sequence[Any]) -> float:
    """Return how far the gradient on the CPU moves if arguments are rounded in another way."""
    import adc

    rng, apart = np.random.default_rng(0), []
    for _ in range(3):
        moved = [
            x * (1.0 + np.finfo(x.dtype).eps * rng.integers(-1, 2, x.shape)).astype(x.dtype)
            if isinstance(x, np.ndarray) and x.dtype.kind == "f"
            else x
            for x in args
        ]
        value, found = parts(adc.value_and_grad(kernel.loss, kernel.wrt)(*moved), np.asarray)
        apart.append(distance([np.array([value]), *found], wanted))
    return statistics.median(apart)


def measure(tool: str, name: str, small: bool, rounds: int) -> None:
    """Say what a tool's gradient is, and how long it takes if it is to be timed."""
    program = PROGRAMS[name]
    kernel = program.kernel
    args = kernel.arguments(program.size(small))
    wanted: list[Any] = []
    if tool == "adc":
        import adc

        value, wanted = parts(adc.value_and_grad(kernel.loss, kernel.wrt)(*args), np.asarray)
        read = sum(arg.nbytes for arg in args if isinstance(arg, np.ndarray))
        moved = read + sum(gradient.nbytes for gradient in wanted)
        say(wanted=[[value], *samples(wanted)], bytes=moved)
        wanted = [np.array([value]), *wanted]
    start = time.perf_counter()
    prepared = TOOLS[tool](kernel, args)
    value, found = parts(prepared.call(), prepared.host)
    say(
        first=time.perf_counter() - start, found=[[value], *samples(found)], note=prepared.note,
        versions=", ".join(f"{p} {importlib.metadata.version(p)}" for p in prepared.packages),
    )  # fmt: skip
    if tool == "adc":
        off = distance([np.array([value]), *found], wanted)
        say(off=off, rounding=rounding(kernel, args, wanted) if off > FEW else 0.0)
    del found
    if not program.beside:
        return
    for what, call in (("", prepared.call), ("gradient ", prepared.gradient)):
        if call is None:
            continue
        call()
        spent = timed(call, prepared.wait, rounds)
        say(**{f"{what}median": statistics.median(spent), f"{what}best": min(spent)})
        if prepared.numba and os.environ.get("NUMBA_ENABLE_CUDASIM", "0") == "0":
            each = in_kernels(call)
            seconds, count = map(sum, zip(*each.values(), strict=True))
            say(**{f"{what}kernels": seconds, f"{what}launches": count, f"{what}each": each})


def main() -> None:
    tool, name, small, rounds = sys.argv[1:]
    try:
        if tool == "device":
            from adc.backend.cuda.api import cuda

            name = getattr(cuda.get_current_device(), "name", "Numba's simulator")
            say(device=name.decode() if isinstance(name, bytes) else str(name))
        elif tool == "copy":
            copied(small == "small", int(rounds))
        else:
            measure(tool, name, small == "small", int(rounds))
    except (ImportError, KeyError) as error:
        say(error=f"not installed, or no port: {error}")
    except Exception as error:
        text = str(error).strip().splitlines()
        say(error=f"{type(error).__name__}: {text[0] if text else ''}")


if __name__ == "__main__":
    main()
