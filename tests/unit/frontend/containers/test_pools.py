"""Objects, dicts and lists of which the run decides how many there are, in pools.

Names of one object are in no way told apart from names of several: what is changed through one is
seen through all. Values and gradients are compared with those of Python and of differences.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc import AdcError
from adc.ir.errors import LimitError
from tests.fuzz.families import fuzz_pools

N = 12  # more than become variables of the code each
X = np.random.default_rng(3).uniform(-1.0, 1.0, N)
MANY = np.ones(300)  # of which no loop is unrolled


class Item:
    def __init__(self, x: Any, k: int = 1) -> None:
        self.x = x
        self.k = k
        self.link: Any = None
        self.kept: Any = []

    def add(self, d: Any) -> None:
        self.x += d
        self.k += 1


class Arrow:
    def __init__(self, p: Any) -> None:
        self.p = p
        self.q = np.zeros(2)


class Either:
    def __init__(self, x: Any, first: bool) -> None:
        if first:
            self.a = x
            self.b = 2.0
        else:
            self.b = 3.0
            self.a = x


PROGRAMS: list[Callable[[Any], Any]] = []


def program(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS.append(fn)
    return fn


def arrows(x: Any) -> Any:
    return [Arrow(np.array([v, 1.0])) for v in x]


def seen(found: Any) -> Any:
    return sum(a.p[0] * a.q[1] + a.p[1] ** 2 + a.q[0] for a in found)


# -- objects ---------------------------------------------------------------------------------------


@program
def one_object_in_two_lists(x: Any) -> Any:
    every, some = [], []
    for v in x:
        item = Item(v)
        every.append(item)
        if v > 0:
            some.append(item)
    for item in some:
        item.x *= 10.0
    return sum(item.x for item in every) + 2 * sum(item.x * item.k for item in some)


@program
def one_object_at_two_places(x: Any) -> Any:
    items = [Item(v) for v in x]
    items[1] = items[0]
    items[1].add(2.0)
    items[2].link = items[0]
    items[2].link.add(x[3])
    same = [k for k in range(len(items)) if items[k] is items[0]]
    return items[0].x * items[0].k + len(same) + items[2].link.x


@program
def swapped_and_kept(x: Any) -> Any:
    items = [Item(v) for v in x]
    first = items[0]
    for k in range(len(items) - 1):
        if items[k].x > items[k + 1].x:
            items[k], items[k + 1] = items[k + 1], items[k]
    first.add(1.0)
    return sum(k * item.x for k, item in enumerate(items)) + first.x


@program
def linked_in_a_chain(x: Any) -> Any:
    head = last = Item(x[0])
    for v in x[1:]:
        item = Item(v)
        last.link = item
        last = item
    total, k, item = 0.0, 1, head
    while item is not None:
        total += k * item.x**2
        item = item.link
        k += 1
    return total


@program
def links_that_the_run_decides(x: Any) -> Any:
    items = [Item(v) for v in x]
    for item in items:
        nearest = None
        for other in items:
            if other is not item and (
                nearest is None or abs(other.x - item.x) < abs(nearest.x - item.x)
            ):
                nearest = other
        item.link = nearest
    for item in items:
        if item.link is not None and item.link.k == 1:
            item.link.add(0.1 * item.x)
    return sum(item.x * item.link.x for item in items)


@program
def a_queue_of_objects(x: Any) -> Any:
    queue, done = [Item(x[0], 0)], []
    while queue:
        item = queue.pop(0)
        done.append(item)
        if item.k < 3:
            for d in (0.5, -0.5):
                queue.append(Item(item.x * d + x[item.k], item.k + 1))
    return sum(item.x**2 + item.k for item in done)


@program
def copies_are_others(x: Any) -> Any:
    items = [Item(v) for v in x]
    one, other = copy.copy(items[0]), Item(items[1].x)
    one.x, other.x = 7.0 * x[2], x[1] * x[2]
    items.append(one)
    last = items.pop()
    items.remove(items[3])
    return sum(item.x for item in items) + last.x * other.x


@program
def attributes_in_another_order(x: Any) -> Any:
    found = [Either(v, True) for v in x] + [Either(v, False) for v in x]
    return sum(each.a * each.b for each in found)


@program
def dicts_with_the_same_keys(x: Any) -> Any:
    rows = []
    for k, v in enumerate(x):
        rows.append({"id": k, "weight": v, "large": v > 0.3})
    for row in rows:
        row["weight"] = row["weight"] * 2 if row["large"] else row["weight"] + 1
        row["id"] += 1
    return sum(row["id"] * row["weight"] for row in rows)


@program
def objects_under_keys_of_the_run(x: Any) -> Any:
    found: Any = {}
    for v in x:
        key = int(5 * abs(v))
        if key not in found:
            found[key] = Item(0.0, 0)
        found[key].add(v)
    return sum(item.x**2 / item.k for item in found.values())


# -- arrays as attributes --------------------------------------------------------------------------


@program
def attributes_changed_in_place(x: Any) -> Any:
    found = arrows(x)
    for a in found:
        a.q -= 0.1 * a.p
        a.p += a.q
        a.p[1] = a.q[0]
    return seen(found)


@program
def arrays_that_were_attributes(x: Any) -> Any:
    found = arrows(x)
    total = 0.0
    for a in found:
        before = a.p
        a.p = a.p * 2.0
        total += before[0]
    return seen(found) + total


@program
def arrays_that_are_attributes_still(x: Any) -> Any:
    found = arrows(x)
    total = 0.0
    for a in found:
        same = a.p
        a.p += 2.0
        total += same[0]
    return seen(found) + total


@program
def one_array_in_all_objects(x: Any) -> Any:
    shared = np.array([x[0], 1.0])
    found = [Arrow(shared) for _ in x]
    for a in found:
        a.p = a.p + 0.1
    return seen(found)


@program
def arrays_that_change_places(x: Any) -> Any:
    found = arrows(x)
    for k in range(len(found) - 1):
        found[k].p, found[k + 1].p = found[k + 1].p, found[k].p
    return sum(k * a.p[0] for k, a in enumerate(found))


# -- lists -----------------------------------------------------------------------------------------


@program
def one_list_at_two_places(x: Any) -> Any:
    rows = [[v, 2 * v] for v in x]
    first = rows[0]
    first[1] = 7.0
    rows[1] = first
    rows[1][0] = x[3]
    rows[2].append(rows[0][0])
    return sum(sum(row) * (k + 1) for k, row in enumerate(rows)) + len(rows[2])


@program
def every_method_of_lists(x: Any) -> Any:
    rows = [[v] for v in x]
    for k in range(len(rows) - 1):
        rows[k], rows[k + 1] = rows[k + 1], rows[k]
        rows[k].extend([1.0, x[k]])
        rows[k].insert(0, x[k] ** 2)
    for row in rows:
        if len(row) > 2:
            row.pop(1)
        row.reverse()
    rows[3].clear()
    rows[4] += [2.0, x[4]]
    rows[5] = rows[5] + rows[6]
    rows[7].sort()
    return sum(sum(row) * len(row) for row in rows) + rows[7][0]


@program
def copies_of_lists(x: Any) -> Any:
    rows = [[v, 1.0] for v in x]
    cut = [row[:] for row in rows]
    made = [list(row) for row in rows]
    same = list(rows)
    cut[0][0], made[1][0], same[2][0] = 5.0, 6.0, 7.0
    return sum(r[0] for r in rows) + 2 * sum(r[0] for r in cut) + 3 * sum(r[0] for r in made)


@program
def lists_of_arrays(x: Any) -> Any:
    rows = [[x[:2] * v] for v in x]
    for k, v in enumerate(x):
        rows[k // 2].append(x[1:3] + v)
    first = rows[0]
    first[0] = x[2:4] * 3.0
    rows[3] = first
    rows[3].append(np.array([x[0], 1.0]))
    found = sum(k * np.sum(a * a[::-1]) for row in rows for k, a in enumerate(row, 1))
    return found + rows[1][1][0]


@program
def dicts_with_keys_of_the_run(x: Any) -> Any:
    tables = []
    for k, v in enumerate(x):
        table: Any = {}
        for j in range(3):
            table[k * j % 5] = v * j
        tables.append(table)
    return sum(sum(table.values()) * len(table) for table in tables)


@program
def parts_of_lists(x: Any) -> Any:
    rows = [[v, 1.0] for v in x]
    rows[1].extend(rows[1])
    rows[2] += rows[2]
    rows[3][:] = [x[0]] * 3
    rows[4] = rows[3]
    rows[4][1:] = rows[3]
    rows[5][:1] = []
    del rows[2][1:3]
    rows[0:2] = [rows[3], [x[2]]]
    return sum(sum(row) * k for k, row in enumerate(rows)) + len(rows[4])


@program
def lists_that_take_turns(x: Any) -> Any:
    full, now = [], []
    for v in x:
        now.append(v)
        if len(now) == 5:
            full.append(now)
            now = []
    if now:
        full.append(now)
    return sum(np.prod(each) for each in full) + len(full)


@program
def lists_in_lists_in_lists(x: Any) -> Any:
    blocks = []
    for v in x:
        block = []
        for j in range(3):
            block.append([v * j, v + j])
        blocks.append(block)
    blocks[0][1][0] = x[2]
    return sum(pair[0] * pair[1] for block in blocks for pair in block)


@program
def arrays_of_lists_of_lists(x: Any) -> Any:
    rows = []
    for v in x:
        row = []
        for j in range(4):
            row.append(v**j)
        rows.append(row)
    powers = np.array(rows)
    return np.sum(powers @ powers.T)


@program
def elements_are_unpacked(x: Any) -> Any:
    points = [[v, v**2, 1.0] for v in x]
    total = 0.0
    for a, b, c in points:
        total += a * b - c
    for point in points:
        point[0] += 1.0
        u, _, w = point
        total += u * w
    return total


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs(fn: Any) -> None:
    value, gradient = adc.value_and_grad(fn, target="python")(X.copy())
    assert value == pytest.approx(fn(X.copy()))
    steps = 1e-6 * np.eye(N)
    central = [(fn(X + h) - fn(X - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient, central, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "fn", [linked_in_a_chain, attributes_changed_in_place, one_list_at_two_places]
)
def test_code_is_for_any_number(fn: Any) -> None:
    compiled = adc.value_and_grad(fn)
    for n in (9, 30):
        x = np.random.default_rng(n).uniform(-1.0, 1.0, n)
        assert compiled(x)[0] == pytest.approx(fn(x))
    info = compiled.cache_info()
    assert info["compiled"] + info["loaded"] == 1


# -- what is refused -------------------------------------------------------------------------------


def _one_array_of_two(x: Any) -> Any:
    found = []
    for v in x:
        p = np.array([v, 2.0])
        found.append(Arrow(p))
        found.append(Arrow(p))
    for a in found:
        a.p += 1.0
    return seen(found)


def _array_kept_elsewhere(x: Any) -> Any:
    found, trail = [], []
    for v in x:
        p = np.array([v, 2.0])
        found.append(Arrow(p))
        trail.append(p)
    for a in found:
        a.p += 1.0
    return seen(found) + sum(p[0] for p in trail)


def _array_changed_afterwards(x: Any) -> Any:
    found = []
    for v in x:
        p = np.array([v, 2.0])
        found.append(Arrow(p))
        p[0] = 7.0
    return seen(found)


def _returned(x: Any) -> Any:
    items = []
    for v in x:
        items.append(Item(v))
    return items


def _attribute_of_another_kind(x: Any) -> Any:
    items = []
    for v in x:
        items.append(Item(v))
    for item in items:
        item.x = "large" if item.k > 3 else 1.0
    return sum(item.k for item in items) * x[0]


def _new_attribute(x: Any) -> Any:
    items: Any = []
    for v in x:
        items.append(Item(v))
    for item in items:
        item.fresh = item.x
    return sum(item.fresh for item in items)


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (_one_array_of_two, r"ADC013.* `Arrow.p` of objects .* one may be that of several"),
        (_array_kept_elsewhere, r"ADC013.* may be in this list and was changed"),
        (_array_changed_afterwards, r"ADC013.* 'p' may be in this list and was changed"),
        (_attribute_of_another_kind, r"ADC010.* as `.x` of a Item, of which the run decides"),
        (_new_attribute, r"ADC010.* this change of a Item, of which the run decides how many"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_refused(fn: Any, message: str) -> None:
    with pytest.raises(AdcError, match=message):
        adc.grad(fn, target="python")(MANY)


def test_objects_are_not_returned() -> None:
    with pytest.raises(AdcError, match=r"ADC010.* returning a list is not supported where the run"):
        adc.jit(_returned, target="python")(MANY)


def _grown(x: Any) -> Any:
    rows = [[v] for v in x]
    for row in rows:
        for v in row:
            if v > 0.0 and len(row) < 3:
                row.append(v * 0.5)
    return sum(sum(row) for row in rows)


def test_a_list_that_grows_under_its_loop() -> None:
    with pytest.raises(LimitError, match="the length of a list changes while a loop iterates"):
        adc.grad(_grown, target="python")(X)


# -- random programs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seed", [5, 17, *(pytest.param(k, marks=pytest.mark.full) for k in (32, 47, 48, 103))]
)
def test_random_programs(seed: int) -> None:
    generated = fuzz_pools.generate(seed)
    found = fuzz_pools.check(generated)
    assert found.startswith(("ok", "refused")), generated.source


@pytest.mark.full
@pytest.mark.parametrize("seed", range(200, 300))
def test_more_random_programs(seed: int) -> None:
    generated = fuzz_pools.generate(seed)
    found = fuzz_pools.check(generated)
    assert found.startswith(("ok", "refused")), generated.source
