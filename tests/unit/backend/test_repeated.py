"""Loops that a file has repeatedly become functions, if they can stand alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from adc.backend.common import printer, repeated
from adc.backend.common.syntax import (
    Assign,
    Binary,
    Call,
    Comment,
    Constant,
    Do,
    Element,
    Expr,
    For,
    Function,
    Global,
    If,
    Increase,
    Name,
    Return,
    Stmt,
    Store,
    Tuple,
)
from adc.ir.types import F64, INT, Array, Type

STATE, N, X, Y = Name("state"), Name("n"), Name("x"), Name("y")
STOP = Return(Name("nothing"))


def at(array: str, index: str) -> Element:
    return Element(Name(array), (Name(index),))


def written(body: Sequence[Stmt]) -> str:
    types: dict[str, Type] = {"state": Array("i64", 1), "n": INT, "m": INT, "s": F64, "t": F64}
    types |= {name: Array("f64", 1) for name in ("x", "y", "z")} | dict.fromkeys("ijkl", INT)
    own = Function("f", ("state", "n", "m", "x", "y", "z"), "", (F64,), types, list(body))
    taken = {"f"}
    code = repeated.shared([own], taken)
    assert {each.name for each in code} == taken
    assert all(each.is_loop == (each.name != "f") for each in code)
    return re.sub(r' *""".*\n', "", "\n".join("\n".join(printer.function(fn)) for fn in code))


@pytest.fixture(autouse=True)
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated, "LONG", 0)


def copy(index: str, count: Expr, target: str, source: str, factor: float = 2.0) -> For:
    value = Binary("*", at(source, index), Constant(factor))
    return For(index, (count,), True, [Comment(f"line {index}"), Store(at(target, index), value)])


def test_names_do_not_count() -> None:
    found = written([copy("i", N, "x", "y"), copy("j", Name("m"), "z", "y"), Return(Tuple(()))])
    assert (
        found
        == """\
@njit(**PART)
def f_loop(n, x, y):
    for i in vectorizable(n):
        x[i] = y[i] * 2.0
    return ()
@njit(**OPTIONS)
def f(state, n, m, x, y, z):
    f_loop(n, x, y)
    f_loop(m, z, y)
    return ()"""
    )


def summed(index: str, name: str) -> list[Stmt]:
    poll = If(Call("poll", (STATE, N)), [STOP])
    body: list[Stmt] = [poll, Increase(Name(name), "+", at("x", index))]
    return [Assign(name, Constant(0.0)), For(index, (N,), False, body)]


def test_results_and_early_returns() -> None:
    total = Binary("+", Name("s"), Name("t"))
    found = written([*summed("i", "s"), *summed("j", "t"), Return(Tuple((total,)))])
    assert (
        found
        == """\
@njit(**PART)
def f_loop(n, state, s, x):
    for i in range(n):
        if poll(state, n):
            return (0.0,)
        s += x[i]
    return (s,)
@njit(**OPTIONS)
def f(state, n, m, x, y, z):
    s = 0.0
    s, = f_loop(n, state, s, x)
    if state[STATUS] != 0:
        return nothing
    t = 0.0
    t, = f_loop(n, state, t, x)
    if state[STATUS] != 0:
        return nothing
    return (s + t,)"""
    )


def reused(index: str) -> For:
    made = Call("reuse", (X, Tuple((N,))))
    return For(index, (N,), False, [Assign("z", made), Store(at("z", index), Constant(1.0))])


@pytest.mark.parametrize(
    "pair",
    [
        [copy("i", N, "x", "y"), copy("j", N, "x", "y", 3.0)],
        [copy("i", N, "x", "y"), copy("j", N, "x", "x")],
        [copy("i", Constant(4), "x", "y"), copy("j", Constant(4), "z", "y")],
        [reused("i"), reused("j")],
        [For(i, (N,), False, [Do(Call("parallel_for", (STATE, Global("f"))))]) for i in "ij"],
        # Arrays of other types.
        [copy("i", N, "x", "y"), copy("j", N, "x", "state")],
    ],
)
def test_these_stay(pair: list[Stmt]) -> None:
    assert "f_loop" not in written(pair)


def test_of_nested_loops_the_outer_ones() -> None:
    nests: list[Stmt] = [For(k, (N,), False, [copy(i, N, "x", "y")]) for k, i in ("ki", "lj")]
    assert written(nests).count("f_loop(") == 3


def test_short_files_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated, "LONG", 100)
    assert "f_loop" not in written([copy("i", N, "x", "y"), copy("j", N, "x", "y")])
