"""What the tests of random generators share: code that adc compiled draws what NumPy draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import AdcError

X = np.linspace(0.3, 1.5, 6)
A = np.arange(24.0).reshape(4, 3, 2)
W = np.linspace(0.5, 1.5, 6)


def assert_same(got: Any, want: Any) -> None:
    """Equal types, dtypes, shapes and bits."""
    assert type(got) is type(want)
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            assert_same(a, b)
    elif isinstance(want, np.ndarray | np.generic):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        assert got.tobytes() == want.tobytes()
    else:
        assert repr(got) == repr(want)


@dataclass(frozen=True)
class Generators:
    """A class of generators: how one is made, and what its state is."""

    make: Callable[..., Any]
    state: Callable[[Any], Any]

    def assert_drawn(
        self, fn: Callable[..., Any], *args: Any, compiled: Any = None, times: int = 1, **made: Any
    ) -> None:
        """The results of a function and the state after it; `made` says of which generator."""
        compiled = compiled or adc.jit(fn)
        ours, numpys = self.make(**made), self.make(**made)
        for _ in range(times):
            assert_same(compiled(*args, ours), fn(*args, numpys))
            assert self.state(ours) == self.state(numpys)

    def assert_raised(self, fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """NumPy's error, before anything is drawn; it is returned."""
        ours = self.make()
        with pytest.raises((ValueError, OverflowError)) as wanted:
            fn(*args, self.make())
        with pytest.raises(wanted.type) as found:
            adc.jit(fn)(*args, ours)
        assert str(found.value) == str(wanted.value)
        assert self.state(ours) == self.state(self.make())
        return found

    def assert_refused(self, fn: Callable[..., Any], text: str) -> None:
        with pytest.raises(AdcError) as caught:
            adc.jit(fn)(self.make())
        assert text in str(caught.value)
        assert caught.value.hint or "ADC014" in str(caught.value)

    def assert_gradient(self, loss: Callable[..., Any], remat: str) -> None:
        """The value that a gradient has, call after call."""
        ours, numpys = self.make(), self.make()
        gradient = adc.value_and_grad(loss, remat=remat)
        for _ in range(3):
            assert gradient(W, X, ours)[0] == pytest.approx(loss(W, X, numpys))
            assert self.state(ours) == self.state(numpys)

    def drawn_once(
        self, transformations: Sequence[Callable[[Any], Any]], call: Callable[[Any], Any]
    ) -> list[Any]:
        """What transformations of a function return, each of which draws what one call does."""
        numpys = self.make()
        call(numpys)
        found = []
        for transformed in transformations:
            ours = self.make()
            found.append(transformed(ours))
            assert self.state(ours) == self.state(numpys)
        return found
