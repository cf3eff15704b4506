"""numba-cuda, in one place: it may be another package one day.

Kernels run on a GPU, or, where `NUMBA_ENABLE_CUDASIM` is set, in Numba's simulator.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import math
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from adc.ir.errors import DeviceError, installing

HINT = installing("cuda13", "'adc-autodiff[cuda12]' for drivers before 580")


def _load() -> Any:
    # Numba has a `cuda` of its own, which is no longer kept up.
    if importlib.util.find_spec("numba_cuda") is None:
        raise DeviceError('target="cuda" needs numba-cuda', None, HINT)
    return importlib.import_module("numba.cuda")


def _lend() -> None:
    """Have numba-cuda 0.30 find the one name it asks for that NumPy 2.5 has no longer."""
    lent: Any = np
    lent.row_stack = np.vstack
    try:
        importlib.import_module("numba.cuda.cudaimpl")  # otherwise when it first compiles
    finally:
        del lent.row_stack


cuda = _load()
simulated = bool(importlib.import_module("numba").config.ENABLE_CUDASIM)
# Holds what the simulator adds to memory one at a time, as atomic additions are.
adding = threading.Lock()
_FEW = 128


def _mend() -> None:
    """Mend the simulator: each of two threads may make a shared array, at one line, for itself."""
    module: Any = importlib.import_module("numba.cuda.simulator.kernelapi")

    def array(self: Any, shape: Any, dtype: Any, alignment: Any = None) -> Any:
        caller = sys._getframe(1)
        line = caller.f_code.co_filename, caller.f_lineno
        # One call of a dictionary: the first that comes makes it.
        return self._allocations.setdefault(line, np.empty(shape, dtype))

    module.FakeCUDAShared.array = array
    module.addlock = adding


if simulated:
    _mend()
elif not hasattr(np, "row_stack"):
    _lend()


def function(body: Callable[..., Any]) -> Any:
    """Return a function that kernels can call."""
    if simulated:
        return body
    return importlib.import_module("numba.cuda.extending").register_jitable(body)


def kernel(body: Callable[..., Any]) -> Any:
    """Return a function that can be launched."""
    if simulated:
        # The simulator runs threads of Python's, and each has NumPy's warnings on.
        space = body.__globals__
        space["_errstate"] = np.errstate
        space[f"_{body.__name__}"] = body
        name = body.__name__
        text = f"def {name}(*args):\n    with _errstate(all='ignore'):\n        _{name}(*args)"
        exec(text, space)  # with the globals of the kernel: the simulator changes `cuda` there
        body = space[body.__name__]
    return cuda.jit(body)


def configured(kernel: Any, blocks: int | tuple[int, int], threads: int, stream: Any) -> Any:
    """Return a kernel that is called to be launched, without a warning of Numba's if it is small.

    It warns of launches of fewer than 128 blocks where they are configured. Those of small arrays
    are what they have to be, and not the user's.
    """
    grid = (*blocks, 1) if isinstance(blocks, tuple) else (blocks, 1, 1)
    if simulated or math.prod(grid) >= _FEW:
        return kernel[grid, threads, stream]
    large = kernel[(_FEW, 1, 1), threads, stream]  # which Numba keeps, and warns of no more
    made = object.__new__(type(large))
    vars(made).update(vars(large), griddim=grid)
    return made


def require() -> None:
    """Raise DeviceError where there is no device to run on."""
    if simulated or cuda.is_available():
        return
    driver = importlib.import_module("numba.cuda.cudadrv.driver").driver
    told = " ".join(str(getattr(driver, "initialization_error", None) or "").split())
    why = told.split(". ")[0].removesuffix(":").strip()
    raise DeviceError(
        f"there is no GPU that CUDA can use{f' ({why})' if why else ''}",
        None,
        "run it where one is, leave out `target`, or set NUMBA_ENABLE_CUDASIM=1 to try it slowly",
    )


class _Memory:
    """Memory of the simulator, by its address."""

    def __init__(self, interface: dict[str, Any], owner: Any) -> None:
        self._owner = owner
        self.__array_interface__ = interface


def viewed(interface: dict[str, Any], owner: Any, stream: Any = 0) -> Any:
    """Return a Numba array of what a ``__cuda_array_interface__`` says; it keeps `owner` alive."""
    if not simulated:
        made = cuda.from_cuda_array_interface(interface, owner=owner, sync=False)
        made.stream = stream
        return made
    arrays: Any = importlib.import_module("numba.cuda.simulator.cudadrv.devicearray")
    if 0 in interface["shape"]:
        return arrays.FakeCUDAArray(np.empty(interface["shape"], interface["typestr"]), stream)
    return arrays.FakeCUDAArray(np.asarray(_Memory(interface, owner)), stream)


def stream_at(pointer: int) -> Any:
    """Return the stream at an address, as launches and transfers take it; 0 is Numba's default."""
    if not pointer:
        return 0
    if not simulated:
        return cuda.external_stream(pointer)
    made = cuda.stream()
    made.handle = pointer
    return made


def wait(stream: Any) -> None:
    """Wait for what is queued on a stream."""
    (stream or cuda.default_stream()).synchronize()


def synchronize() -> None:
    """Wait for what is queued on any stream of the GPU that Numba uses in this thread."""
    cuda.synchronize()


def order(first: Any, then: Any) -> None:
    """Have what will be queued on a stream wait for what is queued on another one."""
    if not simulated:
        event = cuda.event(timing=False)
        event.record(first)
        event.wait(then)


def allocate(size: int) -> Any:
    """Return memory of so many bytes on the device, or None if there is no room."""
    if simulated:
        try:
            return cuda.current_context().memalloc(size)
        except MemoryError:
            return None
    driver: Any = importlib.import_module("numba.cuda.cudadrv.driver")
    try:
        return cuda.current_context().memalloc(size)
    except driver.CudaAPIError as error:
        if error.code != driver.binding.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise
        return None


def address_of(memory: Any) -> int:
    """Return the address of what `allocate` has returned."""
    return int(memory.ctypes.data if simulated else memory.device_ctypes_pointer.value)


def current_device() -> int:
    """Return the number of the GPU that Numba uses in this thread."""
    return int(cuda.current_context().id if simulated else cuda.current_context().device.id)


def device_of(address: int) -> int:
    """Return the number of the GPU that an address belongs to."""
    if simulated:
        return 0
    driver: Any = importlib.import_module("numba.cuda.cudadrv.driver")
    cuda.current_context()  # so that the driver is there
    ordinal = driver.binding.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    pointer = driver.binding.CUdeviceptr(address)
    return int(driver.driver.cuPointerGetAttribute(ordinal, pointer))


def about() -> str:
    """Return which GPUs there are, with what they are used, in words; "none" if there is none."""
    package = f"numba-cuda {importlib.metadata.version('numba-cuda')}"
    if simulated:
        return f"Numba's simulator, {package}"
    if not cuda.is_available():
        return f"none, {package}"
    driver: Any = importlib.import_module("numba.cuda.cudadrv.driver")
    found = []
    for gpu in cuda.gpus:
        major, minor = gpu.compute_capability
        found.append(f"{gpu.name} (sm_{major}{minor})")
    major, minor = driver.get_version()
    return f"{', '.join(found)}, driver for CUDA {major}.{minor}, {package}"


def ptx(kernel: Any, types: tuple[Any, ...], capability: tuple[int, int]) -> str:
    """Return the PTX of a kernel for a compute capability; no GPU is needed."""
    # For functions that a kernel calls, Numba asks the GPU that is there.
    dispatcher: Any = importlib.import_module("numba.cuda.dispatcher")
    asked = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        text, _ = cuda.compile_ptx(kernel.py_func, types, cc=capability)
    finally:
        dispatcher.get_current_device = asked
    return str(text)
