"""Variables of inner scopes that have the name of one around them, which changes no meaning.

The writers of random programs number names, so that no two variables have the same one. Here those
of comprehensions, lambdas and inner functions get names that others have, outside.
"""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Iterator

_COMPREHENSIONS = (ast.ListComp, ast.DictComp, ast.GeneratorExp)
_Scope = ast.FunctionDef | ast.Lambda | ast.ListComp | ast.DictComp | ast.GeneratorExp


def reused(source: str, seed: int) -> str:
    """Return a program in which some names are reused in inner scopes."""
    tree = ast.parse(source)
    rng = random.Random(f"names {seed}")
    often = Counter(re.findall(r"\w+", source))
    new: dict[str, str] = {}
    for scope, around in _scopes(tree, ()):
        inside = Counter(re.findall(r"\w+", ast.unparse(scope)))
        others = sorted({name for each in around for name in _bound(each)} - {*inside})
        # What functions beside it read is where a mistake would be.
        others = sorted(_read(around[-1], scope) & {*others}) or others
        for name in sorted(_bound(scope)):
            # Of its own, and nothing else is called so.
            if others and name not in new and inside[name] == often[name] and rng.random() < 0.5:
                other = rng.choice(others)
                if other not in new and other not in new.values():
                    new[name] = other
    return re.sub(r"\w+", lambda found: new.get(found[0], found[0]), source)


def _scopes(
    node: ast.AST, around: tuple[_Scope, ...]
) -> Iterator[tuple[_Scope, tuple[_Scope, ...]]]:
    """Yield the scopes in functions, each with those around it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Scope):
            if around:
                yield child, around
            yield from _scopes(child, (*around, child))
        else:
            yield from _scopes(child, around)


def _read(around: _Scope, scope: _Scope) -> set[str]:
    """Return the names in functions that a scope has, but for one of them."""
    functions = [
        each for each in ast.walk(around)
        if isinstance(each, ast.FunctionDef | ast.Lambda) and each not in (around, scope)
    ]  # fmt: skip
    return {
        inner.id for each in functions for inner in ast.walk(each) if isinstance(inner, ast.Name)
    }


def _bound(scope: _Scope) -> set[str]:
    """Return the names that a scope binds, or one in it."""
    if isinstance(scope, _COMPREHENSIONS):
        targets = [inner for each in scope.generators for inner in ast.walk(each.target)]
        return {inner.id for inner in targets if isinstance(inner, ast.Name)}
    if any(isinstance(inner, ast.Nonlocal) for inner in ast.walk(scope)):
        return set()
    names = {inner.arg for inner in ast.walk(scope.args) if isinstance(inner, ast.arg)}
    if isinstance(scope, ast.FunctionDef):
        stored = [each for stmt in scope.body for each in ast.walk(stmt)]
        names |= {
            each.id for each in stored
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }  # fmt: skip
    return names


__all__ = ["reused"]
