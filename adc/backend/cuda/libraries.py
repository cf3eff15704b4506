"""Matrix products and factorizations, computed by CuPy; in the simulator by NumPy and SciPy."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from adc.backend.cuda import transforms
from adc.backend.cuda.api import current_device, simulated
from adc.backend.cuda.arrays import Shown
from adc.backend.cuda.memory import Lender


class NoLibrary(Exception):
    """CuPy cannot be had; `site` is where the program needs it, `why` what is wrong with it."""

    def __init__(self, site: int, why: str) -> None:
        self.site = site
        self.why = why


class _Host:
    """The simulator's library: its arrays are on the host."""

    arrays: Any = np

    def __init__(self) -> None:
        self.scipy: Any = importlib.import_module("scipy.linalg")

    @contextmanager
    def at(self, stream: Any, memory: Lender) -> Iterator[None]:
        yield

    @contextmanager
    def strict(self) -> Iterator[None]:
        yield

    def take(self, array: Any) -> Any:
        return array._ary


class _CuPy:
    """CuPy on the stream of a call, with memory of the call."""

    def __init__(self) -> None:
        self.arrays: Any = importlib.import_module("cupy")
        self.scipy: Any = importlib.import_module("cupyx.scipy.linalg")

    @contextmanager
    def at(self, stream: Any, memory: Lender) -> Iterator[None]:
        cuda = self.arrays.cuda
        own = cuda.ExternalStream(int(stream.handle)) if stream else cuda.Stream.null
        place = current_device()

        def lend(size: int) -> Any:
            # What the stream does with it comes before what the next one who has it queues there.
            block = memory.take(max(size, 1))
            return cuda.MemoryPointer(cuda.UnownedMemory(block.address, size, block, place), 0)

        with cuda.Device(place), own, cuda.using_allocator(lend):
            yield

    def strict(self) -> Any:
        """Return a context in which what cannot be factorized is an error."""
        return importlib.import_module("cupyx").errstate(linalg="raise")

    def take(self, array: Any) -> Any:
        return self.arrays.asarray(Shown(array))


@functools.cache
def _library() -> Any:
    return _Host() if simulated else _CuPy()


@contextmanager
def _opened(stream: Any, memory: Lender, site: int) -> Iterator[Any]:
    try:
        library = _library()
    except ModuleNotFoundError:
        raise NoLibrary(site, "") from None
    except ImportError as error:  # CuPy's own libraries, say, which tells more than enough
        raise NoLibrary(site, str(error).strip().partition("\n")[0]) from None
    with library.at(stream, memory):
        yield library


def gemm(
    stream: Any, memory: Lender, site: int, arrays: Sequence[Any],
    transposed: tuple[bool, bool], add: bool,
) -> None:  # fmt: skip
    """Make the first matrix the product of two others, or add it."""
    with _opened(stream, memory, site) as library:
        out, *factors = map(library.take, arrays)
        left, right = (x.T if t else x for x, t in zip(factors, transposed, strict=True))
        if add:
            out += left @ right
        else:
            library.arrays.matmul(left, right, out=out)


def routine(
    name: str, stream: Any, memory: Lender, site: int, given: Sequence[Any], out: Sequence[Any]
) -> int:
    """Compute what a routine does into arrays; return whether it has failed."""
    if not all(array.size for array in out):
        return 0
    with _opened(stream, memory, site) as library:
        taken = [library.take(x) if getattr(x, "shape", ()) else x for x in given]
        found, failed = _ROUTINES[name](library, *taken)
        for result, array in zip(found, out, strict=True):
            library.take(array)[...] = result
    return failed


# --- routines: what `adc.library.linear.routines` says in Python ----------------------------------

_Found = tuple[Sequence[Any], int]


def results(name: str, given: Sequence[Any]) -> tuple[list[tuple[Any, tuple[int, ...]]], bool]:
    """Return dtypes and shapes of what a routine returns, and whether it says if it has failed."""
    if name in transforms.ROUTINES:
        return transforms.results(name, given), False
    a = given[0]
    dtype, shape = a.dtype.type, tuple(a.shape)
    if name == "lu_factor":
        return [(dtype, shape), (np.int64, shape[:1])], True
    if name == "lu_solve":
        return [(dtype, tuple(given[3].shape))], False
    if name == "solve_lower":
        return [(dtype, tuple(given[1].shape))], False
    if name == "cholesky":
        return [(dtype, shape)], True
    square = (shape[1], shape[1])
    if name == "eigh":
        return [(dtype, shape[:1]), (dtype, square)], True
    if name == "eigvalsh":
        return [(dtype, shape[:1])], True
    if name == "qr":
        return [(dtype, shape), (dtype, square)], False
    count = (min(shape),)
    if name == "svdvals":
        return [(dtype, count)], True
    if name == "hermitian":
        return [(dtype, shape[:1]), (dtype, square), (dtype, square)], True
    if name == "complex_qr":
        return [(dtype, shape), (dtype, shape), (dtype, square), (dtype, square)], False
    if name == "complex_svd":
        left, right = (dtype, shape[:1] + count), (dtype, count + shape[1:])
        return [left, left, (dtype, count), right, right], True
    assert name == "svd"
    return [(dtype, shape[:1] + count), (dtype, count), (dtype, count + shape[1:])], True


def _lu_factor(library: Any, a: Any, *_: Any) -> _Found:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        lu, pivots = library.scipy.lu_factor(a, check_finite=False)
    # Where one says so, what else is left there is not said.
    singular = any("singular" in str(each.message).lower() for each in said)
    return (lu, pivots), int(singular or not (library.arrays.diagonal(lu) != 0).all())


def _lu_solve(
    library: Any, a: Any, lu: Any, pivots: Any, b: Any, transposed: Any, *_: Any
) -> _Found:
    # CuPy takes the integers of LAPACK only.
    factors = (lu, pivots.astype(np.int32))
    found = library.scipy.lu_solve(factors, b, trans=int(transposed), check_finite=False)
    return (found,), 0


def _solve_lower(library: Any, low: Any, b: Any, transposed: Any, *_: Any) -> _Found:
    found = library.scipy.solve_triangular(
        low, b, trans=int(transposed), lower=True, check_finite=False
    )
    return (found,), 0


def _cholesky(library: Any, a: Any, *_: Any) -> _Found:
    try:
        with library.strict():
            return (library.arrays.linalg.cholesky(a),), 0
    except np.linalg.LinAlgError:
        return (a,), 1


def _eigh(library: Any, a: Any, *_: Any) -> _Found:
    try:
        with library.strict():
            return tuple(library.arrays.linalg.eigh(a)), 0
    except np.linalg.LinAlgError:
        return (a[0], a), 1


def _eigvalsh(library: Any, a: Any, *_: Any) -> _Found:
    try:
        with library.strict():
            return (library.arrays.linalg.eigvalsh(a),), 0
    except np.linalg.LinAlgError:
        return (a[0],), 1


def _svd(library: Any, a: Any, *_: Any) -> _Found:
    try:
        with library.strict():
            return tuple(library.arrays.linalg.svd(a, full_matrices=False)), 0
    except np.linalg.LinAlgError:
        return (np.nan,) * 3, 1


def _svdvals(library: Any, a: Any, *_: Any) -> _Found:
    try:
        with library.strict():
            return (library.arrays.linalg.svd(a, compute_uv=False),), 0
    except np.linalg.LinAlgError:
        return (np.nan,), 1


def _hermitian(library: Any, re: Any, im: Any, upper: Any, *_: Any) -> _Found:
    try:
        with library.strict():
            w, v = library.arrays.linalg.eigh(re + 1j * im, UPLO="U" if upper else "L")
            return (w, v.real, v.imag), 0
    except np.linalg.LinAlgError:
        return (re[0], re, re), 1


def _complex_qr(library: Any, re: Any, im: Any, *_: Any) -> _Found:
    q, r = library.arrays.linalg.qr(re + 1j * im)
    return (q.real, q.imag, r.real, r.imag), 0


def _complex_svd(library: Any, re: Any, im: Any, *_: Any) -> _Found:
    try:
        with library.strict():
            u, s, vt = library.arrays.linalg.svd(re + 1j * im, full_matrices=False)
            return (u.real, u.imag, s, vt.real, vt.imag), 0
    except np.linalg.LinAlgError:
        return (np.nan,) * 5, 1


def _qr(library: Any, a: Any, *_: Any) -> _Found:
    return tuple(library.arrays.linalg.qr(a)), 0


_ROUTINES: dict[str, Callable[..., _Found]] = {
    "lu_factor": _lu_factor,
    "lu_solve": _lu_solve,
    "solve_lower": _solve_lower,
    "cholesky": _cholesky,
    "eigh": _eigh,
    "eigvalsh": _eigvalsh,
    "svd": _svd,
    "svdvals": _svdvals,
    "qr": _qr,
    "hermitian": _hermitian,
    "complex_qr": _complex_qr,
    "complex_svd": _complex_svd,
    **transforms.ROUTINES,
}
