"""Iterators that are stored: `zip`, `enumerate`, `map`, `filter`, and generator expressions.

``mean(zip(x, w))`` passes an object. It is a generator of the library (`control.suspended`): one
loop consumes it as if it stood there. Where several places draw from it, it is an object that
holds an iterator over each of what it goes over.
"""

from __future__ import annotations

import ast
from typing import Any

from adc.frontend.control import evaluation, suspended
from adc.frontend.core import dispatch
from adc.frontend.core.bindings import Binding, ObjectRef, Static, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.language import generators
from adc.frontend.values import elementwise, objects, sequences
from adc.library.standard import iteration

# The code of the generator that an iterator is, and the class where several places draw from it.
_OF: dict[Any, tuple[Any, type[iteration.Stored]]] = {
    zip: (iteration.pairs, iteration.Zipped),
    enumerate: (iteration.numbers, iteration.Numbered),
    map: (iteration.images, iteration.Mapped),
    filter: (iteration.chosen, iteration.Filtered),
}


def iterator(lo: Lowerer, node: ast.expr) -> Binding | None:
    """Return the object that an iterator is which is to be stored; None for another expression."""
    if isinstance(node, ast.GeneratorExp):
        first = node.generators[0].iter
        made = iterator(lo, first)
        return suspended.expression(lo, node, made or evaluation.lower_expr(lo, first))
    known = {fn.__name__ for fn in _OF}
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return None
    if node.func.id not in known or not node.args:
        return None
    callee = dispatch.evaluate(lo, node.func)
    if not (isinstance(callee, Static) and isinstance(callee.value, type)):
        return None
    if callee.value not in _OF or {each.arg for each in node.keywords} - {"start"}:
        return None
    code, cls = _OF[callee.value]
    args = _given(lo, node)
    kwargs = {str(each.arg): evaluation.lower_expr(lo, each.value) for each in node.keywords}
    found = generators.found_in(lo, Static(code))
    assert found is not None
    stepped = suspended.is_stepped(lo, found)
    if not stepped and not any(isinstance(each, ObjectRef) for each in args):
        return suspended.made(lo, found, args, kwargs, node)
    lead = 1 if callee.value in (map, filter) else 0
    count = 1 if callee.value is enumerate else len(args) - lead
    parts = [_part(lo, each, node) for each in args[lead : lead + count]]
    over = parts if cls in (iteration.Numbered, iteration.Filtered) else [TupleOf(tuple(parts))]
    return objects.construct(lo, cls, [*args[:lead], *over, *args[lead + count :]], kwargs, node)


def _given(lo: Lowerer, node: ast.Call) -> list[Binding]:
    found: list[Binding] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            found += sequences.static_sequence(lo, generators.starred(lo, arg), arg)
            continue
        value = iterator(lo, arg) or evaluation.lower_optional(lo, arg)
        found.append(elementwise.materialised(lo, value, arg))
    return found


def _part(lo: Lowerer, given: Binding, node: ast.Call) -> Binding:
    """Return an iterator over something."""
    made = dispatch.apply(lo, Static(iter), [given], {}, node)
    if isinstance(made, ObjectRef) and issubclass(made.cls, iteration.Stored):
        return made
    return objects.construct(lo, iteration.Drawn, [made], {}, node)
