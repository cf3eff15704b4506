"""Versions of Numba: what adc uses from inside of it is in one module, and looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import adc
from adc.backend import cpu, numba_api
from adc.ir.errors import UnfitPackageError

ROOT = Path(__file__).parents[4]
# Reaches inside: what follows is documented, for those who extend Numba.
INSIDE = re.compile(
    r"numba\.(?!cuda|errors|extending|core\.errors)\w+\.\w|numba\.core\b(?!\.errors)"
)


def test_one_module_reaches_inside_of_numba() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "adc").rglob("*.py"))
        if path.name != "numba_api.py"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if INSIDE.search(line) and re.match(r"\s*(from|import) |.*\bnumba\.core", line)
    ]
    assert found == []


def test_this_version_has_all_that_is_needed() -> None:
    assert list(numba_api.missing()) == []
    assert numba_api.is_tried()


def test_what_is_missing_is_named() -> None:
    class Library:
        def __init__(self) -> None:
            self._final_module = None

        def add(self) -> None: ...

    module = SimpleNamespace(Registry=Library)
    needed = ((Library, "add _final_module _optimize"), (module, "Registry builtin_registry"))
    first, second = numba_api.missing(needed)
    assert first.endswith("Library._optimize")
    assert second.endswith(".builtin_registry")


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(numba_api, "TRIED", ("0.1",))
    cpu._try_numba.cache_clear()
    yield
    cpu._try_numba.cache_clear()


@pytest.mark.usefixtures("untried")
def test_an_untested_version_compiles_a_function_first() -> None:
    assert not numba_api.is_tried()
    assert adc.grad(lambda x: x * x, cache=False)(3.0) == 6.0
    assert cpu._try_numba.cache_info().misses == 1


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize("how", ["raises", "is wrong"])
def test_one_that_does_not_fit_is_refused(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    built = cpu._built

    def broken(emitted: Any, *rest: Any) -> Any:
        if how == "raises":
            raise AttributeError("no _final_module")
        # As if a function of its library had changed.
        source = emitted.source.replace("    tanh,", "    sin as tanh,")
        return built(replace(emitted, source=source), *rest)

    monkeypatch.setattr(cpu, "_built", broken)
    with pytest.raises(UnfitPackageError, match=r"^\[ADC005\] numba .* does not fit: ") as caught:
        adc.grad(lambda x: np.sum(x * x), cache=False)(np.ones(2))
    assert ("something else" in caught.value.message) == (how == "is wrong")
    assert "pip install 'numba==0.1.*'" in str(caught.value)
