"""Names whose kind of value depends on the path: as in Python, never stale.

Each program ran with a wrong value once, or was refused, or is the nearest one that worked.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.frontend.core.bindings import Binding
from adc.frontend.core.state import ConstantNeededError
from adc.frontend.core.structure import HELD
from adc.testing import check_grads
from tests.oracle.chain import Chain, fresh, run

X = np.array([0.7, -1.3, 0.45])
PROGRAMS: list[Callable[[Any], Any]] = []


def works(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS.append(fn)
    return fn


@works
def list_bound_anew_on_one_path(x: Any) -> Any:
    some: list[Any] = []
    for v in x:
        if v > 0:
            some = [v]
    return len(some) + sum(some)


@works
def list_of_one_length_on_both_paths(x: Any) -> Any:
    some = [1.0]
    for v in x:
        if v > 0:
            some = [v]
    return len(some) + sum(some)


@works
def list_emptied_on_one_path(x: Any) -> Any:
    some: list[Any] = []
    for v in x:
        some.append(v)
        if len(some) > 1:
            some = []
    return sum(some) + len(some)


@works
def shorter_list_on_one_path(x: Any) -> Any:
    some = [1.0, 2.0]
    for v in x:
        if v > 0:
            some = [v]
    return len(some) + sum(some)


@works
def dict_bound_anew_on_one_path(x: Any) -> Any:
    d = {}
    for v in x:
        if v > 0:
            d = {"a": v}
    return len(d) + sum(d.values())


@works
def list_made_in_each_iteration(x: Any) -> Any:
    some: list[Any] = []
    for v in x:
        some = []
        if v > 0:
            some.append(v)
    return len(some) + sum(some)


@works
def string_on_one_path(x: Any) -> Any:
    s = "a"
    for v in x:
        if v > 0:
            s = "b"
    return x[0] if s == "b" else x[1]


@works
def none_on_one_path(x: Any) -> Any:
    y = None
    for v in x:
        if v > 0:
            y = v
    return 0.0 if y is None else y


@works
def function_on_one_path(x: Any) -> Any:
    f: Any = np.sin
    for v in x:
        if v > 0.5:
            f = np.cos
    return f(x[0])


@works
def tuple_on_one_path(x: Any) -> Any:
    t: Any = ()
    for v in x:
        if v > 0:
            t = (v,)
    return sum(t)


@works
def keys_on_one_path(x: Any) -> Any:
    d = {"a": 1.0}
    for v in x:
        if v > 0:
            d = {"b": v}
    return sum(d.values())


@works
def string_before_continue_in_while(x: Any) -> Any:
    i = 0
    s = "a"
    while i < 3:
        i += 1
        if x[i - 1] < 0:
            s = "b"
            continue
    return x[0] if s == "b" else x[1]


@works
def string_before_break(x: Any) -> Any:
    s = "a"
    for v in x:
        if v < 0:
            s = "b"
            break
    return x[0] if s == "b" else x[1]


@works
def list_before_break(x: Any) -> Any:
    some: list[Any] = []
    for v in x:
        if v < 0:
            some = [v]
            break
    return sum(some) + len(some)


@works
def string_before_continue(x: Any) -> Any:
    s = "a"
    t = 0.0
    for v in x:
        if v < 0:
            s = "b"
            continue
        t += v if s == "a" else 2 * v
    return t


@works
def string_before_continue_unrolled(x: Any) -> Any:
    s = "a"
    t = 0.0
    for v in (x[0], x[1], x[2]):
        if v < 0:
            s = "b"
            continue
        t += v if s == "a" else 2 * v
    return t


@works
def string_before_continue_or_break(x: Any) -> Any:
    s = "a"
    t = 0.0
    for v in x:
        if v < 0:
            s = "b"
            continue
        if v > 10:
            break
        t += v if s == "a" else 2 * v
    return t


@works
def list_before_continue(x: Any) -> Any:
    some: list[Any] = []
    t = 0.0
    for v in x:
        if v < 0:
            some = [v, v]
            continue
        t += v + sum(some)
    return t


@works
def another_name_before_continue(x: Any) -> Any:
    t = 0.0
    for v in x:
        if v < 0:
            w = "q"
            continue
        w = v
        t += w
    return t


@works
def none_before_continue(x: Any) -> Any:
    t = 0.0
    w = None
    for v in (x[0], x[1], x[2]):
        if v < 0:
            t -= 1
            continue
        w = v
        t += w
    return t


@works
def array_after_continue(x: Any) -> Any:
    i = 0
    t = 0.0
    while i < 3:
        i += 1
        if x[i - 1] < 0:
            continue
        row = x * x[i - 1]
        t += row.sum()
    return t


@pytest.mark.parametrize("fn", PROGRAMS)
def test_kinds(fn: Callable[[Any], Any]) -> None:
    want = fn(X.copy())
    try:
        chain = Chain.of(fn, (X.copy(),), (0,))
    except ConstantNeededError:  # the size of `x` becomes one
        check_grads(fn, (X.copy(),))
        assert float(adc.jit(fn)(X.copy())) == pytest.approx(want, abs=1e-12)
        return
    assert float(run(chain.primal, fresh(chain.inputs))[0]) == pytest.approx(want, abs=1e-12)


def test_every_binding_that_holds_others_says_where() -> None:
    """Else what walks over bindings would miss what it holds."""
    # Inner functions say it by code; numbers and expressions are leaves. A loop's variable is
    # checked before it is anything else, and the results of a pullback are of another function.
    others = {"Num", "Lazy", "Closure", "Late"}
    # What lies in a pool has other names, which nothing walks over.
    theirs = {"Pullback": {"like", "result", "heap"}, "Handle": {"like"}}
    holding = ("Binding", "TupleOf", "RecordOf", "Num", "Operand", "Cell", "Ref")
    for cls in typing.get_args(Binding):
        names = {
            each.name for each in dataclasses.fields(cls)
            if any(word in str(each.type) for word in holding)
        }  # fmt: skip
        if cls.__name__ not in others:
            assert names - theirs.get(cls.__name__, set()) == set(HELD.get(cls, ())), cls
