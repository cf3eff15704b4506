"""Programs in the text form of the IR with sample arguments, for tests of the derivative passes.

Every program is smooth around its sample. `wrt` are the positions to differentiate; the first
result is the one that has a gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.ir.core import Function
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.ir.verifier import verify

X4 = np.array([0.7, -1.3, 0.45, 1.1])
Y4 = np.array([-0.2, 0.9, 1.6, -0.8])
A33 = np.array([[0.3, -0.7, 1.2], [0.9, 0.4, -0.5], [-1.1, 0.8, 0.6]])


@dataclass(frozen=True)
class Case:
    """A program, arguments to run it with, and the positions to differentiate."""

    name: str
    text: str
    args: tuple[Any, ...]
    wrt: tuple[int, ...]

    def function(self) -> Function:
        return verify(parse(self.text))

    def __str__(self) -> str:
        return self.name


CASES: list[Case] = []


def case(name: str, text: str, *args: Any, wrt: tuple[int, ...] = (0,)) -> None:
    CASES.append(Case(name, text, args, wrt))


def directions(case: Case, seed: int = 0) -> list[Any]:
    """Return a random direction for each differentiated argument."""
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.uniform(-1, 1, np.shape(case.args[k])))[()] for k in case.wrt]


def moved(case: Case, along: list[Any], step: float) -> list[Any]:
    """Return the arguments, moved by `step` along the directions."""
    args = list(case.args)
    for k, direction in zip(case.wrt, along, strict=True):
        args[k] = args[k] + step * direction
    return args


def difference(fn: Function, case: Case, along: list[Any], args: tuple[Any, ...] = ()) -> list[Any]:
    """Return the derivatives of the results of `fn` along a direction, by differences.

    Fourth order, so that its error is far below the tolerance of the tests; `args` follow the
    arguments of the case.
    """
    h = 1e-3
    values = [run(fn, [*moved(case, along, k * h), *args]) for k in (-2, -1, 1, 2)]
    return [(a - 8.0 * b + 8.0 * c - d) / (12.0 * h) for a, b, c, d in zip(*values, strict=True)]


def inner(a: Any, b: Any) -> float:
    return float(np.sum(np.asarray(a) * np.asarray(b)))


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
