"""The list of what adc supports, generated from the tables of the front end."""

from __future__ import annotations

import ast
import bisect
import builtins
import cmath
import collections
import contextlib
import copy
import dataclasses
import difflib
import functools
import heapq
import importlib
import itertools
import logging
import math
import operator
import re
import time
import warnings
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np

from adc.frontend import entry
from adc.frontend.calls import communication, effects, standard
from adc.frontend.core.messages import advice
from adc.frontend.core.messages.refusals import REFUSED
from adc.frontend.inputs.instances import VALUES, is_value_class
from adc.frontend.language import attributes, contexts, generators
from adc.frontend.numpy import library
from adc.frontend.numpy.plain import composed
from adc.frontend.numpy.random import draws
from adc.frontend.transforms import nested
from adc.frontend.values import constants, special
from adc.ir.opdef import OPS, OpDef, find

# What the names of syntax nodes mean to a user.
_WORDS: dict[type[ast.AST], str] = {
    ast.Expr: "expression statements", ast.Assign: "`a = b`", ast.AnnAssign: "`a: T = b`",
    ast.AugAssign: "`a += b`", ast.Delete: "`del`", ast.Match: "`match`", ast.If: "`if`",
    ast.For: "`for`, with `else`", ast.While: "`while`, with `else`", ast.Return: "`return`",
    ast.Assert: "`assert`", ast.Raise: "`raise`", ast.FunctionDef: "inner functions",
    ast.ClassDef: "`class` inside a function, which captures constants",
    ast.Import: "`import a` inside a function",
    ast.ImportFrom: "`from a import b` inside a function", ast.Global: "`global` of what is read",
    ast.Nonlocal: "`nonlocal`",
    ast.Set: "sets of constants, integers and tuples of integers",
    ast.With: "`with`", ast.Try: "`try`, with `except`, `else`, `finally`", ast.Pass: "`pass`",
    ast.Break: "`break`", ast.Continue: "`continue`",
    ast.Constant: "numbers, strings, `None`", ast.Name: "names, global and captured ones included",
    ast.Tuple: "tuples", ast.List: "lists", ast.Dict: "dicts",
    ast.ListComp: "list comprehensions", ast.GeneratorExp: "generator arguments",
    ast.DictComp: "dict comprehensions", ast.SetComp: "set comprehensions",
    ast.NamedExpr: "`:=`", ast.JoinedStr: "f-strings",
    ast.BinOp: "`+ - * / // % ** @ & | ^ << >>`", ast.UnaryOp: "`- + ~ not`",
    ast.Compare: "comparisons, chains of them, `in`, `is`", ast.BoolOp: "`and`, `or`",
    ast.IfExp: "`a if c else b`", ast.Attribute: "`a.b`", ast.Subscript: "`a[b]`",
    ast.Call: "calls", ast.Lambda: "`lambda`",
}  # fmt: skip
# What NumPy has for subscripts.
_INDEXED = ("np.c_", "np.index_exp", "np.mgrid", "np.ogrid", "np.r_", "np.s_")
_ELSEWHERE = ("numpy.ma",)


def _functions(module: ModuleType) -> dict[str, Callable[..., Any]]:
    names = getattr(module, "__all__", None) or [n for n in vars(module) if n[0] != "_"]
    found = {name: getattr(module, name, None) for name in sorted(names)}
    return {
        name: fn
        for name, fn in found.items()
        if callable(fn)
        and (not isinstance(fn, type) or issubclass(fn, np.generic) or library.has(fn))
    }


def is_supported(fn: Callable[..., Any]) -> bool:
    """Whether the front end has an entry for a function of Python or NumPy."""
    if isinstance(fn, np.ufunc):
        return find(fn) is not None or library.has(fn)
    if isinstance(fn, type) and issubclass(fn, np.generic):
        return library.is_number_type(fn) or is_value_class(fn)
    return library.has(fn) or (find(fn) is not None and fn.__module__ == "numpy")


def _split(module: ModuleType, prefix: str) -> tuple[list[str], list[str]]:
    known: list[str] = []
    unknown: list[str] = []
    for name, fn in _functions(module).items():
        (known if is_supported(fn) else unknown).append(f"{prefix}{name}")
    return known, unknown


def counts() -> tuple[int, int]:
    """Return how many functions of `np` and `np.linalg` are supported, and how many refused.

    Examples
    --------
    >>> supported, refused = counts()
    >>> supported > refused
    True
    """
    found = [_split(module, "") for module in (np, np.linalg)]
    return sum(len(known) for known, _ in found), sum(len(unknown) for _, unknown in found)


def _wrapped(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) + "."


_STANDARD = (
    ast, bisect, collections, contextlib, copy, dataclasses, functools, heapq, itertools, logging,
    operator, re, time, warnings,
)  # fmt: skip


def _standard() -> list[str]:
    """Return the functions of the standard library that are supported, beside those of `math`."""
    known = [
        *standard.HANDLERS, *generators.ITERATORS, *contexts.MANAGERS, *effects.HANDLERS,
        *constants.OF_TEXTS,
    ]  # fmt: skip
    values = [f"{module}.{name}" for module, name in VALUES if module not in ("numpy", "re")]
    return sorted(values) + sorted(
        f"{module.__name__}.{name}"
        for module in _STANDARD
        for name in getattr(module, "__all__", vars(module))
        if (value := getattr(module, name)) is not None
        and name[0] != "_"
        and any(value is each for each in known)
    )


def _derivative(op: OpDef) -> str:
    return "refused if differentiated" if op.refuse else "zero" if op.vjp is None else "rule"


# The packages whose functions are looked up by name, and how programs call the first of them.
_PACKAGES = ("builtins", "math", "cmath", "numpy", "scipy", "itertools", "functools", "operator")
_SHORT = {"np": "numpy"}


def _known() -> dict[str, str]:
    """Return all names of supported functions, each with the form in which the page has it."""
    found: dict[str, str] = {}
    for module in (builtins, math, cmath, np, np.linalg, np.fft):
        prefix = "" if module is builtins else f"{module.__name__}."
        found |= {f"{prefix}{each}": f"{prefix}{each}" for each in _split(module, "")[0]}
    elsewhere = (name for op in OPS.values() for name in op.spellings if isinstance(name, str))
    for each in (
        *elsewhere,
        *library.named(),
        *composed.SERIES,
        *composed.TESTING,
        *composed.COMPLEX,
        *_standard(),
    ):
        found[_full(each)] = each
    return found


def _full(name: str) -> str:
    """Return a name with the full name of its package."""
    first, dot, rest = name.partition(".")
    return f"{_SHORT.get(first, first)}{dot}{rest}"


def _value(name: str) -> Any:
    """Return what a package has under a dotted name, or None; nothing else is imported."""
    module, _, own = name.rpartition(".")
    module = module or "builtins"
    if module.partition(".")[0] not in _PACKAGES:
        return None
    try:
        return getattr(importlib.import_module(module), own, None)
    except ImportError:
        owner = _value(module) if "." in module else None
        return getattr(owner, own, None)


def lookup(name: str) -> tuple[list[str], bool]:
    """Return what is to be said about a name, a line each, and whether all of it is supported.

    Parameters
    ----------
    name : str
        A function with its package ("np.linalg.svd", "scipy.special.erf"), its last name alone
        ("svd"), or a package ("scipy.linalg").

    Examples
    --------
    >>> lookup("np.linalg.svd")
    (['numpy.linalg.svd is supported'], True)
    >>> lookup("scipy.integrate.ode")[0][0][:37]
    'scipy.integrate.ode is not supported '
    >>> lookup("solve")[0]
    ['numpy.linalg.solve is supported', 'scipy.linalg.solve is supported']
    >>> lookup("softmx")[0]
    ['softmx is not known; give its package, as in `np.linalg.svd`; similar names: \
scipy.special.softmax']
    """
    known, wanted = _known(), _full(name)
    try:
        package = importlib.import_module(wanted) if _is_package(wanted) else None
    except ImportError:
        package = None
    if package is not None:
        inside = sorted(each for each in known if each.rpartition(".")[0] == wanted)
        own = {each.rpartition(".")[2] for each in inside}
        rest = [each for each in _functions(package) if each not in own and each[0] != "_"]
        return [
            f"{wanted}: {len(inside)} functions are supported: {', '.join(sorted(own)) or 'none'}",
            *[_refused(f"{wanted}.{each}", getattr(package, each)) for each in rest],
        ], not rest
    found = [each for each in sorted(known) if each == wanted or each.endswith(f".{wanted}")]
    if found:
        return [f"{each} is supported" for each in found], True
    value = _value(wanted)
    if value is None:
        return [_unknown(name, wanted, known)], False
    if callable(value) and is_supported(value):
        return [f"{wanted} is supported"], True
    return [_refused(wanted, value)], False


def _unknown(name: str, wanted: str, known: Iterable[str]) -> str:
    """Return what is said of a name that no package has, with similar ones."""
    _, dot, own = wanted.rpartition(".")
    if dot and wanted.partition(".")[0] not in _PACKAGES:
        return (
            f"{name} is not known: this list has functions of {', '.join(_PACKAGES[1:])}, and "
            "builtins; functions that are written in Python are compiled like the program's, and "
            "adc.external calls any other"
        )
    ends: dict[str, list[str]] = {}
    for each in known:
        ends.setdefault(each.rpartition(".")[2].lower(), []).append(each)
    # In the same package first, then by the last name alone.
    near = difflib.get_close_matches(wanted, known, 3) if dot else []
    for last in difflib.get_close_matches(own.lower(), ends, 3):
        near += ends[last]
    packages = sorted({m for m in map(_package_of, known) if m.rpartition(".")[2] == own})
    said = f"; similar names: {', '.join(list(dict.fromkeys(near))[:4])}" if near else ""
    if packages:
        said = f"; there are the packages {', '.join(packages)}"
    return f"{name} is not known; give its package, as in `np.linalg.svd`{said}"


def _package_of(name: str) -> str:
    return name.rpartition(".")[0]


def _is_package(name: str) -> bool:
    return name.partition(".")[0] in _PACKAGES and name != "builtins"


def _refused(name: str, value: Any) -> str:
    hint = advice.hint(value) if callable(value) else advice.of_object(value)
    return f"{name} is not supported (ADC010): {hint}"


def page(*, refused: bool = False) -> str:
    """Return the page of what is supported, in Markdown.

    Parameters
    ----------
    refused : bool
        Whether to list the functions of NumPy and `math` that are not. Which these are depends on
        their versions.

    Examples
    --------
    >>> page().splitlines()[0]
    '# What adc supports'
    """
    lines = [
        "# What adc supports",
        "",
        "Generated by `adc supported` from the tables of the front end.",
    ]
    lines += ["", "## Language", "", "| construct | state |", "|---|---|"]
    nodes = [node for node in entry.nodes() if node.__module__ == "ast"]
    for node in sorted(nodes, key=list(_WORDS).index):
        lines.append(f"| {_WORDS[node]} | supported |")
    lines.append("| functions with `yield`, where a loop or a builtin consumes them | supported |")
    seen: set[str] = set()
    for refusal in REFUSED.values():
        if refusal.what not in seen:
            seen.add(refusal.what)
            lines.append(f"| {refusal.what} | refused, {refusal.error.code}: {refusal.hint} |")
    sections = [
        ("Builtins", builtins, ""), ("`math`", math, "math."), ("`cmath`", cmath, "cmath."),
        ("NumPy", np, "np."), ("`np.linalg`", np.linalg, "np.linalg."),
        ("`np.fft`", np.fft, "np.fft."),
    ]  # fmt: skip
    for title, module, prefix in sections:
        known, unknown = _split(module, prefix)
        lines += ["", f"## {title}", "", _wrapped(known)]
        if module is builtins:
            lines += ["", "`numba.prange` means `range`."]
        if module is np:
            lines += ["", f"Indexed: {_wrapped(_INDEXED)}"]
        if unknown and refused and module is not builtins:
            lines += ["", f"Not supported, ADC010: {_wrapped(unknown)}"]
    lines += ["", "## `np.polynomial`", "", _wrapped(sorted(composed.SERIES))]
    lines += ["", "## `np.emath`", "", _wrapped(composed.COMPLEX)]
    lines += ["", "## `np.testing`", "", _wrapped(composed.TESTING)]
    elsewhere = [name for op in OPS.values() for name in op.spellings if isinstance(name, str)]
    elsewhere += library.named()
    if elsewhere:
        lines += ["", "## SciPy", "", _wrapped(sorted(elsewhere))]
    lines += ["", "## Standard library", "", _wrapped(_standard())]
    lines += [
        "",
        "Any other function of NumPy, SciPy or Python's standard library is refused with ADC010, "
        "and so is an argument that a function does not take here.",
    ]
    lines += ["", f"Not supported as a whole: {_wrapped(_ELSEWHERE)}"]
    lines += [
        "",
        "## Derivatives inside code",
        "",
        _wrapped(f"adc.{name}" for name in nested.names()),
        "",
        "They apply to functions, lambdas and methods, also as decorators, and to each other in "
        "any order. Functions with custom rules (`adc.custom_vjp`, `adc.custom_jvp`) can be "
        "called, and so can functions that are called as they are (`adc.external`).",
    ]
    lines += ["", "## Methods", ""]
    lines.append(f"- of arrays: {_wrapped(sorted(library.METHODS))}")
    lines.append(f"- of lists: {_wrapped(sorted(attributes.LIST_METHODS))}")
    lines.append(f"- of deques: {_wrapped(sorted(attributes.DEQUE_METHODS))}")
    lines.append(f"- of dicts: {_wrapped(sorted(attributes.DICT_METHODS))}")
    lines.append(f"- of counters: {_wrapped(sorted(attributes.COUNTER_METHODS))}")
    lines.append(f"- of `np.random.Generator`: {_wrapped(sorted(draws.METHODS))}")
    lines.append(f"- of `np.random.RandomState`: {_wrapped(sorted(draws.LEGACY))}")
    lines.append(f"- of communicators of mpi4py: {_wrapped(communication.METHODS)}")
    lines.append(f"- of loggers: {_wrapped(effects.METHODS)}")
    lines += [
        "",
        "A random generator is an `np.random.Generator` with the bit generator PCG64, or an "
        "`np.random.RandomState` with MT19937: an argument, a captured variable, or a result of "
        "`np.random.default_rng(seed)` or `np.random.RandomState(seed)`. The functions of "
        "`np.random`, such as `np.random.rand`, draw from one that NumPy keeps for them.",
        "",
        "## Objects",
        "",
        "The methods that Python calls implicitly for operators, builtins and attributes of an "
        "instance.",
        "",
        "| in the class | state |",
        "|---|---|",
    ]
    lines += [f"| {names} | {state} |" for names, state in special.table()]
    lines += [
        "",
        "## Scalar operations and their derivatives",
        "",
        "| operation | derivative |",
        "|---|---|",
    ]
    for op in sorted(OPS.values(), key=lambda op: op.name):
        if "f" in op.kinds and op.ufunc is None:  # functions of SciPy are above
            lines.append(f"| {op.name} | {_derivative(op)} |")
    return "\n".join(lines) + "\n"
