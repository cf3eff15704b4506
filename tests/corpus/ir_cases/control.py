"""Cases of `if`, `while` and calls."""

from __future__ import annotations

from tests.corpus.ir_cases.case import A33, X4, Y4, case

# --- if -------------------------------------------------------------------------------------------

case(
    "if_in_a_loop",
    """
fn f(%x: f64[:], %w: f64) -> f64 {
  %n = dim[0] %x
  %s = for L %i in 0 to %n carrying (%acc = 1.0:f64) {
    %v = load %x[%i]
    %c = gt %v 0.0:f64
    %p = if %c {
      %a = mul %v %w
      %b = mul %a %acc
      yield %b
    } else {
      %d = lt %acc 5.0:f64
      %e = if %d {
        %g = load %x[0]
        %h = exp %g
        yield %h
      } else {
        yield %acc
      }
      yield %e
    }
    %acc.1 = add %acc %p
    yield %acc.1
  }
  return %s
}""",
    X4,
    1.7,
    wrt=(0, 1),
)

case(
    "arrays_in_arms",
    """
fn f(%x: f64[:], %y: f64[:], %w: f64) -> f64 {
  %c = gt %w 0.0:f64
  %n = dim[0] %x
  %a, %b, %s = if %c {
    %v = load %y[1]
    %q = mul %v %w
    %x.1 = store %x[0] %q
    yield %x.1 %y %w
  } else {
    yield %y %x 2.0:f64
  }
  %d = for L %i in 0 to %n carrying (%d.1 = %a) {
    %e = gt %i 1
    %g = if %e {
      %h = load %b[%i]
      %k = mul %h %s
      %d.2 = accumulate %d.1[%i] %k
      yield %d.2
    } else {
      yield %d.1
    }
    yield %g
  }
  %t = total %d
  %z = load %x[1]
  %r.1 = mul %t %t
  %r = mul %r.1 %z
  return %r
}""",
    X4,
    Y4,
    1.7,
    wrt=(0, 1, 2),
)

case(
    "fresh_arrays_in_arms",
    """
fn f(%x: f64[:], %w: f64) -> f64 {
  %s = for L %i in 0 to 4 carrying (%acc = 1.0:f64) {
    %c = lt %i 2
    %v = load %x[%i]
    %a = if %c {
      %u = mul %v %w
      %b = full[f64] %u 2
      yield %b
    } else {
      %d = copy %x
      %e = mul %v %acc
      %d.1 = store %d[1] %e
      yield %d.1
    }
    %t = total %a
    %y = sin %t
    %acc.1 = add %acc %y
    yield %acc.1
  }
  return %s
}""",
    X4,
    1.7,
    wrt=(0, 1),
)

case(
    "if_without_influence",
    """
fn f(%x: f64, %k: i64) -> f64 {
  %c = gt %k 3
  %n, %m = if %c {
    %a = add %k 1
    yield %a 2.0:f64
  } else {
    yield %k 3.0:f64
  }
  check %c ValueError "small"
  %u = cast[f64] %n
  %v = mul %u %x
  %r = mul %v %m
  return %r
}""",
    0.7,
    7,
)

# --- while ----------------------------------------------------------------------------------------

case(
    "newton",
    """
fn f(%x: f64) -> f64 {
  %y, %k = while L carrying (%a = %x, %i = 0) {
    %q = truediv %x %a
    %s = add %a %q
    %h = mul %s 0.5:f64
    %j = add %i 1
    %e = mul %h %h
    %d = sub %e %x
    %m = abs %d
    %big = gt %m 0.0001:f64
    %few = lt %j 4
    %again = and %big %few
    again %again %h %j
  }
  %r = mul %y %x
  return %r
}""",
    7.3,
)

case(
    "break_flags",
    """
fn f(%x: f64[:], %w: f64) -> f64 {
  %n = dim[0] %x
  %s, %z, %end = while L carrying (%acc = 0.0:f64, %a = %x, %i = 0) {
    %c = lt %i %n
    %go, %acc.3, %a.3, %i.3 = if %c {
      %v = load %a[%i]
      %t = mul %v %w
      %acc.1 = add %acc %t
      %stop = gt %acc.1 0.6:f64
      %go.1, %acc.4, %a.2 = if %stop {
        %u = mul %acc.1 %v
        yield false %u %a
      } else {
        %y = sin %t
        %a.1 = store %a[%i] %y
        yield true %acc.1 %a.1
      }
      %j = add %i 1
      yield %go.1 %acc.4 %a.2 %j
    } else {
      yield false %acc %a %i
    }
    again %go %acc.3 %a.3 %i.3
  }
  %p = load %z[1]
  %q = mul %p %s
  return %q
}""",
    X4,
    1.7,
    wrt=(0, 1),
)

case(
    "while_in_for",
    """
fn f(%x: f64[:], %w: f64) -> f64 {
  %n = dim[0] %x
  %s = for L %i in 0 to %n carrying (%acc = %w) {
    %v = load %x[%i]
    %y, %k = while M carrying (%b = %acc, %j = 0) {
      %p = load %x[%j]
      %t = mul %b %p
      %u = cos %t
      %z = add %u %v
      %j.1 = add %j 1
      %again = lt %j.1 %i
      again %again %z %j.1
    }
    yield %y
  }
  return %s
}""",
    X4,
    1.7,
    wrt=(0, 1),
)

# --- calls ----------------------------------------------------------------------------------------

case(
    "recursive_sum",
    """
fn sines(%x: f64[:], %lo: int, %hi: int) -> f64 {
  %d = ge %lo %hi
  %r = if %d {
    yield 0.0:f64
  } else {
    %v = load %x[%lo]
    %s = sin %v
    %next = add %lo 1
    %rest = call C sines(%x, %next, %hi)
    %t = mul %s %rest
    %u = add %t %s
    yield %u
  }
  return %r
}

fn f(%x: f64[:]) -> f64 {
  %n = dim[0] %x
  %r = call C sines(%x, 0, %n)
  return %r
}""",
    X4,
)

case(
    "recursion_of_the_function_itself",
    """
fn f(%x: f64, %n: int, %w: f64) -> f64 {
  %d = le %n 0
  %r = if %d {
    yield %x
  } else {
    %m = sub %n 1
    %s = sin %x
    %a = call C f(%s, %m, %w)
    %m.1 = sub %n 2
    %b = call D f(%a, %m.1, 2.0:f64)
    %t = mul %a %b
    %u = mul %t %w
    yield %u
  }
  return %r
}""",
    0.7,
    3,
    1.7,
    wrt=(0, 2),
)

case(
    "calls_that_write",
    """
fn step(%a: f64[:], %b: f64[:], %x: f64, %k: int) -> f64[:], f64, f64 {
  %u = load %b[%k]
  %v = mul %u %x
  %s = sin %v
  %a.1 = accumulate %a[%k] %s
  %w = load %a.1[0]
  %z = mul %w %x
  return %a.1 %z %u
}

fn f(%x: f64[:], %y: f64[:]) -> f64 {
  %n = dim[0] %x
  %p, %q = for L %i in 0 to %n carrying (%a = %x, %c = 0.3:f64) {
    %b, %d, %e = call C step(%a, %y, %c, %i)
    yield %b %d
  }
  %g, %h, %k = call D step(%p, %p, %q, 1)
  %l, %m, %o = call E step(%g, %x, 1.5:f64, 2)
  %t = total %l
  %r.1 = mul %t %h
  %r = mul %r.1 %k
  return %r
}""",
    X4,
    Y4,
    wrt=(0, 1),
)

case(
    "one_array_for_two_parameters",
    """
fn dot(%a: f64[:], %b: f64[:], %k: int) -> f64 {
  %u = load %a[%k]
  %v = load %b[2]
  %s = mul %u %v
  return %s
}

fn f(%x: f64[:]) -> f64 {
  %p = call C dot(%x, %x, 1)
  %y = store %x[0] %p
  %q = call D dot(%y, %x, 0)
  %z = full[f64] 2.0:f64 4
  %o = call E dot(%z, %y, 3)
  %r.1 = add %q %p
  %r = mul %r.1 %o
  return %r
}""",
    X4,
)

case(
    "mutual_recursion",
    """
fn even(%x: f64, %n: int) -> f64 {
  %c = gt %n 0
  %r = if %c {
    %m = sub %n 1
    %s = sin %x
    %t = call C odd(%s, %m, %x)
    yield %t
  } else {
    yield %x
  }
  return %r
}

fn odd(%x: f64, %n: int, %w: f64) -> f64 {
  %m = sub %n 1
  %u = mul %x %w
  %r = call C even(%u, %m)
  %v = mul %r %x
  return %v
}

fn f(%x: f64) -> f64 {
  %r = call C even(%x, 4)
  return %r
}""",
    0.7,
)

case(
    "products_into_arrays_that_are_read",
    """
fn f(%x: f64[:, :], %w: f64[:, :]) -> f64, f64[:, :] {
  %a = copy %x
  %a.1 = gemm[nn, add] %a %a %a
  %a.2 = gemm[tn, add] %a.1 %a %w
  %a.3 = gemm[nt] %a.2 %a.1 %a.1
  %v = load %a.2[0, 1]
  %a.4 = store %a.3[1, 1] %v
  %a.5 = gemm[tt, add] %a.4 %a.4 %x
  %s = total %a.5
  %t = load %a.1[2, 0]
  %r = mul %s %t
  return %r %a.5
}""",
    A33,
    A33.T @ A33,
    wrt=(0, 1),
)

case(
    "products_in_loops_and_branches",
    """
fn g(%c: f64[:, :], %a: f64[:, :], %b: f64[:, :]) -> f64[:, :] {
  %c.1 = gemm[nt, add] %c %a %b
  return %c.1
}

fn f(%x: f64[:, :], %w: f64[:, :], %n: int) -> f64 {
  %m = dim[0] %x
  %o = full[f64] 0.5:f64 %m %m
  %p, %q = for L %i in 0 to %n carrying (%c = %o, %d = %x) {
    %k = eq %i 1
    %c.1 = if %k {
      %c.2 = gemm[nn, add] %c %d %w
      yield %c.2
    } else {
      %e = empty[f64] %m %m
      %e.1 = gemm[tn] %e %d %c
      yield %e.1
    }
    %d.1 = call C g(%d, %c.1, %c.1)
    %v = load %d.1[1, 2]
    %d.2 = store %d.1[0, 0] %v
    yield %d.2 %c.1
  }
  %z = gemm[nn] %o %p %q
  %s = total %z
  %t = load %p[0, 1]
  %u = mul %s %t
  return %u
}""",
    A33 * 0.5,
    A33.T,
    3,
    wrt=(0, 1),
)
