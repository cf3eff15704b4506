"""Strings: methods, slices and numbers in them, and what they raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import UnsupportedError

X = np.array([0.5, 1.5, -2.0])


def _missing(x: Any) -> Any:
    return x[0] * "abc".index("z")


def _beyond(x: Any) -> Any:
    return x[0] * len("abc"[5])


def _no_number(x: Any) -> Any:
    return x[0] * int("x{}")


def _wrong(x: Any) -> Any:
    return x[0] * len("abc".split(""))


@pytest.mark.parametrize("fn", [_missing, _beyond, _no_number, _wrong])
def test_errors_are_pythons(fn: Callable[[Any], Any]) -> None:
    with pytest.raises((ValueError, IndexError)) as wanted:
        fn(X)
    with pytest.raises(wanted.type) as found:
        adc.jit(fn, target="python")(X)
    assert str(found.value).startswith(str(wanted.value))


def test_a_string_of_numbers_known_only_at_run_time() -> None:
    def program(x: Any) -> Any:
        return x[0] * "a1b2".find(str(int(x[1])))

    with pytest.raises(UnsupportedError, match=r"`str\.find` with these arguments") as caught:
        adc.jit(program, target="python")(X)
    assert caught.value.hint == "strings must be known when the program is compiled"


def test_bytes_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"`str\.encode`"):
        adc.jit(lambda x: x[0] * len("abc".encode()), target="python")(X)  # noqa: UP012 - the method
