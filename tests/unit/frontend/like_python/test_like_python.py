"""Small functions of many kinds: they do what Python does, or are refused at a line, with a caret.

Most are errors of users. The snippets were chosen because they reach lines of the front end that
no other test of the short run reaches (`python -m tests.coverage`). Those that take long begin with
`# long`, and only `--full` runs them.
"""

from __future__ import annotations

import copy
import itertools
import linecache
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import AdcError
from tests.unit.frontend.like_python import like, names, refused

_serial = itertools.count()


def _cases(tables: list[dict[str, str]]) -> Iterator[Any]:
    for table in tables:
        for given, text in table.items():
            for body in text.strip().split("\n\n"):
                first, _, rest = body.partition("\n")
                if first == "# long":
                    name = rest.partition("\n")[0]
                    yield pytest.param(given, body, id=name, marks=pytest.mark.full)
                else:
                    yield pytest.param(given, body, id=first)


def _made(given: str, body: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return a function with this body, and its arguments."""
    arguments = eval(f"dict({given})", vars(names))
    text = f"def program({', '.join(arguments)}):\n{textwrap.indent(body, '    ')}\n"
    file = f"<like-python-{next(_serial)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = vars(names).copy()
    exec(compile(text, file, "exec"), namespace)
    return namespace["program"], arguments


def _same_exception(found: Exception, wanted: Exception) -> None:
    assert repr(found) == repr(wanted)
    for one, other in zip(found.args, wanted.args, strict=True):
        assert type(one) is type(other)
    held = [{k: v for k, v in vars(each).items() if k[0] != "_"} for each in (found, wanted)]
    assert held[0] == held[1]


def _compare(found: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple | list):
        assert type(found) is type(wanted)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            _compare(one, other)
    elif isinstance(wanted, dict):
        assert type(found) is dict
        _compare(list(found), list(wanted))
        _compare(list(found.values()), list(wanted.values()))
    elif isinstance(wanted, str | set | None):
        assert found == wanted
    else:
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(
            found, wanted, rtol=1e-3 if np.asarray(wanted).itemsize == 2 else 1e-12
        )


@pytest.mark.filterwarnings("ignore")  # of Python's run
@pytest.mark.parametrize(("given", "body"), list(_cases(like.TABLES)))
def test_like_python(given: str, body: str) -> None:
    program, arguments = _made(given, body)
    compiled = adc.jit(program, target="python", cache=False)
    try:
        wanted = program(**copy.deepcopy(arguments))
    except Exception as error:  # whatever Python raises, adc has to
        with pytest.raises(type(error)) as caught:
            compiled(**copy.deepcopy(arguments))
        if type(error).__module__ != "builtins" or isinstance(error, KeyError):
            _same_exception(caught.value, error)
        return
    _compare(compiled(**copy.deepcopy(arguments)), wanted)


@pytest.mark.parametrize(("given", "body"), list(_cases(refused.TABLES)))
def test_refused(given: str, body: str) -> None:
    code, _, message = body.rpartition("\n# ")[2].partition(": ")
    assert re.fullmatch(r"ADC\d+", code)
    program, arguments = _made(given, body)
    with pytest.raises(AdcError) as caught:
        adc.jit(program, target="python", cache=False)(**copy.deepcopy(arguments))
    assert (type(caught.value).code, caught.value.message) == (code, message)
    assert "^" in str(caught.value)
