"""What a plan says of each value, and how it is shown."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import adc
from adc.api.derivative import Derivative
from adc.inspect.plan import PlanReport
from adc.ir.errors import Span
from adc.passes.remat.plan import Plan, PlanEntry


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def damped(v: Any, k: Any) -> Any:
    return np.tanh(v) * k


def energy(x: Any, k: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        s = damped(s + x[i] * x[i], k)
    return s


def _plan(fn: Any, *args: Any) -> PlanReport:
    gradient: Derivative = adc.grad(fn, (0, 1))
    return gradient.plan(*args)


def test_entries_name_function_and_expression() -> None:
    plan = _plan(energy, np.ones(3), 0.5)
    found = {(entry.function, entry.expression) for entry in plan.entries}
    assert ("damped", "np.tanh(v)") in found
    assert ("energy", "x[i] * x[i]") in found or ("energy", "x[i]") in found
    assert plan.columns()[:3] == ("line", "function", "value")
    alone = _plan(lambda x, k: np.sin(x) * k, 1.0, 2.0)
    assert "function" not in alone.columns()


def powers(x: Any, n: int) -> Any:
    s = 1.0
    for _ in range(n):
        s = s * np.sin(x * s)
    return s


def test_what_is_held_is_a_formula() -> None:
    lines = str(adc.grad(powers).plan(0.3, 5)).splitlines()
    assert "held: 16*n = 80 bytes" in lines
    assert "peak: 16*n = 80 bytes" in lines


def test_it_is_plain_text_without_a_terminal() -> None:
    plan = _plan(energy, np.ones(3), 0.5)
    text = str(plan)
    assert re.match(r"plan \(auto\)\nline  function  value +decision +bytes +why\n", text)
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())
    assert text == str(_plan(energy, np.ones(3), 0.5))


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_it_is_coloured_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = _plan(energy, np.ones(3), 0.5)
    plain = str(plan)
    monkeypatch.setattr(sys, "stdout", _Terminal())
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = str(plan)
    assert "\x1b[3" in coloured
    assert "np.tanh(v)" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert str(plan) == plain
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert str(plan) == plain


def test_a_summary_is_its_representation() -> None:
    entry = PlanEntry("t", "f.py", 3, "kept", "8", "why")
    copied = PlanEntry("a", "f.py", 1, "copied", "the array", "why")
    plan = Plan("store", (entry, entry), (copied,))
    assert repr(plan) == "<adc plan (store): 2 kept, 1 copied>"
    assert repr(Plan("auto", ())) == "<adc plan (auto): nothing is needed>"


def test_long_expressions_are_cut() -> None:
    entry = PlanEntry("t", "f.py", 3, "kept", "8", "why", "f", "x" * 70)
    (row,) = PlanReport("auto", (entry,)).rows()
    assert row[1] == "x" * 59 + "…"


def spread(x: Any, k: Any) -> Any:
    left, right = x
    total = left
    for v in x:
        total = total * np.exp(
            k * v
        ) + np.sin(total * k)  # fmt: skip
    doubled = x * 2.0
    return total * np.exp(left * right * k) + np.prod(np.tanh(doubled) * np.sin(doubled))


def test_values_have_the_users_names() -> None:
    plan = _plan(spread, np.ones(2), 0.5)
    labels = [row[-4] for row in plan.rows()]
    assert {"total", "np.exp(k * v)", "total * k", "np.tanh(doubled)"} <= set(labels)
    assert not [label for label in labels if re.fullmatch(r"t(\.\d+)?", label)]
    entry = PlanEntry("t", "", 3, "kept", "8", "why")
    assert (entry.label, replace(entry, value="x.3").label) == ("t", "x")


@pytest.mark.full
@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("memory", [None, "1500"])
def test_tables_are_as_wide_as_the_terminal(
    monkeypatch: pytest.MonkeyPatch, width: int, memory: str | None
) -> None:
    def long_names(starting_values: Any, damping_factor: Any, n: int) -> Any:
        for _ in range(n):
            starting_values = starting_values - damping_factor * np.sin(starting_values) * damped(
                starting_values, damping_factor
            )
        return np.sum(starting_values * starting_values)

    made = adc.grad(long_names, (0, 1), memory=memory)
    monkeypatch.setenv("COLUMNS", str(width))
    lines = str(made.plan(np.ones(20), 0.5, 8)).splitlines()
    assert max(map(len, lines)) <= width
    monkeypatch.delenv("COLUMNS")
    assert max(map(len, str(made.plan(np.ones(20), 0.5, 8)).splitlines())) <= 80


def test_code_without_reverse_has_no_plan() -> None:
    for fn in (adc.jit(energy), adc.jacfwd(lambda x, k: damped(x, k))):
        with pytest.raises(adc.AdcError, match="has no reverse code"):
            fn.plan(np.ones(3), 0.5)


def test_excerpts(tmp_path: Any) -> None:
    path = tmp_path / "program.py"
    path.write_text("é = a * b\nc = (d +\n  e)\n", encoding="utf-8")
    assert Span(str(path), 1, 5, 1, 10).excerpt() == "a * b"
    assert Span(str(path), 2, 4, 3, 4).excerpt() == "(d + e)"
    assert Span(str(path), 1).excerpt() == ""
    assert Span("nosuch.py", 1, 0, 1, 5).excerpt() == ""
