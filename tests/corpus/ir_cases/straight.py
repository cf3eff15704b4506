"""Cases without control flow: numbers and arrays."""

from __future__ import annotations

import numpy as np

from tests.corpus.ir_cases.case import A33, X4, Y4, case

# --- straight line --------------------------------------------------------------------------------

case(
    "identity",
    """
fn f(%x: f64) -> f64 {
  return %x
}""",
    0.7,
)

case(
    "constant",
    """
fn f(%x: f64, %a: f64[:]) -> f64 {
  %n = floor %x
  return %n
}""",
    0.7,
    X4,
    wrt=(0, 1),
)

case(
    "a_value_used_often",
    """
fn f(%x: f64, %y: f64) -> f64 {
  %a = mul %x %y
  %b = sin %a
  %c = truediv %b %a
  %d = add %c %a
  %e = sub %d %x
  %g = mul %e %e
  return %g
}""",
    0.7,
    1.9,
    wrt=(0, 1),
)

case(
    "rules_that_need_results",
    """
fn f(%x: f64, %y: f64) -> f64 {
  %a = exp %x
  %b = tanh %a
  %c = sqrt %y
  %d = pow %c %b
  %e = log %d
  %g = atan2 %e %c
  %h = hypot %g %x
  %k = logaddexp %h %y
  %m = mod %k 0.8:f64
  return %m
}""",
    0.7,
    1.9,
    wrt=(0, 1),
)

case(
    "weak_numbers",
    """
fn f(%x: float, %y: float) -> float {
  %a = mul %x %y
  %b = sin %a
  %c = mul %b 3.0
  %d = cast[f64] %c
  %e = mul %d %x
  %g = cast[float] %e
  return %g
}""",
    0.7,
    1.9,
    wrt=(0, 1),
)

case(
    "unused_results",
    """
fn f(%x: f64, %a: f64[:]) -> f64 {
  %u = exp %x
  %v = load %a[1]
  %w = mul %u %v
  %a.1 = store %a[0] %w
  %s = sin %x
  return %s
}""",
    0.7,
    X4,
    wrt=(0, 1),
)

case(
    "auxiliary_results",
    """
fn f(%x: f64, %a: f64[:]) -> f64, i64, f64[:], f64 {
  %k = cast[i64] %x
  %v = load %a[2]
  %w = mul %x %v
  %a.1 = store %a[0] %w
  return %w %k %a.1 3.0:f64
}""",
    2.7,
    X4,
    wrt=(0, 1),
)

case(
    "selects",
    """
fn f(%x: f64, %y: f64) -> f64 {
  %c = lt %x %y
  %a = select %c %x %y
  %b = select %c 2.0:f64 %x
  %d = maximum %a %b
  %e = minimum %x %d
  %g = abs %e
  %s = mul %d %g
  %t = mul %s %a
  return %t
}""",
    0.7,
    1.9,
    wrt=(0, 1),
)

case(
    "dtypes",
    """
fn f(%x: f64, %k: i64) -> f64 {
  %a = cast[f64] %k
  %b = mul %a %x
  %n = cast[i64] %b
  %m = cast[f64] %n
  %c = mul %m %b
  return %c
}""",
    0.7,
    9,
)

# --- arrays ---------------------------------------------------------------------------------------

case(
    "overwrite",
    """
fn f(%a: f64[:], %x: f64) -> f64 {
  %u = load %a[0]
  %v = mul %u %x
  %a.1 = store %a[0] %v
  %w = load %a.1[0]
  %s = sin %w
  %a.2 = store %a.1[1] %s
  %a.3 = accumulate %a.2[1] %w
  %p = load %a.3[1]
  %q = load %a.3[2]
  %r = load %a[0]
  %t = mul %p %q
  %z = mul %t %r
  return %z
}""",
    X4,
    1.7,
    wrt=(0, 1),
)

case(
    "any_layout",
    """
fn f(%a: f64[:]A, %x: f64) -> f64 {
  %a.1 = store %a[1] %x
  %u = load %a.1[1]
  %v = load %a.1[2]
  %w = mul %u %v
  %b = copy %a.1
  %b.1 = accumulate %b[2] %w
  %z = load %b.1[2]
  %y = mul %z %z
  return %y
}""",
    np.repeat(X4, 2)[::2],
    1.7,
    wrt=(0, 1),
)

case(
    "copies_and_totals",
    """
fn f(%a: f64[:, :], %x: f64) -> f64 {
  %n = dim[0] %a
  %b = copy %a
  %v = load %b[0, 1]
  %s = mul %v %x
  %b.1 = store %b[0, 1] %s
  %g = full[f64] %x %n 2
  %t = total %b.1
  %u = total %g
  %w = mul %t %u
  %z = load %a[0, 1]
  %y = mul %w %z
  return %y
}""",
    A33,
    1.7,
    wrt=(0, 1),
)

case(
    "whole_array_arithmetic",
    """
fn f(%a: f64[:], %b: f64[:]) -> f64 {
  %c = mul %a %b
  %d = add %c %a
  %e = sub %d %b
  %g = neg %e
  %h = mul %g %c
  %t = total %h
  return %t
}""",
    X4,
    Y4,
    wrt=(0, 1),
)

case(
    "one_array_twice",
    """
fn f(%a: f64[:]) -> f64 {
  %u = load %a[0]
  %s = sin %u
  %b = store %a[1] %s
  %c = store %a[2] %s
  %t = total %b
  %v = load %c[1]
  %w = mul %t %v
  %z = total %c
  %y = mul %w %z
  return %y
}""",
    X4,
)
