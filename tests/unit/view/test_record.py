"""The run that a view shows holds what the plan says, and what another meter counts."""

from __future__ import annotations

import copy
import doctest
from typing import Any

import numpy as np
import pytest

import adc
from adc.compiler import planning
from adc.ir import schedule
from adc.ir.core import Call, For, Function, While, walk
from adc.passes.memory.peak import course
from adc.view import diagram, growth, nodes, page, pictures, schedules
from adc.view.facts import _arguments, _last_form, _whiles
from adc.view.moments import Record
from adc.view.nodes import line_of
from adc.view.predicted import predicted
from adc.view.record import Recorder, recorded
from tests.bench import layers
from tests.corpus.programs import by_name, differentiable
from tests.oracle.meter import Meter

# Ten programs of the corpus: loops, branches, `while`, calls, recursion, arrays, lists.
TEN = (
    "triangular_solves", "newton_square_root", "lstm_cell_with_scalar_loops",
    "matrix_power_by_loops", "earlier_elements_of_a_local_array",
    "for_over_array_sees_later_writes", "walrus_in_while", "mutual_recursion_as_control",
    "break_skips_the_rest_of_the_body", "numpy_piecewise",
)  # fmt: skip


def code_of(fn: Any, args: tuple[Any, ...], argnums: Any = 0, **options: Any) -> Any:
    """Return the derivative's last form, its plan with numbers, and what it is called with."""
    derivative = adc.value_and_grad(fn, argnums, **options)
    code = derivative._code
    values = code.match(args, {})
    made = planning.compilation(code, values)
    plan = planning.described(code, values, made, False)
    given = code.leaves(values, made.lowered)
    return _last_form(made), plan, given


def _carried(x: Any, steps: Any) -> Any:
    k = 0
    while k < steps:
        x = np.sin(x) * x
        k += 1
    return np.sum(x * x)


def test_results_that_a_loop_carries_take_no_memory_of_their_own() -> None:
    check(*code_of(_carried, (np.linspace(0.0, 1.0, 50), 5)))


def check(fn: Function, plan: Any, given: list[Any]) -> None:
    record = recorded(fn, copy.deepcopy(given))
    assert not record.stopped
    meter = Meter(fn, align=1)
    meter.run(copy.deepcopy(given))
    # Another meter counts the workspace and the tapes.
    assert record.workspace == meter.most
    assert record.tapes == sum(meter.tape_peaks.values())
    if plan.peak_bytes is not None:
        atmost = str(plan.peak).startswith("at most")
        assert record.peak <= plan.peak_bytes if atmost else record.peak == plan.peak_bytes
    follow(fn, plan, given, record)
    # What changes from step to step adds up, and nothing but results is left.
    held = dict.fromkeys(range(len(record.series)), 0)
    for moment in record.moments:
        for series, change in moment.changes.items():
            held[series] += change
        now = sum(size for k, size in held.items() if record.series[k][0] != "gradients")
        assert 0 <= now <= moment.most <= record.most
    assert min(held.values(), default=0) >= 0
    assert sum(size for k, size in held.items() if record.series[k][0] == "tape") == 0
    assert [m.at for m in record.moments] == sorted(m.at for m in record.moments)


def follow(fn: Function, plan: Any, given: list[Any], record: Record) -> int:
    """Compare what is held after each step with what is predicted; return after how many it is."""
    said = predicted(fn, record, given)
    exact = plan.peak is not None and not str(plan.peak).startswith("at most")
    now = 0
    for moment, each in zip(record.moments, said, strict=True):
        now += sum(size for k, size in moment.changes.items() if record.series[k][0] != "gradients")
        if each.alive is not None:
            assert each.alive == now if exact else each.alive >= now
    assert [each.reserved for each in said] == sorted(each.reserved for each in said)
    if plan.peak_bytes is not None and said:
        assert all(each.alive is not None for each in said)
        if record.states or not exact:  # the plan holds for any number of iterations
            assert record.peak <= said[-1].reserved <= plan.peak_bytes
        else:
            assert said[-1].reserved == plan.peak_bytes
    return sum(each.alive is not None for each in said)


@pytest.mark.parametrize("name", TEN)
def test_ten_programs(name: str) -> None:
    program = by_name(name)
    check(*code_of(program.fn, program.make_args(), program.argnums))


@pytest.mark.full
@pytest.mark.parametrize("program", differentiable()[::7], ids=str)
def test_corpus(program: Any) -> None:
    check(*code_of(program.fn, program.make_args(), program.argnums))


def simulate(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u = u + 0.1 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1)) - 0.01 * u**3
    return np.sum(u * u)


@pytest.mark.full
@pytest.mark.parametrize("memory", [None, 6_000, 3_000])
def test_arrays_that_loops_hand_on(memory: int | None) -> None:
    fn, plan, given = code_of(simulate, (np.linspace(0.0, 1.0, 30), 50), memory=memory)
    check(fn, plan, given)
    record = recorded(fn, copy.deepcopy(given))
    assert record.peak > 0.9 * plan.peak_bytes
    if memory is None:
        assert record.peak == plan.peak_bytes
    else:
        # The schedule that is drawn is the one that ran: as many iterations run ahead.
        ((line, operands, _),) = set(record.schedules)
        assert line is not None
        assert schedules.events(operands).plain == plan.loops[0].again
        phases = {record.tree.nodes[moment.node].phase for moment in record.moments}
        assert phases >= {"forward", "reverse", "recomputed"}


def test_memory_is_predicted_step_by_step() -> None:
    # Whether a loop keeps more or less as it goes on makes a difference.
    def triangle(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            part = 1.0
            for j in range(i):
                part = part * np.sin(x[j])
            total = total + part
        return total

    fn, plan, given = code_of(triangle, (np.linspace(0.1, 1.0, 12),))
    record = recorded(fn, copy.deepcopy(given))
    assert follow(fn, plan, given, record) == len(record.moments) > 40

    # The number of iterations of a `while` is what the run has found.
    def squared(x: Any) -> Any:
        while x < 90.0:
            x = x * x + 1.0
        return x

    fn, plan, given = code_of(squared, (0.1,))
    record = recorded(fn, copy.deepcopy(given))
    assert plan.peak_bytes is None
    assert follow(fn, plan, given, record) == len(record.moments)
    assert predicted(fn, record, given)[-1].reserved == record.peak > 0


@pytest.mark.full
@pytest.mark.parametrize("planted", ["leave", "add", "note"])
def test_a_defect_of_the_prediction_is_noticed(
    planted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = code_of(simulate, (np.linspace(0.0, 1.0, 30), 20))
    monkeypatch.setattr(course._Point, planted, lambda self, *args, **options: None)
    with pytest.raises(AssertionError):
        check(*given)


def test_a_defect_of_the_count_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    given = code_of(simulate, (np.linspace(0.0, 1.0, 30), 20))
    monkeypatch.setattr(Recorder, "pop", lambda self, frame: None)
    with pytest.raises(AssertionError):
        check(*given)


@pytest.mark.full
def test_iterations_are_folded_and_counted() -> None:
    fn, _, given = code_of(simulate, (np.linspace(0.0, 1.0, 10), 500))
    record = recorded(fn, copy.deepcopy(given))
    assert len(record.moments) < 100
    loops: dict[int, set[int]] = {}
    for moment in record.moments:
        if not moment.path and moment.folded:
            loops.setdefault(moment.node, set()).update(
                range(moment.folded[0], moment.folded[1] + 1)
            )
        for node, k in moment.path[:1]:
            loops.setdefault(node, set()).add(k)
    assert [seen == set(range(500)) for seen in loops.values()] == [True, True]
    assert not any(moment.path[:1] and moment.path[0][1] == 123 for moment in record.moments)
    more = recorded(fn, copy.deepcopy(given), iterations=[123])
    assert sum(bool(m.path) and m.path[0][1] == 123 for m in more.moments) >= 2
    assert more.peak == record.peak


@pytest.mark.full
def test_a_list_of_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    # Lists of arrays are passed as stacks: the interpreter is given one array.
    for name, size in (("WIDTH", 8), ("HEADS", 2), ("TOKENS", 6), ("WORDS", 12)):
        monkeypatch.setattr(layers, name, size)
    model, words, _ = layers.arguments(4)
    code = adc.value_and_grad(layers.loss)._code
    values = code.match((model, words, 2), {})
    made = planning.compilation(code, values)
    assert made.lowered.stacks
    given = _arguments(code, "", made, values)
    fn, plan = _last_form(made), planning.described(code, values, made, False)
    record = recorded(fn, copy.deepcopy(given))
    assert record.peak == plan.peak_bytes
    assert follow(fn, plan, given, record) == len(record.moments)


def test_a_run_that_is_stopped_says_so() -> None:
    fn, _, given = code_of(simulate, (np.linspace(0.0, 1.0, 10), 500))
    record = recorded(fn, copy.deepcopy(given), statements=1000)
    assert "stopped after 1,000 statements" in record.stopped
    assert record.moments


def raises(x: float) -> float:
    y = x * x
    if y > 0.0:
        raise ValueError("no")
    return y


def test_a_program_that_raises() -> None:
    fn, _, given = code_of(raises, (2.0,))
    assert recorded(fn, given).stopped == "the program raised ValueError"


@pytest.mark.parametrize("operands", [(10, 3, 1, 0, 1), (50, 16_699, 824, 800, 0), (7, 1, 1, 0, 1)])
def test_schedules(operands: tuple[int, ...]) -> None:
    found = schedules.events(operands)
    assert found.plain == schedule.plain_steps(*operands)
    assert reversed_of(found) == list(range(operands[0] - 1, -1, -1))


def reversed_of(found: schedules.Events) -> list[int]:
    """Return the iterations that are reversed, in order."""
    return [
        k
        for what, first, count, _ in found.events
        if what == "reverse"
        for k in range(first + count - 1, first - 1, -1)
    ]


def relax(x: Any, tolerance: float) -> Any:
    while np.sum(x * x) > tolerance:
        x = x * 0.99 + 0.001 * np.sin(x)
    return np.sum(x * x)


@pytest.mark.full
def test_the_schedule_of_a_while_loop_is_what_ran() -> None:
    fn, plan, given = code_of(relax, (np.linspace(1.0, 2.0, 20), 0.2), memory=7_500)
    record = recorded(fn, copy.deepcopy(given))
    follow(fn, plan, given, record)
    ((line, states, parts),) = _whiles(record)
    assert line is not None
    assert len({slot for _, slot in states}) < len(states)  # some were written twice
    found = schedules.online(states, parts)
    assert reversed_of(found) == list(range(found.iterations - 1, -1, -1))
    ran = {"ahead": 0, "tape": 0, "reverse": 0}
    for each in (fn, *fn.callees):
        for stmt in walk(each.body):
            if not isinstance(stmt, For | While) or line_of(stmt.loc) != line:
                continue
            if stmt.label.startswith("W0"):  # others are loops over arrays
                words = set(stmt.label.split("."))
                if isinstance(stmt, For):
                    words |= set(stmt.index.name.split("."))
                if words & {"sweep", "segments", "copy"}:
                    continue
                key = "ahead" if words & {"ahead", "run"} else "tape"
                key = "reverse" if "rev" in words else key
                ran[key] += record.visits.get(id(stmt.body.stmts), 0)
    for what, count in ran.items():
        assert sum(event[2] for event in found.events if event[0] == what) == count > 0


@pytest.mark.full
def test_calls_in_a_row() -> None:
    def layer(x: Any, w: Any) -> Any:
        h = np.tanh(x @ w)
        for _ in range(3):
            h = np.sin(h @ w) + h * np.exp(-x)
        mean = h.mean(axis=1)
        spread = np.sqrt(((h - mean[:, None]) ** 2).mean(axis=1) + 1e-5)
        return x + ((h - mean[:, None]) / spread[:, None]) @ w

    def net(x: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        x = layer(x, a)
        x = layer(x, b)
        x = layer(x, c)
        x = layer(x, d)
        x = layer(x, a)
        x = layer(x, b)
        return np.sum(x * x)

    draw = np.random.default_rng(0).standard_normal
    args = (draw((6, 8)), *(0.1 * draw((8, 8)) for _ in range(4)))
    whole = code_of(net, args, (0, 1, 2, 3, 4))[1].peak_bytes
    assert schedules.calls(code_of(net, args, (0, 1, 2, 3, 4))[0]) is None
    fn, plan, given = code_of(net, args, (0, 1, 2, 3, 4), memory=whole * 2 // 3)
    check(fn, plan, given)
    made = schedules.calls(fn)
    assert made is not None
    found, lines = made
    again = [stmt.label for stmt in fn.body if isinstance(stmt, Call) and "again" in stmt.label]
    assert found.iterations == len(lines) == 6
    assert found.plain == found.snapshots == len(again) > 1
    assert reversed_of(found) == [5, 4, 3, 2, 1, 0]
    assert sorted(event[1] for event in found.events if event[0] == "tape") == list(range(6))


@pytest.mark.full
def test_plans_for_a_budget_at_other_sizes() -> None:
    given = np.linspace(0.0, 1.0, 20), 60
    derivative: Any = adc.value_and_grad(simulate, memory=6_000)
    plan = derivative.plan(*given, alternatives=False)
    found = derivative.view(*given, measure=False).facts["growth"]["policies"]["budget"]
    assert found["bytes"] == plan.peak_bytes <= 6_000
    for name, at in found["peak"]["at"].items():
        assert len(at) == growth.SAMPLED[1] - growth.SAMPLED[0] + 1
        for number, size, exact in at[::4]:
            if not exact:
                assert name == "steps"
                assert number > 2_000
                continue
            other = (given[0], number) if name == "steps" else (np.ones(number), given[1])
            assert size == plan.peak.at(other)
    # That very code holds as much, if it is called with another size.
    fn, _, values = code_of(simulate, given, memory=6_000)
    for number, size, _ in found["peak"]["at"]["steps"][4:16:2]:
        run = recorded(fn, [values[0].copy(), number])
        assert 0.7 * size < run.peak <= size


@pytest.mark.full
def test_schedules_of_many_steps_are_not_listed() -> None:
    def loop(x: float, n: int) -> float:
        for _ in range(n):
            x = x * 0.999 + 0.001 * np.sin(x)
        return x

    derivative: Any = adc.value_and_grad(loop, memory=4_000)
    plan = derivative.plan(0.5, 2_000, alternatives=False)
    facts = derivative.view(0.5, 2_000, measure=False).facts
    at = facts["growth"]["policies"]["budget"]["peak"]["at"]["n"]
    assert [exact for _, _, exact in at] == [number < 62_000 for number, _, _ in at]
    for number, size, exact in at[::4]:
        if number < 300_000:
            true = plan.peak.at((0.5, number))
            assert size == true if exact else 0.9 * true < size < 1.1 * true


@pytest.mark.parametrize("module", [nodes, pictures, growth, schedules, diagram, page])
def test_documentation(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


def test_pictures_tell_no_numbers_of_arguments() -> None:
    secret = np.array([1234.5678, 8765.4321])
    assert pictures.picture(secret, argument=True) == {
        "shape": [2], "dtype": "float64", "hidden": True,
    }  # fmt: skip
    found = pictures.picture(np.arange(100.0), argument=True)
    assert found.keys() == {"shape", "dtype", "rows", "columns", "cells", "histogram"}
    assert len(found["cells"]) == 16
    assert pictures.picture(secret, argument=True, values=True)["values"] == ["1234.57", "8765.43"]
    lost = pictures.picture(np.array([np.nan, 1.0, np.inf]))
    assert (lost["lost"], lost["least"], lost["most"]) == (2, "1", "1")


@pytest.mark.full
def test_times_of_lines_are_measured() -> None:
    def loss(x: Any) -> Any:
        y = np.exp(np.sin(x))
        return np.sum(y * y)

    derivative, x = adc.grad(loss), np.ones(20_000)
    facts = derivative.view(x).facts
    assert facts["measured times"]
    times = [line.get("forward", 0.0) + line.get("reverse", 0.0) for line in facts["lines"]]
    first, second = times[:2]
    assert first > second
    assert facts["memory"]["seconds"] > 0.0
    assert not derivative.view(x, measure=False).facts["measured times"]
