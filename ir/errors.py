"""Diagnostics: one error class per kind of trouble, each with a stable code, a span and a hint.

Every message has the same shape: what is wrong, where (file, line, caret under the exact range)
and what to do about it. No internal traceback of NumPy, Numba or LLVM reaches the user.
"""

from __future__ import annotations

import builtins
import functools
import linecache
import os
import re
import sys
import traceback
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Span:
    """A range of the user's source: 1-based lines, 0-based columns, end exclusive.

    In a function that was inlined, `caller` is where it was called. It is not part of the range:
    two calls of a function have the same lines. Nor is it that statements are part of the `reverse`
    code that the range leads to.
    """

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    function: str = ""
    reverse: bool = field(default=False, compare=False)
    caller: Span | None = field(default=None, compare=False)

    def chain(self) -> tuple[Span, ...]:
        """Return the calls that lead here, the outermost first, and the range itself."""
        found: list[Span] = []
        span: Span | None = self
        while span is not None:
            found.append(span)
            span = span.caller
        return tuple(reversed(found))

    def __reduce__(self) -> tuple[Any, ...]:
        # One after the other: of a recursive function there may be as many as the stack has room.
        return _linked, ([tuple(getattr(each, name) for name in _OWN) for each in self.chain()],)

    def called(self, caller: Span | None) -> Span:
        """Return the range with one more call around the outermost one."""
        return replace(self, caller=self.caller.called(caller) if self.caller else caller)

    @property
    def in_reverse(self) -> bool:
        """Whether it is the place of reverse code, or reverse code calls what is there."""
        return self.reverse or (self.caller is not None and self.caller.in_reverse)

    def reversed(self) -> Span:
        """Return the range as the place of reverse code."""
        return self if self.reverse else replace(self, reverse=True)

    def text(self) -> str:
        """Return the first source line of the range, without its newline."""
        return linecache.getline(self.file, self.line).rstrip("\n")

    def excerpt(self) -> str:
        """Return the source in the range, in one line, or "" if it is a block, or gone."""
        if not self.end_column:
            return ""
        first = self.text()
        if self.end_line in (0, self.line):
            start, end = (_characters(first, at) for at in (self.column, self.end_column))
            return first[start:end].strip()
        if first.rstrip().endswith(":") or not first.strip():
            return ""
        lines = [first[_characters(first, self.column) :]]
        lines += [linecache.getline(self.file, k) for k in range(self.line + 1, self.end_line)]
        last = linecache.getline(self.file, self.end_line)
        lines.append(last[: _characters(last, self.end_column)])
        text = " ".join(line.strip() for line in lines)
        # Brackets stand as they would in one line.
        return text.replace("( ", "(").replace("[ ", "[").replace(" )", ")").replace(" ]", "]")

    def caret(self) -> str:
        """Return the source line with carets under the range, or "" if the source is gone."""
        line = self.text()
        if not line.strip():
            return ""
        indent = len(line) - len(line.lstrip())
        start = max(_characters(line, self.column), indent)
        one_line = self.end_line in (0, self.line) and self.end_column
        end = _characters(line, self.end_column) if one_line else len(line)
        width = max(1, end - start)
        return f"    {line[indent:]}\n    {' ' * (start - indent)}{'^' * width}"

    def lines(self) -> list[str]:
        """Return file, line and function, and the source line with carets."""
        where = f' in "{self.function}"' if self.function else ""
        return [f'  File "{self.file}", line {self.line}{where}', *filter(None, [self.caret()])]


# Folders of Python's standard library, and names of those of installed packages.
_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = re.compile(r"[\\/](site|dist)-packages[\\/]")


# What a range has of its own.
_OWN = ("file", "line", "column", "end_line", "end_column", "function", "reverse")


def _linked(links: list[tuple[Any, ...]]) -> Span | None:
    """Return the last of ranges with these fields; each one is called by the one before."""
    found: Span | None = None
    for link in links:
        found = replace(Span(*link), caller=found)
    return found


def _own(span: Span) -> Span:
    """Return the innermost call that is not in a library, or the range itself if all of them are.

    An error in a library that a program calls is the program's: it has the line to change.
    """
    for each in reversed(span.chain()):
        if not each.file.startswith(_STANDARD) and not _INSTALLED.search(each.file):
            return each
    return span


def _characters(line: str, column: int) -> int:
    """Convert a column to characters: those of `ast` count UTF-8 bytes."""
    return len(line.encode()[:column].decode(errors="ignore"))


class AdcError(Exception):
    """Base of every error that adc itself reports.

    Parameters
    ----------
    message : str
        What is wrong.
    span : Span, optional
        Where in the user's source.
    hint : str
        What to do about it.

    Attributes
    ----------
    code : str
        Stable code such as ``"ADC012"``; `adc explain` has a page for each.

    Examples
    --------
    >>> print(AdcError("no such thing", None, "try another"))
    [ADC000] no such thing
      Hint: try another
    """

    code = "ADC000"

    def __init__(self, message: str, span: Span | None = None, hint: str = "") -> None:
        self.message = message
        self.span = span
        self.hint = hint
        super().__init__(message, span, hint)

    def __str__(self) -> str:
        lines = [f"[{self.code}] {self.message}"]
        if self.span is not None:
            own = _own(self.span)
            lines += own.lines()
            if own is not self.span:
                where, *text = self.span.lines()
                lines += [f"  In the library: {where.strip()}", *text]
        if self.hint:
            lines.append(f"  Hint: {self.hint}")
        return "\n".join(lines)

    def _render_traceback_(self) -> list[str]:
        """Return what IPython and notebooks show: the calls that led here, and the message.

        Cells have the names that notebooks show.
        """
        calls = list(traceback.walk_tb(self.__traceback__))
        of_shell = [k for k, (frame, _) in enumerate(calls) if _is_of_shell(frame)]
        del calls[: max(of_shell, default=-1) + 1]
        lines = []
        if calls:
            summary = traceback.StackSummary.extract(iter(calls))
            lines = ["Traceback (most recent call last):", *"".join(summary.format()).splitlines()]
        return [_with_cell(line) for line in [*lines, *str(self).splitlines()]]


# What runs the cells of notebooks.
_SHELLS = ("IPython", "ipykernel")
_FILE = re.compile(r'  File "(<[^"]*>|[^"]*ipykernel_[^"]*)", ')


def _is_of_shell(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _SHELLS


def _with_cell(line: str) -> str:
    """Return a line of a traceback with the name of a notebook's cell instead of its file."""
    found = _FILE.match(line)
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    if found is None or running is None:
        return line
    name = running.compile.format_code_name(found[1])
    return f"  {' '.join(name)}, {line[found.end() :]}" if name else line


class SourceError(AdcError):
    """The source of a function cannot be found or read."""

    code = "ADC001"


class MissingPackageError(AdcError):
    """A package that only some functions of adc need is not installed."""

    code = "ADC002"


class UnfitPackageError(AdcError):
    """A version of a package does not have what adc uses of it."""

    code = "ADC005"


class CalibrationError(AdcError):
    """What `adc calibrate` measured cannot be used, or not be kept."""

    code = "ADC003"


class DiskError(AdcError):
    """There is no room on the disk for what reverse code needs."""

    code = "ADC004"


class CacheError(AdcError):
    """A folder is not used as a cache, because others can change the code in it: a warning."""

    code = "ADC006"


class UnsupportedError(AdcError):
    """A construct of Python or NumPy that adc does not accept."""

    code = "ADC010"


class ExceptionHandlingError(UnsupportedError):
    """`try`: what was changed before an exception is raised cannot be told."""

    code = "ADC030"


class WithError(UnsupportedError):
    """`with`: a context manager is not written in Python, or would raise warnings."""

    code = "ADC031"


class AsyncError(UnsupportedError):
    """`async` and `await`: when such code runs is not part of the program."""

    code = "ADC032"


class GeneratorError(UnsupportedError):
    """`yield`: a generator that no loop consumes, or that is sent values."""

    code = "ADC033"


class GlobalStateError(UnsupportedError):
    """`global` and `nonlocal`: a gradient must not change what lies outside the function."""

    code = "ADC034"


class UnboundError(AdcError):
    """A variable that is not bound on every path that leads to its use."""

    code = "ADC011"


class TypeUnstableError(AdcError):
    """A variable whose kind of value depends on the path taken."""

    code = "ADC012"


class AliasError(AdcError):
    """Two names that may or may not be one array, one of which is then mutated."""

    code = "ADC013"


class TypeMismatchError(AdcError):
    """An operation on values that it is not defined for."""

    code = "ADC014"


class ArgumentError(AdcError):
    """An argument of a call that cannot be accepted."""

    code = "ADC020"


class IntegerArgumentError(ArgumentError):
    """A derivative was asked for with respect to something that is not floating-point."""

    code = "ADC021"


class OverlapError(ArgumentError):
    """Two array arguments share memory and one of them is written."""

    code = "ADC022"


class NonScalarError(AdcError):
    """The result of a function to differentiate is not one floating-point scalar."""

    code = "ADC023"


class NotDifferentiableError(AdcError):
    """An operation on the path from the arguments to the result has no derivative rule."""

    code = "ADC024"


class RecursionDepthError(AdcError):
    """A construct that nests deeper than adc follows."""

    code = "ADC025"


class MemoryBudgetError(AdcError):
    """No plan holds as few bytes as were asked for, or a call on a GPU would hold more.

    Attributes
    ----------
    least : int or None
        The smallest budget that was found, in bytes.
    """

    code = "ADC026"
    least: int | None = None


class RecomputeError(AdcError):
    """A value that is to be recomputed in reverse code cannot be."""

    code = "ADC027"


class DeviceError(AdcError):
    """No device to run on, or a part of a program that cannot run on one."""

    code = "ADC028"


class DeviceMemoryError(AdcError, MemoryError):
    """There is no room on the device for an array."""

    code = "ADC029"


class NotFiniteError(AdcError, FloatingPointError):
    """A number is not finite, where `adc.check_nans` looks for the first one."""

    code = "ADC035"


class DigitsError(AdcError, ArithmeticError):
    """A result has fewer correct digits than `adc.check_nans` is asked for."""

    code = "ADC036"


class WorkerError(AdcError, RuntimeError):
    """A worker cannot do its part of a derivative of a sum over shards."""

    code = "ADC037"


class RankError(AdcError, RuntimeError):
    """The ranks of an MPI program do not communicate as a derivative needs it."""

    code = "ADC038"


class IRError(AdcError):
    """The IR is malformed: a defect of adc, never of the user's program."""

    code = "ADC900"

    def _render_traceback_(self) -> list[str]:
        return traceback.format_exception(self)  # a report needs it


class AssumptionError(Exception):
    """An assumption that holds for most programs failed while the program ran.

    An axis that meets another one has size 1, and is broadcast; an array ends before `x[:3]` does.
    Code is first made under such assumptions; the driver then makes code without them.
    """


class LimitError(NotImplementedError):
    """A call met what NumPy computes and adc does not, and only the run could tell.

    Its message has a hint. No `try` in compiled code catches it: in NumPy nothing is raised there.
    """


CODES: dict[str, type[AdcError]] = {}


def _collect(cls: type[AdcError]) -> None:
    CODES[cls.code] = cls
    for sub in cls.__subclasses__():
        _collect(sub)


_collect(AdcError)


def bytes_text(size: int) -> str:
    """Return bytes in the largest unit that leaves a number above 1.

    Examples
    --------
    >>> bytes_text(64_000_000), bytes_text(1536), bytes_text(7)
    ('64 MB', '1.54 kB', '7 bytes')
    """
    for power, unit in ((12, "TB"), (9, "GB"), (6, "MB"), (3, "kB")):
        if size >= 10**power:
            return f"{float(f'{size / 10**power:.3g}'):g} {unit}"
    return f"{size} bytes"


# What pip knows adc as: `adc` itself is another project's name on the package index.
PACKAGE = "adc-autodiff"


def installing(extra: str, other: str = "") -> str:
    """Return how to install what an extra of adc needs.

    Examples
    --------
    >>> installing("cuda13", "'adc-autodiff[cuda12]' for drivers before 580")
    "pip install 'adc-autodiff[cuda13]', or 'adc-autodiff[cuda12]' for drivers before 580"
    """
    return f"pip install '{PACKAGE}[{extra}]'" + (f", or {other}" if other else "")


def exception_named(name: str) -> type[Exception]:
    """Return the exception class that a check raises: a builtin one, NumPy's, or adc's own.

    One of the program's is named ``module:Class``.
    """
    module, _, path = name.rpartition(":")
    if module:
        owner: Any = sys.modules[module]
        found: type[Exception] = functools.reduce(getattr, path.split("."), owner)
        return found
    if name == "LinAlgError":
        return np.linalg.LinAlgError
    for own in (AssumptionError, LimitError):
        if name == own.__name__:
            return own
    kind: type[Exception] = getattr(builtins, name)
    assert issubclass(kind, Exception)
    return kind
