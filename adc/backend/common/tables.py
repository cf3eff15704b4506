"""Which parameters can be arrays in parts, as the layers of a model are in memory of their own.

A list of elements that are alike is one array in the IR, with the elements along its first axis
(`adc.frontend.inputs.stacks`). Code for the CPU need not be given a copy of them in one piece.
Where it reads such an array element by element, or one part whole, the addresses of the parts do: a
*table*. The text is the same: ``w[k, i, j]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adc.backend.common.syntax import (
    Attribute,
    Call,
    Element,
    Expr,
    Function,
    Global,
    Name,
    Size,
    children,
    expressions,
    targets,
    walk,
)


def tables(code: Sequence[Function], main: str, names: Iterable[str]) -> frozenset[str]:
    """Return those of some parameters of the function `main` of a file that can be tables."""
    search = _Search({each.name: each for each in code})
    return frozenset([name for name in names if search.may_be(main, name)])


class _Search:
    def __init__(self, functions: dict[str, Function]) -> None:
        self.functions = functions
        self.found: dict[tuple[str, str], bool] = {}
        self.uses: dict[str, list[tuple[Expr, bool]]] = {}

    def may_be(self, function: str, name: str) -> bool:
        """Whether a parameter of a function can be a table."""
        key = (function, name)
        if key not in self.found:
            self.found[key] = True  # of a function that calls itself, until another use is found
            self.found[key] = self.is_read_by_parts(self.functions[function], name)
        return self.found[key]

    def is_read_by_parts(self, function: Function, name: str) -> bool:
        for stmt in walk(function.body):
            if name in targets(stmt):
                return False
            for expr in expressions(stmt):
                if not self.allows(expr, name):
                    return False
        return True

    def allows(self, expr: Expr, name: str) -> bool:
        """Whether an expression reads an array by its parts, if at all."""
        match expr:
            case Name(id):
                return id != name
            case Element(Name(), rest) | Call("row_at", (Name(), *rest)):
                inner: Iterable[Expr] = rest
            case Call("part_of", (_, Name(), *rest)):
                inner = rest
            case Size(Name()) | Attribute(Name(), "shape"):
                return True
            case Call("parallel_for", (_, Global(callee), trips, work, *rest)):
                return self.passes(callee, rest, 3, name) and all(
                    self.allows(each, name) for each in (trips, work)
                )
            case Call(callee, args) if callee in self.functions:
                return self.passes(callee, args, 0, name)
            case _:
                inner = children(expr)
        return all(self.allows(each, name) for each in inner)

    def passes(self, callee: str, args: Sequence[Expr], first: int, name: str) -> bool:
        """Whether a call passes an array, if at all, where it can be a table."""
        params = self.functions[callee].params[first:]
        return all(
            self.may_be(callee, param) if arg == Name(name) else self.allows(arg, name)
            for param, arg in zip(params, args, strict=True)
        )


__all__ = ["tables"]
