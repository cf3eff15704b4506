"""Arrays of other libraries: taken without a copy, and made of what code has computed."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from adc.backend.cuda.api import cuda, current_device, device_of, viewed
from adc.frontend.foreign import described, kind_of, library_of
from adc.ir.errors import ArgumentError


def view(value: Any) -> Any:
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
        place = device_of(address) if address else current_device()
    else:
        owner = _exchanged(value, 1)
        address, shape, dtype = owner.ptr, owner.shape, owner.dtype
        strides = tuple(owner._layout.strides_in_bytes or ()) or None
        place = owner.device_id
    if place != current_device():
        raise ArgumentError(
            f"a {kind_of(value)} is on GPU {place}, and GPU {current_device()} is used",
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
    return viewed(interface, owner)


def _exchanged(value: Any, stream: int) -> Any:
    """Return a view by DLPack, of what a stream finds when its turn comes."""
    memory_view: Any = importlib.import_module("cuda.core.utils").StridedMemoryView
    return memory_view.from_dlpack(value, stream_ptr=stream)


class _Shown:
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
        return importlib.import_module("cupy").asarray(_Shown(array))
    if library == "torch":
        torch = importlib.import_module("torch")
        return torch.as_tensor(_Shown(array), device=source.device)
    if library == "jax":
        if not array.size:
            return importlib.import_module("jax.numpy").empty(array.shape, array.dtype)
        memory_view: Any = importlib.import_module("cuda.core.utils").StridedMemoryView
        shown = memory_view.from_cuda_array_interface(_Shown(array), stream_ptr=-1)
        return importlib.import_module("jax.dlpack").from_dlpack(shown)
    return array


def to_host(value: Any) -> np.ndarray[Any, Any]:
    """Return a copy of an array on the host, which is waited for.

    Parameters
    ----------
    value : array
        Of any library, with elements by rows or by columns.
    """
    found: np.ndarray[Any, Any] = view(value).copy_to_host()
    cuda.synchronize()
    return found
