"""What notebooks and IPython show of derivatives, plans and errors."""

from __future__ import annotations

import doctest
import math
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

import adc
from adc.api.derivative import Derivative
from adc.inspect import notebook
from adc.ir.errors import AdcError, IRError


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def decay(x: float, n: int) -> float:
    for _ in range(n):
        x = math.sin(x) / (1.0 + x * x)
    return x


def refused(x: float) -> float:
    with open("file"):
        return x


def test_derivative_and_plan() -> None:
    slope = adc.grad(decay)
    assert isinstance(slope, Derivative)
    assert "not compiled yet" in slope._repr_html_()
    slope(0.5, 3)
    shown = ElementTree.fromstring(slope._repr_html_())
    assert [item.text for item in shown.iter("code")] == [repr(slope), *slope.signatures()]
    (table,) = shown.iter("table")
    rows = [[cell.text or "" for cell in row] for row in table.iter("tr")]
    plan = slope.plan()
    assert rows == [list(plan.columns()), *map(list, plan.rows())]
    assert len(rows) > 1
    assert doctest.testmod(notebook).failed == 0


def test_error() -> None:
    with pytest.raises(AdcError) as caught:
        adc.grad(refused)(1.0)
    message = str(caught.value).splitlines()
    calls = caught.value._render_traceback_()
    assert calls[-len(message) :] == message
    del calls[-len(message) :]
    assert calls[0] == "Traceback (most recent call last):"
    assert calls[2].strip() == "adc.grad(refused)(1.0)"
    assert sum(line.startswith("  File ") for line in calls) == 2, "the call, and a line of adc"
    assert message[0] == "[ADC010] `io.open` is not supported"
    assert message[3].strip() == "^^^^^^^^^^^^"


def test_defect_keeps_its_traceback() -> None:
    with pytest.raises(IRError) as caught:
        raise IRError("pass 'dce' failed")
    assert "Traceback" in caught.value._render_traceback_()[0]
