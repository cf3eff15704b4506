"""What a call will hold on the device: the function on the host runs, and nothing is launched.

Arrays have sizes and no memory. They are made, kept and dropped as in a call, by the same code, so
that what is counted is what a call counts. Numbers that only the device knows, and floats, are not
known: code that asks whether one is true is told the same every time, once that they all are, and
once that none is.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.backend.cuda import libraries
from adc.backend.cuda.device import Away, Device, Number
from adc.backend.cuda.emit import Emitted
from adc.backend.cuda.memory import Lender
from adc.ir.opdef import OPS
from adc.ir.types import Array

# Iterations of loops whose trip counts are known only at run time.
_ROUNDS = 4
# Questions after which what is known only at run time is no longer asked for.
_ENOUGH = 2000
# Sizes of arguments for which what is held is remembered.
_MOST = 256


@dataclass(frozen=True)
class Held:
    """What a call holds on the device, copies of arguments aside.

    Attributes
    ----------
    peak : int or None
        The most bytes beyond the results; None where they are known only at run time.
    results : int
        The bytes of arrays that it returns, if the peak is known.
    host : int
        The most bytes that wait on the host.
    exact : bool
        Whether nothing was asked for that is known only at run time.
    """

    peak: int | None
    results: int
    host: int
    exact: bool


class Unknown:
    """A number that is known only at run time, and so is what is computed with it."""

    # NumPy's numbers leave it to this what they are with it.
    __array_ufunc__ = None

    def __init__(self, chance: _Chance) -> None:
        self.chance = chance

    def __bool__(self) -> bool:
        return self.chance.decide()

    def _other(self, *others: Any) -> Unknown:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __abs__ = _other
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _other
    __pow__ = __rpow__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _other
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __invert__ = _other
    # `object` promises a bool; what is compared with the unknown is unknown.
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _other  # type: ignore[assignment]
    __hash__ = object.__hash__


class Unlikely(Exception):
    """What code is told goes on and on."""


class _Chance:
    """What is not known: what it is taken for, and whether that was asked for."""

    def __init__(self, holds: bool) -> None:
        self.holds = holds
        self.asked = 0
        # Where nobody leaves a `while` loop, nothing but this does.
        self._left = _ROUNDS

    def ask(self) -> None:
        self.asked += 1
        if self.asked > _ENOUGH:
            raise Unlikely

    def decide(self) -> bool:
        self.ask()
        if not self.holds:
            return False
        self._left -= 1
        if self._left < 0:
            self._left = _ROUNDS
            return False
        return True


class _Memory(Lender):
    """Counts what is lent, and lends nothing."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self.held = self.own = self.peak = 0

    def take(self, size: int, own: bool = True) -> Any:
        size = self.size(size)
        self.own += size
        self.peak = max(self.peak, self.own)
        return _Block(self, size)

    def close(self) -> None:
        pass


class _Block:
    def __init__(self, memory: _Memory, size: int) -> None:
        self._memory = memory
        self.size = size

    def __del__(self) -> None:
        self._memory.own -= self.size


class _Sizes:
    """An array without elements; `block` is the memory that it keeps, if it is the call's."""

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...], block: Any) -> None:
        self.dtype = dtype
        self.shape = shape
        self.block = block

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def is_c_contiguous(self) -> bool:
        return True

    def reshape(self, *sizes: int) -> _Sizes:
        return _Sizes(self.dtype, sizes, self.block)

    def __getitem__(self, index: Any) -> _Sizes:
        count = len(index) if isinstance(index, tuple) else 1
        return _Sizes(self.dtype, self.shape[count:], self.block)


class _Pinned:
    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes


class _DryRun(Device):
    def __init__(self, chance: _Chance, checks: bool, limit: int | None, offload: bool) -> None:
        self.chance = chance
        super().__init__(lambda site, told: None, 0, checks, limit, offload)

    def _lender(self, limit: int | None) -> Lender:
        return _Memory(limit)

    def _flag(self) -> Any:
        return self.empty(np.int64, (1,)) if self._checks else None

    def number(self, dtype: Any, *values: Any) -> Number:
        return super().number(_kind(dtype))

    def _read(self, array: Any, place: int) -> Any:
        return Unknown(self.chance)

    def check(self) -> None:
        pass

    def fail(self, site: int, *told: Any) -> None:
        pass

    def empty(self, dtype: Any, shape: Sequence[Any], order: str = "C") -> Any:
        if any(isinstance(size, Unknown) for size in shape):
            self.chance.ask()
        sizes = tuple(0 if isinstance(size, Unknown) else int(size) for size in shape)
        item = np.dtype(_kind(dtype))
        bytes = math.prod(sizes) * item.itemsize
        return _Sizes(item, sizes, self.memory.take(bytes) if bytes else None)

    def blocks(self, dtype: Any, count: Any) -> Any:
        if isinstance(count, Unknown):
            return self.empty(dtype, (count,))
        return super().blocks(dtype, count)

    def full(self, dtype: Any, shape: Sequence[Any], value: Any) -> Any:
        return super().full(_kind(dtype), shape, value)

    def copy(self, array: Any) -> Any:
        return self.empty(array.dtype, array.shape)

    def most(self, needs: Any, k: int) -> Any:
        return self.get(self.combine("maximum", needs[k], 0))

    def gemm(
        self, site: int, c: Any, a: Any, b: Any, transposed: tuple[bool, bool], add: bool
    ) -> None:
        if add:
            self.empty(c.dtype.type, c.shape)  # the product

    def routine(self, site: int, name: str, *given: Any) -> tuple[Any, ...]:
        self.chance.ask()  # the memory of libraries
        wanted, says = libraries.results(name, given)
        made = [self.empty(dtype, shape) for dtype, shape in wanted]
        for dtype, shape in wanted:
            self.empty(dtype, shape)  # what the library returns
        return (*made, 0) if says else tuple(made)

    def external(
        self, number: int, given: Sequence[Any], wanted: Sequence[tuple[Any, tuple[int, ...]]]
    ) -> tuple[Any, ...]:
        return tuple(self.empty(dtype, shape) for dtype, shape in wanted)

    def launch(self, launched: Any, sizes: Sequence[Any], *given: Any) -> None:
        pass

    def _queue(self, launched: Any, blocks: Any, threads: int, *args: Any) -> None:
        pass

    def _pin(self, size: int) -> Any:
        return _Pinned(size)

    def _leave(self, array: Any, away: Away) -> None:
        pass

    def _return(self, away: Away, array: Any) -> None:
        pass


# --- what emitted code calls ----------------------------------------------------------------------


def _unless_unknown(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that tells nothing of what is not known."""

    def called(*args: Any) -> Any:
        for arg in args:
            if isinstance(arg, Unknown):
                return arg
        return call(*args)

    return called


class _Kind:
    """A dtype of NumPy's."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def __call__(self, value: Any) -> Any:
        return value if isinstance(value, Unknown) else self.kind(value)


def _kind(dtype: Any) -> Any:
    return dtype.kind if isinstance(dtype, _Kind) else dtype


class _Numpy:
    def __getattr__(self, name: str) -> _Kind:
        return _Kind(getattr(np, name))


class _Operations:
    def __getattr__(self, name: str) -> Callable[..., Any]:
        return _unless_unknown(OPS[name].evaluate)


def _counted(*args: Any) -> Iterator[int]:
    for arg in args:
        if isinstance(arg, Unknown):
            arg.chance.ask()
            return iter(range(_ROUNDS if arg.chance.holds else 0))
    return iter(range(*args))


class DryRuns:
    """DryRuns of one program, for any sizes of its arguments."""

    def __init__(self, emitted: Emitted, limited: bool = False, offload: bool = False) -> None:
        self._params = emitted.params
        self._limit = 0 if limited else None
        self._offload = offload
        self._checks = emitted.checks
        self._found: dict[Any, Held] = {}
        space: dict[str, Any] = {}
        exec(compile(emitted.source, "<dry run>", "exec"), space)
        space |= {name: _unless_unknown(getattr(builtins, name)) for name in ("int", "max")}
        space |= {"np": _Numpy(), "ops": _Operations(), "range": _counted}
        self._run = space[emitted.name]

    def held(self, sizes: Sequence[Any]) -> Held:
        """Return what a call holds: for shapes of arrays, integers, and None for what else is."""
        key = tuple(sizes)
        if key not in self._found:
            if len(self._found) >= _MOST:
                self._found.clear()
            one = self._once(key, True)
            other = one if one.exact else self._once(key, False)
            peaks = [each.peak for each in (one, other) if each.peak is not None]
            peak = max(peaks) if len(peaks) == 2 else None
            host = max(one.host, other.host)
            self._found[key] = Held(peak, max(one.results, other.results), host, one.exact)
        return self._found[key]

    def _once(self, sizes: Sequence[Any], holds: bool) -> Held:
        chance = _Chance(holds)
        device = _DryRun(chance, self._checks, self._limit, self._offload)
        args: list[Any] = []
        for size, ty in zip(sizes, self._params, strict=True):
            if isinstance(ty, Array):
                chance.asked += size is None
                args.append(_Sizes(ty.numpy, (0,) * ty.rank if size is None else size, None))
            else:
                args.append(Unknown(chance) if size is None else ty.numpy.type(size))
        found: tuple[Any, ...] = ()
        try:
            with np.errstate(all="ignore"):
                found = self._run(device, *args)
        except Exception:
            if not chance.asked:
                raise
            # Code was told what cannot be, as that something holds, and its opposite, too.
            return Held(None, 0, device.host, False)
        blocks = {id(each.block): each.block for each in found if isinstance(each, _Sizes)}
        results = sum(block.size for block in blocks.values() if block is not None)
        peak = max(device.memory.peak - results, 0)
        return Held(peak, results, device.host, not chance.asked)
