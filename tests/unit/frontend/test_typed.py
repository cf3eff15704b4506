"""Functions without a file: ``python -c``, standard input, a prompt, doctests, generated code.

Each case is a Python process of its own, whose output is compared whole. All but two run what
is generated in Python: a source is found in the same way, and Numba takes a second to load.
"""

from __future__ import annotations

import doctest
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from adc.frontend.syntax import typed

PROGRAM = """\
import functools, adc
grad = functools.partial(adc.grad, target="python")

def cube(x):
    return x ** 3

def wrong(x):
    y = x * x
    return y * adc

print(grad(cube)(2.0), grad(lambda x: x * 5.0)(1.0))
try:
    grad(wrong)(2.0)
except adc.AdcError as error:
    print(error)

names = {}
exec("def hidden(x):\\n    return x + 1.0\\n", names)
try:
    grad(names["hidden"])(2.0)
except adc.AdcError as error:
    print(error)
"""
# Python 3.13 and later have the program of `-c` in `linecache`.
IN_LINECACHE = sys.version_info >= (3, 13)
SHOWN = """\
12.0 5.0
[ADC014] `*` is not defined for module 'adc'
  File "{file}", line 9 in "wrong"
    return y * adc
           ^^^^^^^
[ADC001] the source of 'hidden' cannot be found
  File "{hidden}", line 1 in "hidden"
  Hint: the text that `exec` or `eval` runs is not kept: write it to a file, or add it to \
`linecache.cache` under the name of the file that is given to `compile`
"""


def _environment(tmp_path: Path, **more: str) -> dict[str, str]:
    own = {
        "ADC_CACHE_DIR": str(tmp_path.parent / "cache"),
        "PYTHONWARNINGS": "error",
        "NO_COLOR": "1",
    }
    return {**os.environ, **own, **more}


def _run(
    tmp_path: Path, *options: str, stdin: str | None = None, file: Path | None = None
) -> tuple[str, str]:
    with open(os.devnull if file is None else file) as given:
        made = subprocess.run(
            [sys.executable, *options], capture_output=True, text=True,
            env=_environment(tmp_path), cwd=tmp_path, timeout=100,
            **({"stdin": given} if stdin is None else {"input": stdin}),
        )  # fmt: skip
    return made.stdout, made.stderr


@pytest.mark.full
@pytest.mark.parametrize("options", [["-c"], ["-X", "utf8", "-sc"]], ids=" ".join)
def test_dash_c(tmp_path: Path, options: list[str]) -> None:
    file = "<string>" if IN_LINECACHE else "<string:1>"
    hidden = "<string, by exec>" if IN_LINECACHE else "<string>"
    assert _run(tmp_path, *options, PROGRAM) == (SHOWN.format(file=file, hidden=hidden), "")


@pytest.mark.full
@pytest.mark.parametrize("options", [["-"], []], ids=" ".join)
def test_a_file_as_standard_input(tmp_path: Path, options: list[str]) -> None:
    program = tmp_path / "program.txt"
    program.write_text(PROGRAM)
    shown = SHOWN.format(file="<stdin:1>", hidden="<string>")
    assert _run(tmp_path, *options, file=program) == (shown, "")


@pytest.mark.full
def test_a_pipe_as_standard_input(tmp_path: Path) -> None:
    program = (
        "import adc\ndef square(x):\n    return x * x\n"
        "try:\n    adc.grad(square)(2.0)\nexcept adc.AdcError as error:\n    print(error)\n"
    )
    assert _run(tmp_path, "-", stdin=program) == (
        "[ADC001] the source of 'square' cannot be found\n"
        '  File "<stdin>", line 2 in "square"\n'
        "  Hint: a program that Python reads from a pipe is not kept: write it to a file, or pass "
        "it with `python -c`\n",
        "",
    )


TYPED = """\
import adc, functools, os
grad = functools.partial(adc.grad, target="python")
out = open(os.environ["RESULTS"], "w")
def square(x):
    if x > 0.0:
        return x * x
    return x

print(grad(square)(3.0), file=out)
def square(x):
    return adc.checkpoint(
        helper
)(x)

def helper(x):
    return x * x * x

print(grad(square)(3.0), file=out)
print(grad(lambda x: 4.0 * x)(3.0), file=out)
class Scale:
    by = 2.0
    @staticmethod
    def twice(x):
        return x * Scale.by

print(grad(Scale.twice)(3.0), file=out)
def wrong(x):
    return x * adc

try:
    grad(wrong)(2.0)
except adc.AdcError as error:
    print(str(error).split(chr(10), 2)[2], file=out)

exit()
"""


@pytest.mark.full
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_the_prompt(tmp_path: Path) -> None:
    results = tmp_path / "results.txt"
    # A dumb terminal, so that what is typed is what is sent.
    environment = _environment(tmp_path, RESULTS=str(results), TERM="dumb", HOME=str(tmp_path))
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-q"], stdin=slave, stdout=slave, stderr=slave, env=environment,
        cwd=tmp_path, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    seen = b""
    try:
        for line in TYPED.splitlines():
            os.write(master, f"{line}\n".encode())
            while not seen.endswith((b">>> ", b"... ")):
                seen += os.read(master, 4096)
            seen = b""
    except OSError:  # it has ended
        pass
    finally:
        process.wait(100)
        os.close(master)
    assert results.read_text() == ("6.0\n27.0\n4.0\n2.0\n    return x * adc\n           ^^^^^^^\n")


def test_doctests(tmp_path: Path) -> None:
    program = tmp_path / "documented.py"
    program.write_text(
        'import adc\n\ndef documented():\n    """Text.\n\n'
        "    >>> def cube(x):\n    ...     return x ** 3\n    >>> adc.grad(cube)(2.0)\n    12.0\n"
        "    >>> adc.grad(lambda x: x * adc)(2.0)\n    Traceback (most recent call last):\n"
        "    ...\n    adc.ir.errors.TypeMismatchError: [ADC014] `*` is not defined for module "
        "'adc'\n"
        '      File "<doctest documented.documented[2]>", line 1 in "<lambda>"\n'
        "        adc.grad(lambda x: x * adc)(2.0)\n"
        '                           ^^^^^^^\n    """\n'
    )
    assert _run(tmp_path, "-m", "doctest", str(program)) == ("", "")


GENERATED = """\
import linecache
import adc

text = "def generated(x):\\n    return x ** 3 * adc_scale\\n"
name = "<attrs generated init Model>"
linecache.cache[name] = (len(text), None, text.splitlines(True), name)
names = {"adc_scale": 2.0}
exec(compile(text, name, "exec"), names)
print(adc.grad(names["generated"])(2.0))
names["adc_scale"] = adc
try:
    adc.grad(names["generated"])(2.0)
except adc.AdcError as error:
    print(error)
"""


@pytest.mark.full
def test_generated_code_in_linecache(tmp_path: Path) -> None:
    program = tmp_path / "generates.py"
    program.write_text(GENERATED)
    assert _run(tmp_path, str(program)) == (
        "24.0\n[ADC014] `*` is not defined for module 'adc'\n"
        '  File "<attrs generated init Model>", line 2 in "generated"\n'
        "    return x ** 3 * adc_scale\n           ^^^^^^^^^^^^^^^^^^\n",
        "",
    )


def test_hints_fit_the_case() -> None:
    assert doctest.testmod(typed).failed == 0
    assert "write it to a file, or pass it with `python -c`" in typed.hint("<stdin>")
    assert "define them in a file or a notebook cell" in typed.hint("<lost>")
