"""Shrinks programs that fail: the smallest one that still does."""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.fuzz.program import Generated, forget, in_python


def _reductions(tree: ast.Module, first: int = 0) -> Iterator[tuple[int, ast.Module]]:
    """Yield smaller programs: a statement less, a block instead of its loop or branch, a subterm
    instead of an expression. The number of the node that was changed comes with each."""
    count = sum(1 for _ in ast.walk(tree))
    for position in range(first, count):
        for variant in itertools.count():
            smaller = copy.deepcopy(tree)
            node = next(itertools.islice(ast.walk(smaller), position, None))
            if not _reduce(node, variant):
                break
            yield position, ast.fix_missing_locations(smaller)


_REDUCIBLE = (
    ast.BinOp, ast.Call, ast.IfExp, ast.UnaryOp, ast.BoolOp, ast.Subscript, ast.Attribute,
    ast.Compare, ast.NamedExpr, ast.List, ast.Tuple, ast.GeneratorExp, ast.ListComp,
)  # fmt: skip


def _reduce(node: ast.AST, variant: int) -> bool:
    """Apply the reduction number `variant` below `node`; return whether there is one."""
    for name, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            for k, statement in enumerate(value):
                inner = [s for part in ("body", "orelse") for s in getattr(statement, part, [])]
                replacements: list[list[ast.stmt]] = [[]]
                if inner and not isinstance(statement, ast.FunctionDef):
                    replacements += [list(getattr(statement, "body", [])), inner]
                if variant < len(replacements):
                    value[k : k + 1] = replacements[variant]
                    if not value and name != "orelse":
                        value.append(ast.Pass())
                    return True
                variant -= len(replacements)
        parts = value if isinstance(value, list) else [value]
        for k, part in enumerate(parts):
            if not isinstance(part, _REDUCIBLE) or not isinstance(
                getattr(part, "ctx", ast.Load()), ast.Load
            ):
                continue
            terms = [t for t in ast.iter_child_nodes(part) if isinstance(t, ast.expr)]
            if variant < len(terms):
                if isinstance(value, list):
                    value[k] = terms[variant]
                else:
                    setattr(node, name, terms[variant])
                return True
            variant -= len(terms)
    return False


def _runs(generated: Generated, limit: int = 100_000, raising: bool = False) -> bool:
    """Return whether the program gives a finite number within `limit` lines, or may raise.

    A reduced program may well have lost the ``break`` or the counter that ended its loop.
    """
    left = limit

    def count(frame: Any, event: str, arg: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise TimeoutError
        return count

    fn, args = in_python(generated), generated.make_args()
    previous = sys.gettrace()
    sys.settrace(count)
    try:
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            return math.isfinite(float(fn(*args)))
    except TimeoutError:
        return False
    except Exception:
        return raising
    finally:
        sys.settrace(previous)


def shrink(
    generated: Generated,
    fails: Callable[[Generated], bool],
    seconds: float = 60.0,
    *,
    raising: bool = False,
) -> Generated:
    """Return a smaller program that still fails, found greedily within about `seconds`.

    Only programs that run in Python are tried; with `raising` those that raise, too.
    """
    best = generated
    end = time.monotonic() + seconds
    improved = True
    while improved:
        improved = False
        position = 0
        while True:
            smaller, position = _next_smaller(best, fails, position, end, raising)
            if smaller is None:
                break
            forget(best)
            best, improved = smaller, True
        if time.monotonic() > end:
            break
    return best


def _next_smaller(
    best: Generated,
    fails: Callable[[Generated], bool],
    position: int,
    end: float,
    raising: bool,
) -> tuple[Generated | None, int]:
    """Return a smaller program that fails, and the node from which to look on."""
    for at, tree in _reductions(ast.parse(best.source), position):
        if time.monotonic() > end:
            break
        source = ast.unparse(tree) + "\n"
        if len(source) >= len(best.source):
            continue
        try:
            smaller = best.with_source(source)
        except Exception:  # a reduced module may fail in any way, or have lost `program`
            continue
        if _runs(smaller, raising=raising) and fails(smaller):
            return smaller, at
        forget(smaller)
    return None, 0
