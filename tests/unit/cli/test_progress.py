"""The line that says what is being compiled: in a terminal only, and gone afterwards."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from contextlib import redirect_stderr
from typing import TextIO

import pytest

import adc
from adc.compiler import progress as module
from adc.compiler.progress import progress


class Terminal(io.StringIO):
    """Keeps what is written to it."""

    def isatty(self) -> bool:
        return True

    def shown(self) -> list[str]:
        """Return the lines that were there, one after the other."""
        return [line.rstrip() for line in self.getvalue().split("\r") if line.strip()]

    def rest(self) -> str:
        """Return what is there in the end."""
        line = ""
        for part in self.getvalue().split("\r"):
            line = part + line[len(part) :]
        return line.rstrip()


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    made = Terminal()
    monkeypatch.setattr(module, "DELAY", 0.0)
    monkeypatch.setattr(module, "STEP", 0.01)
    monkeypatch.delenv("ADC_PROGRESS", raising=False)
    before = threading.active_count()
    yield made
    assert threading.active_count() == before


def wait(file: TextIO | None, name: str = "loss", wanted: bool = True) -> None:
    with redirect_stderr(file), progress(name, wanted):
        time.sleep(0.1)


def test_one_line_that_is_gone_afterwards(terminal: Terminal) -> None:
    wait(terminal)
    shown = terminal.shown()
    assert set(shown) == {"adc: compiling loss … 0 s"}
    assert len(shown) > 1
    assert "\n" not in terminal.getvalue()
    assert terminal.rest() == ""


def test_what_is_quick_shows_nothing(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DELAY", 60.0)
    wait(terminal)
    assert terminal.getvalue() == ""


def test_a_long_name_fits(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    wait(terminal, "loss" * 20)
    assert max(map(len, terminal.shown())) == 29
    assert terminal.rest() == ""


def test_off(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    wait(terminal, wanted=False)
    monkeypatch.setenv("ADC_PROGRESS", "0")
    wait(terminal)
    assert terminal.getvalue() == ""


def test_no_terminal() -> None:
    file = io.StringIO()
    wait(file)
    assert file.getvalue() == ""
    wait(None)  # as without a console


def test_a_terminal_that_is_gone(terminal: Terminal) -> None:
    terminal.close()
    wait(terminal)


def test_an_error_ends_it(terminal: Terminal) -> None:
    def fail() -> None:
        with redirect_stderr(terminal), progress("loss"):
            time.sleep(0.1)
            raise adc.AdcError("no")

    with pytest.raises(adc.AdcError):
        fail()
    assert terminal.shown()
    assert terminal.rest() == ""


def cube(x: float) -> float:
    return x * x * x


def test_of_a_derivative(terminal: Terminal) -> None:
    slope = adc.grad(cube, cache=False)
    with redirect_stderr(terminal):
        assert slope(2.0) == 12.0
        assert terminal.shown()[0].startswith("adc: compiling cube … ")
        assert terminal.rest() == ""
        before = terminal.getvalue()
        assert slope(3.0) == 27.0
    assert terminal.getvalue() == before


def test_of_a_derivative_that_is_quiet(terminal: Terminal) -> None:
    quiet = adc.grad(cube, cache=False, progress=False)
    with redirect_stderr(terminal):
        assert quiet(2.0) == 12.0
        assert adc.grad(quiet)(2.0) == 12.0
        assert adc.jit(cube, cache=False, progress=False)(2.0) == 8.0
    assert terminal.getvalue() == ""
