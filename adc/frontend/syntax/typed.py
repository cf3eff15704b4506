"""Programs without a file: ``python -c``, standard input, what is typed at a prompt.

Python keeps some of their texts: in `linecache`, among the arguments of the process, in the file
that standard input is, in the history of the prompt. Whether a text is that of a function is for
the caller to find out: other code has the same names of files.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import stat
import sys
import textwrap
import types
import warnings
from collections.abc import Iterator, Sequence

# The names that Python gives to what has no file.
COMMAND, STDIN = "<string>", "<stdin>"
_PROMPTS = (STDIN, "<console>", "<input>", "<python-input-")
# The longest program that is read from standard input again, and the most lines of a history.
_MOST_BYTES, _MOST_LINES = 2**24, 5000
# The most lines without indentation that one statement may take, such as closing brackets.
_MOST_PARTS = 50
# Options of the interpreter that take a value.
_WITH_VALUE = "WX"


def texts(code: types.CodeType) -> Iterator[str]:
    """Yield texts that may be those of the program that a code object is from, the likeliest first.

    `linecache.getlines` has been asked before.
    """
    file = code.co_filename
    by_code = getattr(linecache, "_getlines_from_code", None)  # what Python 3.13 and later keep
    if by_code is not None:
        yield "".join(by_code(code) or [])
    if file == COMMAND:
        command = _command(sys.orig_argv)
        yield command
        yield textwrap.dedent(command)  # as Python 3.14 does
    if file == STDIN:
        yield _standard_input()
    if file.startswith(_PROMPTS):
        name = code.co_name
        wanted = "lambda" if name == "<lambda>" else name
        for text in statements(_history()):
            if wanted in text:
                yield text


def named(file: str, text: str) -> str:
    """Return a name under which `linecache` has a text, so that errors and tracebacks show it.

    >>> name = named("<string>", "x = 1")
    >>> name, linecache.getline(name, 1), named("<string>", "x = 1") == name
    ('<string:1>', 'x = 1\\n', True)
    """
    lines = [f"{line}\n" for line in text.splitlines()]
    number = 1
    while True:
        name = f"{file[:-1]}:{number}>"
        if linecache.cache.setdefault(name, (len(text), None, lines, name))[2:3] == (lines,):
            return name
        number += 1


def hint(file: str) -> str:
    """Return what to do where the text of a function is not kept."""
    if file == COMMAND:
        return (
            "the text that `exec` or `eval` runs is not kept: write it to a file, or add it to "
            "`linecache.cache` under the name of the file that is given to `compile`"
        )
    if file.startswith(_PROMPTS):
        if hasattr(sys, "ps1"):
            return (
                "this prompt does not keep what is typed: define the function in a file, or use "
                "IPython, or the prompt of Python 3.13 or later"
            )
        return (
            "a program that Python reads from a pipe is not kept: write it to a file, or pass it "
            "with `python -c`"
        )
    return (
        "adc reads the source of the functions that it differentiates: define them in a file "
        "or a notebook cell"
    )


def _command(argv: Sequence[str]) -> str:
    """Return the program of ``python -c``, or "".

    >>> _command(["python", "-Wd", "-X", "dev", "-Ic", "print(1)", "-c", "x"])
    'print(1)'
    >>> _command(["python", "program.py", "-c", "x"])
    ''
    """
    words = iter(argv[1:])
    for word in words:
        if word.startswith("--"):
            if "=" not in word and word.startswith("--check"):
                next(words, "")
            continue
        if not word.startswith("-") or word == "-":
            return ""
        for k, option in enumerate(word[1:], 2):
            if option == "c":
                return word[k:] or next(words, "")
            if option == "m":
                return ""
            if option in _WITH_VALUE:
                if not word[k:]:
                    next(words, "")
                break
    return ""


def _standard_input() -> str:
    """Return what standard input is, if that is a file; where it has been read stays the same."""
    try:
        about = os.fstat(0)
        if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST_BYTES:
            return ""
        return os.pread(0, about.st_size, 0).decode()
    except (OSError, ValueError, AttributeError):  # closed; not UTF-8; a system without `pread`
        return ""


def _history() -> list[str]:
    """Return the lines that were typed at a prompt, if something keeps them."""
    readline = sys.modules.get("readline")
    if readline is None:
        return []
    count = readline.get_current_history_length()
    first = max(1, count - _MOST_LINES + 1)
    return [readline.get_history_item(k) or "" for k in range(first, count + 1)]


_CONTINUES = re.compile(r"\s|$|(else|elif|except|finally|case)\b|[)\]}]")


def statements(lines: Sequence[str]) -> Iterator[str]:
    """Yield the statements among lines that were typed, the newest first.

    What does not parse is left out. A line like the one before is not in a history twice: such a
    statement is another one than was typed, which the caller finds out.

    >>> list(statements(["def f(x):", "    return x", "f(2", ")", "1 +"]))
    ['f(2\\n)\\n', 'def f(x):\\n    return x\\n']
    """
    starts = [k for k, line in enumerate(lines) if not _CONTINUES.match(line)]
    ends = [*starts[1:], len(lines)]
    for k in reversed(range(len(starts))):
        for end in ends[k : k + _MOST_PARTS]:
            text = "\n".join(lines[starts[k] : end]) + "\n"
            if _parses(text):
                yield text
                break


def _parses(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError):
            return False
    return True


__all__ = ["hint", "named", "statements", "texts"]
