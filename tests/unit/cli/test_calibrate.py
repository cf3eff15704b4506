"""``adc calibrate``: what it measures, where it is kept, and that compiled code depends on it."""

from __future__ import annotations

import io
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc import calibrate, cli
from adc.backend import cpu
from adc.compiler import cache
from adc.ir.analysis.costs import SHIPPED, Costs
from adc.ir.errors import CalibrationError
from adc.ir.opdef import OPS

POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX permissions")
OTHER = replace(SHIPPED, tape=1.0)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cache folder of the test, which is not there yet."""
    place = tmp_path / "cache"
    monkeypatch.setenv("ADC_CACHE_DIR", str(place))
    return place


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure few things, in small arrays."""
    monkeypatch.setattr(calibrate, "rows_measured", lambda: [OPS["exp"], OPS["pow"]])
    monkeypatch.setattr(calibrate, "_LARGE", 2**14)


def test_every_row_that_is_dear_is_measured() -> None:
    names = {op.name for op in calibrate.rows_measured()}
    assert {"exp", "log", "sin", "tanh", "pow", "truediv", "sqrt", "erf"} <= names
    assert {name for name, _ in SHIPPED.rows} == names


@pytest.mark.full
@pytest.mark.usefixtures("quick")
def test_it_measures() -> None:
    steps: list[tuple[int, int]] = []
    costs = calibrate.measure(0.0, lambda text, done, total: steps.append((done, total)))
    assert [name for name, _ in costs.rows] == ["exp", "pow"]
    # An order of magnitude, on any machine and however busy it is.
    assert 1e-12 < costs.operation < 1e-8
    assert dict(costs.rows)["exp"] > costs.operation
    assert costs.product < 1e-7
    # A machine that is disturbed measures again, from the first one on.
    assert sorted({done for done, _ in steps}) == list(range(steps[-1][1] + 1))
    assert Costs.from_json(costs.to_json()) == costs


@pytest.mark.usefixtures("quick")
def test_noise_is_no_cost() -> None:
    times = {probe.name: 1e-9 for probe in calibrate._probes()}
    with pytest.raises(CalibrationError, match=r"cannot be distinguished from noise"):
        calibrate._costs(times)


# -- the file --------------------------------------------------------------------------------------


def test_what_is_written_is_read(place: Path) -> None:
    assert calibrate.read() is None
    assert calibrate.load() == SHIPPED
    path = calibrate.write(OTHER)
    assert path == place / "costs.json"
    assert [each.name for each in place.iterdir()] == ["costs.json"]
    found = calibrate.read()
    assert found is not None
    assert found.costs == calibrate.load() == OTHER
    assert found.date.startswith("20")


def test_records_of_older_versions_are_read(place: Path) -> None:
    """They had what users choose among the costs."""
    path = calibrate.write(OTHER)
    data = json.loads(path.read_text())
    flags = {"offload": False, "parallel": False, "cuda": False, "deterministic": False}
    data["processors"][cpu.processor()]["costs"] |= flags
    path.write_text(json.dumps(data))
    assert calibrate.load() == OTHER


def test_processors_have_records_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    calibrate.write(OTHER)
    monkeypatch.setattr(cpu, "processor", lambda: "another")
    with pytest.raises(CalibrationError, match="another processor"):
        calibrate.read()
    with pytest.warns(UserWarning, match=r"^\[ADC003\] .* another processor: .*; run `adc calib"):
        assert calibrate.load() == SHIPPED
    calibrate.write(replace(SHIPPED, tape=2.0))
    assert calibrate.load().tape == 2.0
    monkeypatch.undo()


def test_a_record_does_not_replace_those_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(cpu, "processor", lambda: "another")
        calibrate.write(OTHER)
    calibrate.write(replace(SHIPPED, tape=2.0))
    assert calibrate.load().tape == 2.0
    monkeypatch.setattr(cpu, "processor", lambda: "another")
    assert calibrate.load() == OTHER


def _broken() -> list[str]:
    record: dict[str, Any] = {"date": "2026-01-01", "costs": json.loads(SHIPPED.to_json())}
    key = cpu.processor()

    def file(record: object, **rest: object) -> str:
        return json.dumps({"version": calibrate.VERSION, "processors": {key: record}, **rest})

    return [
        "",
        "{",
        "[]",
        "\0\xff",
        f'{{"version": {calibrate.VERSION}}}',
        f'{{"version": {calibrate.VERSION}, "processors": []}}',
        file(record, version=calibrate.VERSION - 1),
        file(None),
        file([]),
        file({"date": "2026-01-01"}),
        file({**record, "costs": {}}),
        file({**record, "costs": {**record["costs"], "tape": -1.0}}),
        file({**record, "costs": {**record["costs"], "tape": "0.1"}}),
        file({**record, "costs": {**record["costs"], "rows": []}}),
    ]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", _broken(), ids=range(len(_broken())))
def test_a_broken_file_is_one_line_of_warning(
    text: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place.mkdir(mode=0o700)
    (place / "costs.json").write_text(text, encoding="latin-1")
    with pytest.warns(
        UserWarning, match=r"^\[ADC003\] .*shipped costs are used; run `adc cal"
    ) as caught:
        assert adc.grad(lambda x: x * x)(3.0) == 6.0
    assert len(caught) == 1
    assert "\n" not in str(caught[0].message)
    assert cli.main(["info"]) == 0
    assert f"shipped, {SHIPPED.hash} ([ADC003] " in capsys.readouterr().out
    assert cli.main(["calibrate", "--show"]) == 1
    assert capsys.readouterr().err.startswith("[ADC003] ")
    calibrate.write(OTHER)  # mends it
    assert calibrate.load() == OTHER


@POSIX
def test_a_file_that_others_can_write_is_not_read(place: Path) -> None:
    calibrate.write(OTHER)
    place.chmod(0o777)
    assert calibrate.load() == SHIPPED
    with pytest.raises(CalibrationError, match="others can write"):
        calibrate.write(OTHER)


def test_clearing_the_cache_keeps_it(place: Path) -> None:
    adc.grad(lambda x: x * x)(3.0)
    calibrate.write(OTHER)
    assert cache.clear() > 0
    assert [each.name for each in place.iterdir()] == ["costs.json"]
    assert cache.clear(calibration=True) > 0
    assert not place.exists()


# -- compiled code ---------------------------------------------------------------------------------


def _wavy(x: Any) -> Any:
    s = 0.3
    for i in range(len(x)):
        t = np.sin(x[i] * s)
        s = s * 0.5 + t * t
    return s


def _entries(place: Path) -> int:
    return len(list(place.glob("??/*")))


@pytest.mark.full
def test_other_costs_are_other_code(place: Path) -> None:
    x = np.array([0.3, -0.7, 1.1])
    first = adc.grad(_wavy)
    wanted = first(x)
    assert _entries(place) == 1
    calibrate.write(OTHER)
    adc.release_memory()
    second = adc.grad(_wavy)
    assert second(x).tobytes() == wanted.tobytes()
    assert not second.cache_info()["loaded"]
    assert _entries(place) == 2
    assert str(first.plan(x)) != str(second.plan(x))
    # What was made stays as it is; its stages are made again under the same costs.
    assert first(x).tobytes() == wanted.tobytes()
    assert _entries(place) == 2
    adc.release_memory()
    third = adc.grad(_wavy)
    third(x)
    assert third.cache_info()["loaded"]
    assert str(third.ir()) == str(second.ir()) != str(first.ir())


# -- the command -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("quick")
def test_the_command(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["calibrate", "--show"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(
        "cost                  here       shipped\naddition, vectorised  0.035 ns   0.035 ns\n"
    )
    assert shown.endswith(f"\nshipped ({SHIPPED.hash})\n")
    assert cli.main(["calibrate", "--seconds", "0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = calibrate.read()
    assert found is not None
    assert lines[-1] == f"written to {place / 'costs.json'} ({found.costs.hash})"
    assert [line.split()[0] for line in lines[-3:-1]] == ["exp", "pow"]
    assert cli.main(["calibrate", "--show", "--json"]) == 0
    assert Costs.from_json(capsys.readouterr().out) == found.costs
    assert cli.main(["info"]) == 0
    shown = capsys.readouterr().out
    assert f"\ncosts           measured {found.date}, {found.costs.hash}\n" in shown
    assert "tape store and load " in shown
    assert cli.main(["cache", "--clear"]) == 0
    assert "measured are kept: --all removes" in capsys.readouterr().out
    assert calibrate.read() is not None
    assert cli.main(["cache", "--clear", "--all"]) == 0
    assert "kept" not in capsys.readouterr().out
    assert calibrate.read() is None


def test_the_command_without_a_folder(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place.write_text("a file")
    assert cli.main(["calibrate"]) == 1
    assert capsys.readouterr().err.startswith("[ADC003] ")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.full
@pytest.mark.usefixtures("quick")
def test_a_bar_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    screen = _Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    assert cli.main(["calibrate", "--seconds", "0"]) == 0
    assert "━" in screen.getvalue()
    assert "compiling " in screen.getvalue()
    assert "costs.json" in screen.getvalue()
