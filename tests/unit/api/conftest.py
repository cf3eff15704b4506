"""Fixtures of several files."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from adc.compiler import prepare
from adc.frontend import entry


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of functions for which code was made, as it is made."""
    found: list[str] = []
    lower = entry.lower

    def noted(fn: Any, *args: Any, **kwargs: Any) -> Any:
        found.append(fn.__name__)
        return lower(fn, *args, **kwargs)

    monkeypatch.setattr(prepare, "lower", noted)
    return found


@pytest.fixture(autouse=True)
def texts() -> Iterator[None]:
    """Forget the sources of code that a test made, afterwards."""
    yield
    for name in [name for name in linecache.cache if name.startswith(("<cell", "<identity"))]:
        del linecache.cache[name]
    sys.modules.pop("kept", None)


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give the tests of a file an empty cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
