"""What rows do to complex numbers (`OpDef.parts`): NumPy's values, in the trait and in the pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adc.ir import interp
from adc.ir.core import Function, Value
from adc.ir.opdef import OPS, OpDef
from adc.ir.rules import parts_rule
from adc.ir.text.parser import parse
from adc.ir.types import Scalar, parse_type, promote
from adc.passes.numbers.split_complex import split_complex

RNG = np.random.default_rng(5)
C128 = Scalar("c128")
ROWS = [op for op in OPS.values() if op.parts is not None]
# Their operands are not all complex.
OTHERS = {"complex": ("f64", "f64"), "select": ("b1", "c128", "c128")}


def evaluated(op: OpDef, types: tuple[Scalar, ...], args: list[Any]) -> tuple[Any, ...]:
    """Return the parts of the result that the trait gives."""
    rule = parts_rule(op, types)
    flat = [x for arg in args for x in ((arg.real, arg.imag) if np.iscomplexobj(arg) else (arg,))]
    results = tuple([out for out in rule.outputs if out is not None])
    return interp.run(Function("f", rule.params, rule.stmts, results), flat)


@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
@pytest.mark.parametrize("single", [False, True])
def test_values(op: OpDef, single: bool) -> None:
    names = OTHERS.get(op.name, ("c128",) * op.arity)
    if single:
        names = tuple([{"c128": "c64", "f64": "f32"}.get(name, name) for name in names])
    types = tuple([Scalar(name) for name in names])
    for scale in (0.4, 3.0):
        args: list[Any] = []
        for ty in types:
            number = complex(*(scale * RNG.normal(size=2)))
            kind = {"b": bool(RNG.integers(2)), "f": number.real}.get(ty.kind, number)
            args.append(ty.numpy.type(kind))
        found = evaluated(op, types, args)
        with np.errstate(all="ignore"):
            wanted = op.evaluate(*args)
        parts = (wanted.real, wanted.imag) if np.iscomplexobj(wanted) else (wanted,)
        np.testing.assert_allclose(found, parts, rtol=2e-5 if single else 1e-12, atol=1e-14)


TEXT = """
fn f(%x: f64[:], %n: int, %c: bool) -> f64, f64[:] {
  %z = complex %x %x
  %w = empty[c128] %n
  %u = full[c128] 1.0-2.0j:c128 %n
  %w.1, %s.1 = for L0 %i in 0 to %n carrying (%w.0 = %w, %s = 0.0+0.0j:c128) {
    %a = load %z[%i]
    %k = sub %n 1
    %b = load %u[%k]
    %p = mul %a %b
    %q = if %c {
      yield %p
    } else {
      %d = truediv %a %b
      yield %d
    }
    %w.2 = store %w.0[%i] %q
    %s.2 = sum %s %q
    yield %w.2 %s.2
  }
  %v = copy %w.1
  %e = cast[c64] %s.1
  %f = cast[c128] %e
  %m = modulus %f
  %r = imag %v
  return %m %r
}
"""


@pytest.mark.parametrize("choice", [False, True])
def test_statements(choice: bool) -> None:
    fn = parse(TEXT)
    assert parse(str(fn)) == fn
    done = split_complex(fn)
    assert "c128" not in str(done)
    assert parse(str(done)) == done
    assert split_complex(done) is done
    x = RNG.normal(size=4)
    for before, after in zip(
        interp.run(fn, [x, 4, choice]), interp.run(done, [x, 4, choice]), strict=True
    ):
        np.testing.assert_allclose(after, before, rtol=1e-7)


def test_messages() -> None:
    text = """
fn f(%x: float) -> float {
  %z = complex %x 2.0
  print "{{}} {} {!r} {:.1f}" %x %z %z
  return %x
}
"""
    done = str(split_complex(parse(text)))
    assert r'print "{{}} {} ({!r:}{!r:+}j) ({:.1f}{:+.1f}j)"' in done


def test_what_is_stored_where_it_was_changes_nothing() -> None:
    text = """
fn f(%x: f64[:]) -> f64[:], f64[:] {
  %z = complex %x %x
  %a = load %z[0]
  %i = imag %a
  %b = complex 3.0:f64 %i
  %w = store %z[0] %b
  %re = real %w
  %im = imag %w
  return %re %im
}
"""
    assert str(split_complex(parse(text))).count("store") == 1


def test_types() -> None:
    for text in ("c64", "c128", "complex", "c128[:, :]A"):
        assert str(parse_type(text)) == text
    assert parse_type("complex").part == parse_type("float")
    weak = parse_type("complex")
    assert isinstance(weak, Scalar)
    assert promote(Scalar("f32"), weak) == Scalar("c64")
    assert promote(Scalar("i64"), Scalar("c64")) == C128
    assert str(Value("x", weak).type) == "complex"
