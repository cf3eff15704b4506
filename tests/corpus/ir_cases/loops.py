"""Cases of `for`."""

from __future__ import annotations

from tests.corpus.ir_cases.case import A33, X4, case

# --- for ------------------------------------------------------------------------------------------

case(
    "sum_of_sines",
    """
fn f(%x: f64[:], %w: f64) -> f64 {
  %n = dim[0] %x
  %s = for L %i in 0 to %n carrying (%acc = 0.0:f64) {
    %v = load %x[%i]
    %t = mul %v %w
    %u = sin %t
    %acc.1 = add %acc %u
    yield %acc.1
  }
  %r = mul %s %w
  return %r
}""",
    X4,
    1.7,
    wrt=(0, 1),
)

case(
    "nonlinear_state",
    """
fn f(%x: f64, %w: f64) -> f64 {
  %s, %p = for L %i in 0 to 5 carrying (%a = %x, %b = 1.0:f64) {
    %t = mul %a %w
    %u = sin %t
    %v = mul %b %a
    %k = cast[f64] %i
    %z = mul %v %k
    %y = add %z %u
    yield %u %y
  }
  %r = add %s %p
  return %r
}""",
    0.7,
    1.7,
    wrt=(0, 1),
)

case(
    "triangular_loops",
    """
fn f(%x: f64[:], %w: f64) -> f64 {
  %n = dim[0] %x
  %s = for L %i in 0 to %n carrying (%acc = 0.0:f64) {
    %i.1 = add %i 1
    %v = load %x[%i]
    %q = for M %j in 0 to %i.1 carrying (%in = %acc) {
      %z = load %x[%j]
      %t = mul %v %z
      %u = mul %t %w
      %in.1 = mul %in 0.5:f64
      %y = cos %in
      %in.2 = add %in.1 %u
      %in.3 = add %in.2 %y
      yield %in.3
    }
    yield %q
  }
  return %s
}""",
    X4,
    1.7,
    wrt=(0, 1),
)

case(
    "zero_trips",
    """
fn f(%x: f64[:], %w: f64, %n: i64) -> f64 {
  %s, %y = for L %i in 0 to %n carrying (%a = %w, %b = %x) {
    %v = load %b[%i]
    %t = mul %v %a
    %b.1 = store %b[%i] %t
    yield %t %b.1
  }
  %u = load %y[0]
  %r = mul %s %u
  return %r
}""",
    X4,
    1.7,
    0,
    wrt=(0, 1),
)

case(
    "in_place_recurrence",
    """
fn f(%x: f64[:]) -> f64 {
  %n = dim[0] %x
  %m = sub %n 1
  %y = for L %i in 0 to %m carrying (%a = %x) {
    %j = add %i 1
    %u = load %a[%i]
    %v = load %a[%j]
    %s = sin %u
    %t = mul %s %v
    %a.1 = store %a[%j] %t
    %a.2 = accumulate %a.1[%i] %v
    yield %a.2
  }
  %t.1 = total %y
  %z = load %y[3]
  %r = mul %t.1 %z
  return %r
}""",
    X4,
)

case(
    "swapped_arrays",
    """
fn f(%x: f64[:], %w: f64) -> f64 {
  %n = dim[0] %x
  %o = full[f64] 0.0:f64 %n
  %p, %q = for L %k in 0 to 3 carrying (%a = %x, %b = %o) {
    %b.2 = for M %i in 0 to %n carrying (%b.1 = %b) {
      %v = load %a[%i]
      %j = sub %n %i
      %j.1 = sub %j 1
      %u = load %a[%j.1]
      %t = mul %u %w
      %s = sin %t
      %z = add %s %v
      %b.3 = store %b.1[%i] %z
      yield %b.3
    }
    yield %b.2 %a
  }
  %c = load %p[1]
  %d = load %q[2]
  %r = mul %c %d
  return %r
}""",
    X4,
    1.7,
    wrt=(0, 1),
)

case(
    "outer_array_in_nested_loops",
    """
fn f(%a: f64[:, :], %x: f64[:]) -> f64 {
  %n = dim[0] %a
  %h = empty[f64] %n
  %h.3 = for L %i in 0 to %n carrying (%h.1 = %h) {
    %d = load %x[%i]
    %s = for M %j in 0 to %n carrying (%acc = %d) {
      %u = load %a[%i, %j]
      %v = load %x[%j]
      %t = mul %u %v
      %acc.1 = add %acc %t
      yield %acc.1
    }
    %y = tanh %s
    %h.2 = store %h.1[%i] %y
    yield %h.2
  }
  %r = for N %k in 0 to %n carrying (%b = 1.0:f64) {
    %u.1 = load %h.3[%k]
    %w = load %x[%k]
    %z = mul %u.1 %b
    %b.1 = add %z %w
    yield %b.1
  }
  return %r
}""",
    A33,
    X4[:3],
    wrt=(0, 1),
)

case(
    "matrix_times_itself",
    """
fn f(%a: f64[:, :]) -> f64 {
  %n = dim[0] %a
  %m = dim[1] %a
  %c = full[f64] 0.0:f64 %n %m
  %c.7 = for L %i in 0 to %n carrying (%c.1 = %c) {
    %c.6 = for M %j in 0 to %m carrying (%c.2 = %c.1) {
      %c.5 = for N %k in 0 to %n carrying (%c.3 = %c.2) {
        %u = load %a[%i, %k]
        %v = load %a[%k, %j]
        %t = mul %u %v
        %c.4 = accumulate %c.3[%i, %j] %t
        yield %c.4
      }
      yield %c.5
    }
    yield %c.6
  }
  %d = mul %c.7 %c.7
  %r = total %d
  return %r
}""",
    A33,
)

case(
    "arrays_of_changing_shape",
    """
fn f(%x: f64[:]) -> f64 {
  %y = for L %i in 0 to 3 carrying (%a = %x) {
    %n = dim[0] %a
    %m = add %n 1
    %b = full[f64] 0.5:f64 %m
    %b.3 = for M %j in 0 to %n carrying (%b.1 = %b) {
      %v = load %a[%j]
      %s = sin %v
      %b.2 = accumulate %b.1[%j] %s
      yield %b.2
    }
    yield %b.3
  }
  %t = total %y
  %r = mul %t %t
  return %r
}""",
    X4,
)

case(
    "arrays_made_in_a_loop",
    """
fn f(%x: f64[:], %w: f64) -> f64 {
  %n = dim[0] %x
  %s = for L %i in 0 to %n carrying (%acc = %w) {
    %b = full[f64] %acc 3
    %v = load %x[%i]
    %b.1 = store %b[1] %v
    %b.2 = accumulate %b.1[2] %v
    %t = total %b.2
    %q = mul %b.2 %b.2
    %z = load %q[2]
    %u = mul %t %z
    %w.1 = mul %u 0.1:f64
    %y = sin %w.1
    yield %y
  }
  return %s
}""",
    X4,
    1.7,
    wrt=(0, 1),
)

case(
    "yields_from_outside",
    """
fn f(%x: f64[:], %w: f64) -> f64 {
  %u = sin %w
  %b, %c, %s = for L %i in 0 to 3 carrying (%b.1 = 1.0:f64, %c.1 = %x, %t = %w) {
    %v = load %c.1[%i]
    %p = mul %v %b.1
    %q = mul %p %t
    yield %u %x %q
  }
  %z = load %c[1]
  %r.1 = mul %z %b
  %r = mul %r.1 %s
  return %r
}""",
    X4,
    1.7,
    wrt=(0, 1),
)

case(
    "unused_carried_values",
    """
fn f(%x: f64, %w: f64) -> f64 {
  %a, %b, %c = for L %i in 0 to 4 carrying (%a.1 = %x, %b.1 = %w, %c.1 = 0) {
    %u = sin %b.1
    %v = mul %u %a.1
    %k = add %c.1 %i
    yield %v %u %k
  }
  return %a
}""",
    0.7,
    1.7,
    wrt=(0, 1),
)
