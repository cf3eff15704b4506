"""Arrays of other libraries: taken without a copy, and made of what code has computed."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from adc.backend.cuda import api
from adc.ir.errors import ArgumentError
from adc.ir.foreign import described, kind_of, library_of

# DLPack's name for the stream that Numba uses by default.
_LEGACY = 1


# --- streams --------------------------------------------------------------------------------------


def stream_of(value: Any) -> int | None:
    """Return the address of the stream that the caller has work with an array on, 0 for Numba's.

    None where there is none: then others do not take turns with a stream, they wait for the end.
    """
    library = library_of(value)
    if library == "torch":
        torch = importlib.import_module("torch")
        found: Any = torch.cuda.current_stream(value.device).cuda_stream
    elif library == "cupy":
        found = importlib.import_module("cupy").cuda.get_current_stream().ptr
    elif getattr(value, "__cuda_ndarray__", False) is True:
        found = int(getattr(value.stream, "handle", 0))
    elif library == "jax":
        found = None
    else:
        found = getattr(value, "__cuda_array_interface__", {}).get("stream")
    return 0 if found == _LEGACY else found


class Queue:
    """Where a call queues its work: on the stream of the first argument that has one.

    Work on other streams of arguments comes before, if it was queued before the call, or after.

    Attributes
    ----------
    pointer : int
        The address of the stream, 0 for Numba's default.
    stream
        The stream as Numba takes it.
    waits : bool
        Whether the end is waited for, as arguments may go when the call returns.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        found = [stream_of(value) for value in values]
        known = [pointer for pointer in found if pointer is not None]
        self.pointer = known[0] if known else 0
        self.stream = api.stream_at(self.pointer)
        self.waits = len(known) < len(found)
        self._others = [api.stream_at(pointer) for pointer in {*known} - {self.pointer}]
        for other in self._others:
            api.order(other, self.stream)

    def end(self) -> None:
        """Let others have their turn; wait if that is needed."""
        for other in self._others:
            api.order(self.stream, other)
        if self.waits:
            api.wait(self.stream)


# --- arguments and results ------------------------------------------------------------------------


def view(value: Any, queue: Queue) -> Any:
    """Return an array of Numba's in the memory of another one on the GPU, which it keeps alive.

    Raises
    ------
    ArgumentError
        If the memory is that of another GPU than the one that Numba uses.
    """
    if getattr(value, "__cuda_ndarray__", False) is True:
        return value
    found = described(value)
    if found.address is not None:
        address, shape, strides, dtype, owner = (
            found.address, found.shape, found.strides, found.dtype, value,
        )  # fmt: skip
        place = api.device_of(address) if address else api.current_device()
    else:
        memory_view: Any = importlib.import_module("cuda.core.utils").StridedMemoryView
        owner = memory_view.from_dlpack(value, stream_ptr=queue.pointer or _LEGACY)
        address, shape, dtype = owner.ptr, owner.shape, owner.dtype
        strides = tuple(owner._layout.strides_in_bytes or ()) or None
        place = owner.device_id
    if place != api.current_device():
        raise ArgumentError(
            f"a {kind_of(value)} is on GPU {place}, and GPU {api.current_device()} is used",
            None,
            f"pass arrays on one GPU, or call it within `with numba.cuda.gpus[{place}]:`",
        )
    assert dtype is not None
    interface = {
        "version": 3,
        "shape": tuple(map(int, shape)),
        "strides": strides,
        "typestr": np.dtype(dtype).str,
        "data": (address, False),  # nothing is written there, whatever the owner allows
    }
    return api.viewed(interface, owner)


class Shown:
    """An array of Numba's as other libraries see it: nobody has to wait for it."""

    def __init__(self, array: Any) -> None:
        self._array = array
        shown = array.__cuda_array_interface__
        self.__cuda_array_interface__ = {**shown, "stream": None}


def like(source: Any, array: Any) -> Any:
    """Return an array of Numba's, by rows, as one of the library that another array is from.

    No copy is made. It is Numba's own where the library is Numba, or is not known.
    """
    library = library_of(source)
    if library == "cupy":
        return importlib.import_module("cupy").asarray(Shown(array))
    if library == "torch":
        torch = importlib.import_module("torch")
        return torch.as_tensor(Shown(array), device=source.device)
    if library == "jax":
        if not array.size:
            return importlib.import_module("jax.numpy").empty(array.shape, array.dtype)
        memory_view: Any = importlib.import_module("cuda.core.utils").StridedMemoryView
        shown = memory_view.from_cuda_array_interface(Shown(array), stream_ptr=-1)
        return importlib.import_module("jax.dlpack").from_dlpack(shown)
    return array


def to_host(value: Any) -> np.ndarray[Any, Any]:
    """Return a copy of an array on the host, which is waited for.

    Parameters
    ----------
    value : array
        Of any library, with elements by rows or by columns.
    """
    queue = Queue([value])
    found: np.ndarray[Any, Any] = view(value, queue).copy_to_host(stream=queue.stream)
    api.wait(queue.stream)
    return found


def sent(array: np.ndarray[Any, Any], source: Any) -> Any:
    """Return a copy of an array on the host as one of the library that another is from."""
    queue = Queue([source])
    made = api.cuda.to_device(np.ascontiguousarray(array), stream=queue.stream)
    api.wait(queue.stream)
    return like(source, made)
