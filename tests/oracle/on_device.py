"""What must hold of code for a device, for one program, or for a batch of calls of it.

Code whose launches run out of order in the interpreter, and kernels in Numba's simulator, compute
what code for a CPU does. The simulator is watched meanwhile: no two threads of a launch may touch
an element that one of them changes, unless both add to it atomically, and indices are within
arrays. Uninitialised memory has a recognisable content.
"""

from __future__ import annotations

import importlib
import linecache
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from adc.compiler.driver import Compilation, transform
from adc.ir.analysis.target import Target
from adc.ir.core import For, Function, walk
from adc.ir.errors import AdcError, IRError
from adc.ir.interp import ProgramError
from adc.ir.opdef import OPS
from tests.corpus.program import Program
from tests.fuzz.program import Generated, Unreliable, load
from tests.oracle.chain import Chain, fresh, largest_in, near, run, well_formed

CUDA = Target("cuda")


def use_simulator() -> None:
    """Have kernels run in the simulator, in a process that has not loaded Numba yet."""
    assert "numba" not in sys.modules
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"


def device_code(chain: Chain) -> Compilation:
    """Return value and gradient for a device, and what every pass made of them."""
    steps = (("adjoint", chain.positions),) if chain.positions else ()
    return transform(chain.on_device, steps, target=CUDA)


def launched_whole(made: Compilation) -> list[For]:
    """Return the loops that `outline_kernels` made launches of."""
    fn = made.trace.after("outline_kernels")
    return [s for s in walk(fn.body) if isinstance(s, For) and s.parallel]


def source(fn: Function) -> str:
    from adc.backend.cuda.emit import emit

    return emit(fn).source


def cpu_results(chain: Chain) -> tuple[Any, ...]:
    steps = (("adjoint", chain.positions),) if chain.positions else ()
    return run(transform(chain.lowered, steps).fn, fresh(chain.inputs))


def check(chain: Chain, want: Sequence[Any], *, simulated: bool = True) -> list[str]:
    """Return what is wrong with code for a device.

    Raises
    ------
    DeviceError
        If the program cannot run on one.
    """
    fn = device_code(chain).fn
    found = well_formed(fn)
    if not _same(chain, run(fn, fresh(chain.inputs)), want):
        found.append("out of order: other results")
    if simulated:
        from adc.backend.cuda.program import build

        with watched() as seen:
            program = build(fn, lambda *args: None)
            results = program(*fresh(chain.inputs))
        if not _same(chain, results, want):
            found.append("simulator: other results")
        found += [f"simulator: {each}" for each in seen[:3]]
    return found


def _same(chain: Chain, got: Sequence[Any], want: Sequence[Any]) -> bool:
    single = "f32" in str(chain.lowered.fn)
    largest = max(map(largest_in, want), default=0.0)
    return all(
        np.shape(a) == np.shape(b) and near(a, b, single, largest)
        for a, b in zip(got, want, strict=True)
    )


# --- batches --------------------------------------------------------------------------------------

# What is done with the results: they are added up, so that reverse code may follow in the same
# iteration; put away, so that it may not; put away again and again.
_FORMS = (
    """def program({params}):
    total = 0.0
    for i in range({count}):
        total += {call}
    return total
""",
    """import numpy as np
def program({params}):
    out = np.empty({count})
    for i in range({count}):
        out[i] = {call}
    return np.sum(np.sin(out) * out)
""",
    """import numpy as np
def program({params}):
    state = np.zeros({count})
    for t in range(2):
        for i in range({count}):
            state[i] = 0.5 * state[i] + np.sin({call} + t)
    return np.sum(state * state)
""",
)


def batched(
    fn: Callable[..., Any], args: Sequence[Any], argnums: Sequence[int], rng: np.random.Generator
) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """Return a program that calls another one for each row of a batch.

    What iterations share is passed unchanged: integers, containers, some of the numbers. None if
    there is nothing to make rows of.
    """
    count = int(rng.integers(2, 6))
    names = [f"a{k}" for k in range(len(args))]
    given: list[Any] = []
    call: list[str] = []
    for k, arg in enumerate(args):
        if isinstance(arg, np.ndarray) and arg.dtype.kind == "f":
            moved = rng.normal(size=(count, *arg.shape)).astype(arg.dtype)
            given.append(np.stack([arg + 0.03 * j * each for j, each in enumerate(moved)]))
        elif isinstance(arg, float | np.floating) and (k in argnums or rng.random() < 0.5):
            rows = [arg * (1 + 0.01 * j) for j in range(count)]
            given.append(np.array(rows, np.asarray(arg).dtype))
        else:
            given.append(arg)
        is_row = given[-1] is not arg
        call.append(f"{names[k]}[i]" if is_row else names[k])
    first = next((name for name, text in zip(names, call, strict=True) if text != name), None)
    if first is None:
        return None
    form = _FORMS[int(rng.integers(len(_FORMS)))]
    call_text = f"inner({', '.join(call)})"
    text = form.format(params=", ".join(names), count=f"{first}.shape[0]", call=call_text)
    made: Any = load(text)
    made.__globals__["inner"] = fn
    return made, tuple(given)


def batched_chain(
    fn: Callable[..., Any], args: Sequence[Any], argnums: Sequence[int], seed: int
) -> Chain | None:
    """Return a program for a batch, lowered; None if there is none, or adc refuses it."""
    found = batched(fn, args, argnums, np.random.default_rng(seed))
    if found is None:
        return None
    try:
        return Chain.of(*found, argnums)
    except IRError:
        raise
    except AdcError:
        return None


def check_batched(program: Program) -> list[str] | None:
    """Return what is wrong with a batch of a program of the corpus; None if there is no batch."""
    chain = batched_chain(program.fn, program.make_args(), program.argnums, program.number(100))
    if chain is None:
        return None
    try:
        want = cpu_results(chain)
    except ProgramError:
        return None
    return check(chain, want)


def check_random(
    generated: Generated, *, compiled: bool, batch: bool, simulated: bool = True
) -> list[str]:
    """Return what is wrong with a random program, or a batch of it; in the simulator if asked.

    Raises
    ------
    Unreliable
        If it raises, or is refused: nothing can be said then.
    """
    fn, args, argnums = generated.fn, generated.make_args(), generated.argnums
    chain: Chain | None = None
    try:
        if batch:
            chain = batched_chain(fn, args, argnums, generated.seed)
        else:
            chain = Chain.of(fn, args, argnums)
        if chain is None:
            raise Unreliable("there is no batch")
        with np.errstate(all="ignore"):
            return check(chain, cpu_results(chain), simulated=simulated)
    except (ProgramError, AdcError) as error:
        if isinstance(error, IRError):
            raise
        raise Unreliable(str(error)) from error
    finally:
        if batch and chain is not None:
            linecache.cache.pop(chain.fn.__code__.co_filename, None)


# --- the simulator, watched -----------------------------------------------------------------------


class _Watch:
    """Checks that the threads of a launch have no conflicting accesses."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.kernel = ""
        self.flag = 0
        self.atomic = threading.local()
        # By address: who touched it, -1 for several; whether it was read, written, or added to.
        self.touched: dict[int, tuple[int, bool, bool, bool]] = {}

    def begin(self, kernel: str, flag: int) -> None:
        self.kernel, self.flag = kernel, flag
        self.touched.clear()

    def see(self, array: Any, index: Any, writes: bool) -> None:
        where = index if isinstance(index, tuple) else (index,)
        for each, size in zip(where, array.shape, strict=False):
            last = each.stop if isinstance(each, slice) else each
            if last is not None and not 0 <= last < size + isinstance(each, slice):
                self.complain(f"index {index} of {array.shape}")
                return
        if len(where) != array.ndim or any(isinstance(each, slice) for each in where):
            return
        address = array.__array_interface__["data"][0]
        address += sum(int(k) * s for k, s in zip(where, array.strides, strict=True))
        if address == self.flag:
            return
        me: Any = threading.current_thread()
        thread = me.blockIdx.x * 65536 + me.thread_id
        atomic = getattr(self.atomic, "on", False)
        new = (not writes and not atomic, writes and not atomic, atomic)
        old = self.touched.get(address)
        if old is None:
            self.touched[address] = thread, *new
            return
        read, written, added = (a or b for a, b in zip(old[1:], new, strict=True))
        several = old[0] != thread
        if several and (written or (read and added)):
            self.complain(f"threads {old[0]} and {thread} share element {index} of {array.shape}")
        self.touched[address] = -1 if several else thread, read, written, added

    def complain(self, text: str) -> None:
        self.found.append(f"{self.kernel}: {text}")


@contextmanager
def watched() -> Iterator[list[str]]:
    """Yield what is wrong with kernels that are loaded and run meanwhile."""
    from adc.backend.cuda import prelude
    from adc.backend.cuda.device import Device

    arrays: Any = importlib.import_module("numba.cuda.simulator.cudadrv.devicearray")
    api: Any = importlib.import_module("numba.cuda.simulator.kernelapi")
    kernel: Any = importlib.import_module("numba.cuda.simulator.kernel")
    watch = _Watch()
    with pytest.MonkeyPatch.context() as patch:
        inside = arrays.FakeWithinKernelCUDAArray
        read, write = inside.__getitem__, inside.__setitem__

        def getitem(self: Any, index: Any) -> Any:
            watch.see(self._item._ary, index, False)
            return read(self, index)

        def setitem(self: Any, index: Any, value: Any) -> None:
            watch.see(self._item._ary, index, True)
            write(self, index, value)

        def atomic(add: Callable[..., Any]) -> Callable[..., Any]:
            def adding(*args: Any) -> Any:
                watch.atomic.on = True
                try:
                    return add(*args)
                finally:
                    watch.atomic.on = False

            return adding

        call, empty, local = kernel.FakeCUDAKernel.__call__, Device.empty, api.FakeCUDALocal.array

        def launch(self: Any, *args: Any) -> Any:
            flag = (
                args[0].__array_interface__["data"][0] if args and hasattr(args[0], "shape") else 0
            )
            watch.begin(self.fn.__name__, flag)
            return call(self, *args)

        def made(self: Any, dtype: Any, shape: Any, order: str = "C") -> Any:
            array: Any = empty(self, dtype, shape, order)
            array._ary[...] = _unset(array._ary)
            return array

        def own(self: Any, shape: Any, dtype: Any, alignment: Any = None) -> Any:
            array = local(self, shape, dtype, alignment)
            array[...] = _unset(array)
            return array

        patch.setattr(inside, "__getitem__", getitem)
        patch.setattr(inside, "__setitem__", setitem)
        patch.setattr(api.FakeCUDAAtomic, "add", atomic(api.FakeCUDAAtomic.add))
        patch.setattr(prelude, "add_together", atomic(prelude.add_together))
        patch.setattr(kernel.FakeCUDAKernel, "__call__", launch)
        patch.setattr(Device, "empty", made)
        patch.setattr(api.FakeCUDALocal, "array", own)
        yield watch.found


def _unset(array: Any) -> Any:
    """Return what shows in a result if it is read before it is stored."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    return OPS["empty"].evaluate("b1" if kind == "b" else f"{kind}{8 * size}")


__all__ = [
    "CUDA",
    "batched",
    "batched_chain",
    "check",
    "check_batched",
    "check_random",
    "cpu_results",
    "device_code",
    "launched_whole",
    "source",
    "use_simulator",
    "watched",
]
