"""Every public name says what it takes and returns, in NumPy's style, with examples that run."""

from __future__ import annotations

import doctest
import inspect
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest

import adc
import adc.api
import adc.testing

PUBLIC: dict[str, Any] = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (adc, adc.testing)
    for name in module.__all__
    if name != "__version__"
}


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def sections(text: str) -> dict[str, str]:
    """Return the sections of a docstring by title.

    >>> sections("Do it.\\n\\nReturns\\n-------\\nint\\n    How often.\\n")
    {'': 'Do it.', 'Returns': 'int\\n    How often.'}
    """
    first, *rest = re.split(r"\n\n(\w+)\n-+\n", text)
    return {
        "": first,
        **{title: body.strip() for title, body in zip(rest[::2], rest[1::2], strict=True)},
    }


@pytest.mark.parametrize("name", PUBLIC)
def test_it_has_the_sections(name: str) -> None:
    thing = PUBLIC[name]
    found = sections(inspect.getdoc(thing) or "")
    assert found[""].splitlines()[0].endswith((".", ";")), "the first line is a sentence"
    parameters = list(inspect.signature(thing).parameters)
    described = re.findall(r"^(\S.*?)(?: :.*)?$", found.get("Parameters", ""), re.MULTILINE)
    named = [part.strip().lstrip("*") for line in described for part in line.split(",")]
    assert named == parameters
    returns = inspect.signature(thing).return_annotation not in (None, "None")
    assert ("Returns" in found) == (returns and not inspect.isclass(thing))
    assert ">>> " in found["Examples"]


@pytest.mark.parametrize("name", PUBLIC)
def test_its_examples_run(name: str) -> None:
    thing = PUBLIC[name]
    scope = vars(sys.modules[thing.__module__])
    (found,) = doctest.DocTestFinder(recurse=False).find(thing, name, globs=dict(scope, adc=adc))
    assert found.examples
    assert doctest.DocTestRunner().run(found).failed == 0


@pytest.mark.parametrize("module", [adc.api, adc.testing], ids=lambda module: module.__name__)
def test_examples_of_a_module_run(module: types.ModuleType) -> None:
    (found,) = doctest.DocTestFinder(recurse=False).find(module)
    assert found.examples
    assert doctest.DocTestRunner().run(found).failed == 0


def test_sections() -> None:
    assert doctest.testmod(sys.modules[__name__]).failed == 0
