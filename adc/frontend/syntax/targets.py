"""Variables of comprehensions that have the name of another one.

A comprehension has a scope of its own. A function that is called in it may read a variable around
it that has the same name:

    k = 2.0
    def scaled(v):
        return v * k
    return sum([scaled(k) for k in x])      # `scaled` multiplies by 2

So may the first iterable, ``[x**2 for x in x]``. The comprehension's variable gets a new name in
its syntax tree, so that there are not two of one name.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator, Mapping
from functools import lru_cache

from adc.frontend.syntax.scope import COMPREHENSIONS, FUNCTIONS

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@lru_cache(maxsize=64)
def with_own_targets(node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | ast.Lambda:
    """Return a function in which no comprehension hides a variable that is read beside it.

    The variable is read by another function, or by the first iterable.
    """
    if not any(_hidden(node)):
        return node
    made = copy.deepcopy(node)
    taken = {inner.id for inner in ast.walk(made) if isinstance(inner, ast.Name)}
    for comprehension, names in list(_hidden(made)):
        new = {}
        for name in sorted(names):
            new[name] = next(
                each for k in itertools.count(1) if (each := f"{name}_{k}") not in taken
            )
            taken.add(new[name])
        _rename(comprehension, new)
    return made


def _hidden(root: ast.AST) -> Iterator[tuple[_Comprehension, set[str]]]:
    """Yield comprehensions, and their variables whose names are read outside of them."""
    for function in ast.walk(root):
        if isinstance(function, FUNCTIONS):
            own = list(_own(function))
            read = {id(each): _read(each) for each in own if isinstance(each, FUNCTIONS)}
            for comprehension in own:
                if isinstance(comprehension, COMPREHENSIONS):
                    inside = {id(each) for part in _parts(comprehension) for each in ast.walk(part)}
                    others = (names for key, names in read.items() if key not in inside)
                    first = _read(comprehension.generators[0].iter)
                    names = _targets(comprehension) & first.union(*others)
                    if names:
                        yield comprehension, names


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in a function, but not what is in functions in it."""
    todo = list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            todo += ast.iter_child_nodes(node)


def _read(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _targets(comprehension: _Comprehension) -> set[str]:
    return {
        inner.id
        for generator in comprehension.generators
        for inner in ast.walk(generator.target)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    }


def _parts(comprehension: _Comprehension) -> Iterator[ast.AST]:
    """Yield the parts that see the variables of a comprehension: all but the first iterable."""
    for k, generator in enumerate(comprehension.generators):
        yield generator.target
        yield from generator.ifs
        if k:
            yield generator.iter
    if isinstance(comprehension, ast.DictComp):
        yield comprehension.key
        yield comprehension.value
    else:
        yield comprehension.elt


def _rename(comprehension: _Comprehension, new: Mapping[str, str]) -> None:
    todo = [(part, new) for part in _parts(comprehension)]
    while todo:
        node, known = todo.pop()
        if isinstance(node, ast.Name):
            node.id = known.get(node.id, node.id)
        elif isinstance(node, ast.Lambda):
            args = node.args
            todo += [(each, known) for each in (*args.defaults, *args.kw_defaults) if each]
            own = {each.arg for each in ast.walk(args) if isinstance(each, ast.arg)}
            todo.append((node.body, _without(known, own)))
        elif isinstance(node, COMPREHENSIONS):
            todo.append((node.generators[0].iter, known))
            todo += [(part, _without(known, _targets(node))) for part in _parts(node)]
        else:
            todo += [(child, known) for child in ast.iter_child_nodes(node)]


def _without(known: Mapping[str, str], names: set[str]) -> Mapping[str, str]:
    return {name: new for name, new in known.items() if name not in names}


__all__ = ["with_own_targets"]
