"""Arrays in parts: their tables, and matrices that products read where they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adc.backend import cpu
from adc.backend.common.emit import emit
from adc.backend.python import interpret
from adc.backend.runtime import layouts
from adc.ir.core import Function
from adc.ir.text.parser import parse
from adc.ir.types import Array

PRODUCT = """
fn f(%w: f64[:, :, :], %x: f64[:, :], %k: int, %n: int, %m: int) -> f64[:, :] {
  %p = dim[0] %x
  %a = part[1] %w %k %n %m
  %c = empty[f64] %p %m
  gemm[nn] %c %x %a
  return %c
}
"""
ELEMENTS = """
fn f(%w: f64[:, :, :], %k: int) -> f64 {
  %n = dim[1] %w
  %m = dim[2] %w
  %s = for L0 %i in 0 to %n carrying (%s.1 = 0.0:f64) {
    %s.2 = for L1 %j in 0 to %m carrying (%s.3 = %s.1) {
      %v = load %w[%k, %i, %j]
      %s.4 = add %s.3 %v
      yield %s.4
    }
    yield %s.2
  }
  return %s
}
"""
WHOLE = """
fn f(%w: f64[:, :, :], %k: int) -> f64[:, :, :] {
  %a = copy %w
  return %a
}
"""
W = np.arange(40.0).reshape(2, 4, 5)


def in_parts(fn: Function) -> cpu.Kernel:
    """Return a kernel that takes its first argument in parts."""
    emitted = emit(fn, apart=(0,))
    return cpu.Kernel(emitted, cpu.build(emitted))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("make", [cpu.compile, interpret, in_parts])
@pytest.mark.parametrize("size", [(4, 5), (4, 3), (2, 3), (0, 2)])
def test_a_part_of_other_sizes_is_copied(make: Any, size: tuple[int, int]) -> None:
    kernel = make(parse(PRODUCT))
    x = np.arange(12.0).reshape(3, 4)[:, : size[0]].copy()
    given = list(W) if make is in_parts else W
    (found,) = kernel(given, x, 1, *size)
    np.testing.assert_array_equal(found, x @ W[1][: size[0], : size[1]])


def test_elements_of_parts() -> None:
    kernel = in_parts(parse(ELEMENTS))
    assert kernel.emitted.tables == (0,)
    parts = [W[1].copy(), W[0].copy(), W[1] * 2.0]
    for k, part in enumerate(parts):
        assert kernel(parts, k) == (float(np.sum(part)),)


def test_what_is_read_whole_is_no_table() -> None:
    kernel = in_parts(parse(WHOLE))
    assert kernel.emitted.tables == ()
    (found,) = kernel(W, 1)
    np.testing.assert_array_equal(found, W)


@pytest.mark.parametrize(
    "parts",
    [
        [W[0].copy(), np.ones((4, 4))],
        [W[0].copy(), W[0].astype(np.float32)],
        [W[0].copy(), W[0].T],
        [W[0].copy(), W[0][None]],
        [W[0].copy(), [1.0]],
        [np.ones((4, 1))] * 2,
    ],
)
def test_parts_that_are_not_alike(parts: Any) -> None:
    with pytest.raises(ValueError, match="not alike"):
        layouts.addresses(Array("f64", 3))(parts)


def test_tables_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [W[0].copy(), W[1].copy()]
    wanted = layouts.addresses(Array("f64", 3))(parts)
    assert wanted[:3].tolist() == [2, 4, 5]
    assert wanted[3:].tolist() == [part.ctypes.data for part in parts]
    monkeypatch.setattr(layouts, "_native", lambda: None)
    np.testing.assert_array_equal(layouts.addresses(Array("f64", 3))(parts), wanted)
    with pytest.raises(ValueError, match="not alike"):
        layouts.addresses(Array("f64", 3))([W[0].copy(), np.ones((4, 4))])
