"""The cost model: its numbers, its formulas, what it predicts, and what plans make of it."""

from __future__ import annotations

import doctest
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adc.compiler.driver import transform
from adc.ir.analysis import costs as costs_module
from adc.ir.analysis.costs import SHIPPED, Costs, Nest, estimate
from adc.ir.core import Apply, Call, Function, Pop, Value, While, walk
from adc.ir.opdef import OPS
from adc.ir.text.parser import parse
from adc.ir.types import F64, I64, Array
from adc.passes.remat.plan import KEPT
from adc.passes.remat.remat import rematerialize
from tests.corpus.program import Program
from tests.corpus.programs import differentiable
from tests.oracle import chain as chains

# Numbers that are easy to calculate with.
SIMPLE = Costs(
    operation=1.0,
    load=2.0,
    store=3.0,
    load_memory=20.0,
    store_memory=30.0,
    scatter=50.0,
    scatter_memory=500.0,
    loop=1000.0,
    tape=8.0,
    product=7.0,
    call=1.0,
    disk=5.0,
    cache=100,
    rows=(("exp", 12.0),),
)


# -- the numbers -----------------------------------------------------------------------------------


def test_docstrings() -> None:
    assert doctest.testmod(costs_module).failed == 0


def test_costs_survive_json() -> None:
    for costs in (SHIPPED, SIMPLE, Costs.default()):
        again = Costs.from_json(costs.to_json())
        assert again == costs
        assert again.hash == costs.hash


def test_the_hash_tells_costs_apart() -> None:
    others = [
        replace(SIMPLE, tape=9.0),
        replace(SIMPLE, rows=(("exp", 13.0),)),
        replace(SIMPLE, rows=()),
    ]
    assert len({SIMPLE.hash, *(other.hash for other in others)}) == 4
    # The same in every process and version: it is part of the key of compiled code.
    assert SIMPLE.hash == "778d491e9219"


@pytest.mark.parametrize(
    "change",
    [
        {"tape": 0.0},
        {"tape": -1.0},
        {"tape": float("nan")},
        {"tape": float("inf")},
        {"tape": "1"},
        {"tape": True},
        {"tape": None},
        {"rows": {"exp": "fast"}},
        {"rows": [1]},
        {"other": 1.0},
    ],
)
def test_what_are_no_costs(change: dict[str, Any]) -> None:
    data = {**json.loads(SIMPLE.to_json()), **change}
    with pytest.raises(ValueError, match=r"cost|number|rows|JSON|line"):
        Costs.from_json(json.dumps(data))


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "{}"])
def test_what_is_no_json_of_costs(text: str) -> None:
    with pytest.raises(ValueError, match=r"cost|number|rows|JSON|line"):
        Costs.from_json(text)


def test_rows_fall_back_to_their_weight() -> None:
    x, k = Value("x", F64), Value("k", I64)
    assert SIMPLE.seconds(Apply((x,), OPS["exp"], (x,))) == 12.0
    assert SIMPLE.seconds(Apply((x,), OPS["tanh"], (x,))) == OPS["tanh"].cost
    # The table is of floats.
    table = replace(SIMPLE, rows=(("floordiv", 99.0),))
    assert table.seconds(Apply((k,), OPS["floordiv"], (k, k))) == OPS["floordiv"].cost
    assert table.seconds(Apply((x,), OPS["floordiv"], (x, x))) == 99.0


@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: str(op.name))
def test_the_shipped_costs_keep_what_is_dear(op: Any) -> None:
    """Additions are recomputed; divisions, roots and elementary functions are not."""
    for ty in (F64, I64):
        if ty.kind not in op.kinds:
            continue
        value = Value("x", ty)
        dear = SHIPPED.seconds(Apply((value,), op, (value,))) > SHIPPED.tape
        assert dear == (op.cost > 3.0)
    for dtype in ("f64", "f32", "i64"):
        assert Array(dtype, 1).numpy.itemsize * SHIPPED.load < SHIPPED.tape


# -- counts ----------------------------------------------------------------------------------------


def nests(text: str, **sizes: Any) -> tuple[Nest, ...]:
    return estimate(parse(text), sizes, SIMPLE).nests


MATRIX = """
fn f(%x: f64[:, :], %y: f64[:, :]) -> int {
  %n = dim[0] %x
  %m = dim[1] %x
  for O %i in 0 to %n {
    for L %j in 0 to %m {
      %v = load %x[INDEX]
      %e = exp %v
      write %y[%i, %j] %e
    }
  }
  return %n
}
"""


def test_a_nest() -> None:
    (nest,) = nests(MATRIX.replace("INDEX", "%i, %j"), x=(2, 3), y=(2, 3))
    assert nest.label == "O"
    found = (nest.operations, nest.bytes, nest.scattered, nest.taped, nest.entered)
    assert found == (12.0 * 6, 16.0 * 6, 0.0, 0.0, 3.0)
    # In cache: 8 * (2 + 3) * 6 is more than 12 * 6.
    assert nest.seconds == 240.0 + 3 * 1000.0


def test_what_is_not_in_cache_comes_from_memory() -> None:
    (nest,) = nests(MATRIX.replace("INDEX", "%i, %j"), x=(20, 3), y=(20, 3))
    assert nest.seconds == 8 * (20.0 + 30.0) * 60 + 21 * 1000.0


def test_what_stays_in_cache_comes_once() -> None:
    row = MATRIX.replace("INDEX", "0, %j")
    # A row of 3 stays in cache; of 300, it is gone when the next iteration begins.
    (nest,) = nests(row, x=(20, 3), y=(20, 3))
    assert nest.seconds == 8 * (20.0 * 3 + 30.0 * 60) + 21 * 1000.0
    (nest,) = nests(row, x=(20, 300), y=(20, 300))
    assert nest.seconds == 8 * (20.0 + 30.0) * 6000 + 21 * 1000.0


def test_an_array_is_streamed_once_for_its_neighbours() -> None:
    text = """
fn f(%x: f64[:], %y: f64[:], %n: int) -> int {
  for L %i in 0 to %n {
    %k = add %i 1
    %a = load %x[%i]
    %b = load %x[%k]
    %c = add %a %b
    write %y[%i] %c
  }
  return %n
}
"""
    (nest,) = nests(text, n=1000)
    assert nest.bytes == 24.0 * 1000
    assert nest.seconds == 8 * (20.0 + 30.0) * 1000 + 1000.0


GATHER = """%q = load %x[%i, %j]
      %p = cast[int] %q
      %v = load %y[INDEX]"""


@pytest.mark.parametrize("index", ["%j, %i", "%p, %j"])
def test_elements_out_of_order_are_scattered(index: str) -> None:
    text = MATRIX.replace("%v = load %x[INDEX]", GATHER)
    (nest,) = nests(text.replace("INDEX", index), x=(2, 3), y=(2, 3))
    assert (nest.scattered, nest.bytes) == (6.0, 16.0 * 6)
    near, far = (6 * (8 * 5.0 + each) + 3 * 1000.0 for each in (50.0, 500.0))
    assert nest.seconds == near
    # By columns only six elements are reached, by data any.
    (nest,) = nests(text.replace("INDEX", index), x=(2, 3), y=(200, 300))
    assert nest.seconds == (near if "p" not in index else far)


def test_a_loop_of_a_length_that_changes() -> None:
    text = """
fn f(%x: f64[:], %n: int) -> int {
  for O %i in 0 to %n {
    %m = add %i 1
    for L %j in 0 to %m {
      write %x[%j] 1.0:f64
    }
  }
  return %n
}
"""
    (nest,) = nests(text, n=9)
    # The length in the middle: 5.
    assert nest.bytes == 8.0 * 45
    assert nest.seconds == 8 * 3.0 * 45 + 10 * 1000.0
    (nest,) = nests(text, n=10)
    assert nest.bytes == 8.0 * 55


def test_tapes_and_branches() -> None:
    text = """
fn f(%x: f64[:], %n: int) -> f64 {
  for L %i in 0 to %n {
    %v = load %x[%i]
    %t = gt %v 0.0:f64
    if %t {
      push %v %i
    } else {
      push %v 0
    }
  }
  %s.2 = for L.rev %j down from %n carrying (%s = 0.0:f64) {
    %w: f64, %k: int = pop
    %s.1 = add %s %w
    yield %s.1
  }
  return %s.2
}
"""
    forward, reverse = nests(text, n=10)
    assert (forward.taped, reverse.taped) == (20.0, 20.0)
    assert forward.seconds == 10 * (8 * 2.0 + 2 * 4.0) + 1000.0
    assert reverse.seconds == 10 * 2 * 4.0 + 1000.0
    assert estimate(parse(text), {"n": 10}, SIMPLE).seconds == 240.0 + 80.0 + 2000.0


def test_products_and_whole_arrays() -> None:
    text = """
fn f(%a: f64[:, :], %b: f64[:, :]) -> f64[:, :] {
  %n = dim[1] %a
  %m = dim[1] %b
  %c = full[f64] 0.0:f64 %n %m
  gemm[tn] %c %a %b
  return %c
}
"""
    (rest,) = nests(text, a=(4, 2), b=(4, 3))
    assert rest.label == ""
    assert (rest.products, rest.bytes) == (24.0, 8.0 * 6)
    assert rest.seconds == 8 * 3.0 * 6 + 7.0 * 24


def test_value_form_before_remat() -> None:
    def sweep(x: Any) -> Any:
        y = x.copy()
        for i in range(1, len(x)):
            y[i] = np.exp(y[i - 1])
        return y[-1]

    chain = chains.Chain.of(sweep, (np.ones(4),), (0,))
    found = estimate(chain.adjoint, {"x": (4,)}, SIMPLE)
    assert found.seconds is not None
    labels = [nest.label for nest in found.nests]
    assert len(labels) == 3  # forward, reverse, the rest
    assert labels[0] == labels[1]
    forward = found.nests[0]
    assert forward.bytes == 16.0 * 3


LENGTHS_IN_ARRAYS = {"sparse_matrix_vector_product", "segment_sums_with_offsets"}


@pytest.mark.sampled(100)
@pytest.mark.parametrize("program", differentiable()[::8], ids=str)
def test_every_stage_of_the_corpus(program: Program) -> None:
    """Nothing is stumbled over, and lengths that follow from the arguments are known."""
    chain = chains.Chain.of(program.fn, program.make_args(), program.argnums)
    given = zip(chain.lowered.fn.params, chain.inputs, strict=True)
    sizes = {
        p.name: np.shape(value) or int(value)
        for p, value in given
        if np.shape(value) or p.type.kind in "iu"
    }
    for _, fn in transform(chain.lowered, (("adjoint", chain.positions),)).trace.stages:
        found = estimate(fn, sizes)
        # Or lists that grow.
        loose = any(
            isinstance(stmt, While | Call | Pop)
            or (isinstance(stmt, Apply) and stmt.op.name == "room")
            for stmt in walk(fn.body)
        )
        assert loose or program.name in LENGTHS_IN_ARRAYS or found.seconds is not None
        assert all(nest.seconds is None or nest.seconds >= 0.0 for nest in found.nests)


def test_what_is_not_known() -> None:
    (nest,) = nests(MATRIX.replace("INDEX", "%i, %j"))
    assert nest.seconds is None
    text = """
fn f(%x: f64) -> f64 {
  %y.2 = while W carrying (%y = %x) {
    %y.1 = mul %y 2.0:f64
    %t = lt %y.1 100.0:f64
    yield %t %y.1
  }
  return %y.2
}
"""
    (nest,) = nests(text)
    assert math.isnan(nest.operations)
    assert nest.seconds is None
    (nest,) = nests(text, **{"W.n": 7})
    assert nest.operations == 14.0
    assert nest.seconds == 14.0 + 1000.0
    call = """
fn g(%x: f64) -> f64 {
  return %x
}

fn f(%x: f64) -> f64 {
  %y = call C g(%x)
  return %y
}
"""
    (nest,) = nests(call)
    assert (nest.calls, nest.seconds) == (1.0, None)


# -- what plans make of it -------------------------------------------------------------------------


def _carried(x: Any) -> Any:
    s = 0.3
    for i in range(len(x)):
        t = np.sin(x[i] * s)
        s = s * 0.5 + t * t
    return s


def _reverse() -> Function:
    return chains.Chain.of(_carried, (np.array([0.3, -0.7, 1.1]),), (0,)).adjoint


def test_plans_follow_the_costs() -> None:
    reverse = _reverse()
    shipped = rematerialize(reverse).plan
    assert rematerialize(reverse, "auto", SHIPPED).plan == shipped
    dear = rematerialize(reverse, "auto", replace(SHIPPED, tape=1.0)).plan
    kept = [sum(e.decision == KEPT for e in plan.entries) for plan in (shipped, dear)]
    assert kept[0] > kept[1] == 1  # a carried value cannot be recomputed
    (reason,) = {e.reason for e in shipped.entries if "recomputing" in e.reason}
    assert reason == "recomputing costs 27, a store and load 7.7"


def test_other_costs_change_no_bit() -> None:
    reverse = _reverse()
    x = np.array([0.3, -0.7, 1.1])
    wanted = chains.bits(chains.run(reverse, (x,)))
    for tape in (1e-15, SHIPPED.tape, 1.0):
        done = rematerialize(reverse, "auto", replace(SHIPPED, tape=tape)).fn
        assert chains.bits(chains.run(done, (x,))) == wanted
