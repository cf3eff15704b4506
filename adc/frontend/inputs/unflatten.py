"""Results that are arranged like an argument: gradients."""

from __future__ import annotations

import collections
import itertools
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adc.frontend.inputs import bases, complexes
from adc.frontend.inputs.instances import is_named_tuple
from adc.frontend.inputs.trees import (
    DEFAULTS,
    DICTS,
    Complex,
    Node,
    Numbers,
    Stack,
    contents,
    factory_of,
    is_container,
    leaf_types,
)
from adc.ir import foreign
from adc.ir.errors import ArgumentError
from adc.ir.types import HALF, Array, Scalar


def narrowed(found: Any) -> Any:
    """Return a derivative, a float32, with the 16 bits of what it is of; too large, infinite."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(found).astype(np.float16, copy=False)[()]


def number(ty: Scalar) -> Callable[[Any], Any]:
    """Return a function that converts numbers to type `ty`: Python's if it is weak."""
    if ty.dtype == HALF:
        return narrowed
    if ty.weak:
        return {"b": bool, "i": int, "f": float}[ty.kind]
    return ty.numpy.type


def arranged(
    trees: Sequence[tuple[Any, tuple[int, ...]]], at: Iterator[int], one: bool,
    converted: bool = True,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that arranges flat gradients, one for each float, like the arguments.

    It takes the arguments of the call as well, for what a derivative has of them: the pattern of a
    sparse array. `trees` are the types of those that are differentiated, each with the indices that
    lead to it. `one`: the first alone is arranged, not a tuple.

    `converted`: and makes numbers, and lists of numbers, where the argument has them.
    """
    writer = _Arrangement(at, converted)
    places = ("values" + "".join(f"[{k}]" for k in path) for _, path in trees)
    found = [writer.of(tree, place) for (tree, _), place in zip(trees, places, strict=True)]
    result = found[0] if one else _tuple(found)
    lines = "".join(f"    {line}\n" for line in writer.lines)
    exec(f"def arrange(flat, values=()):\n{lines}    return {result}\n", writer.names)
    made: Callable[..., Any] = writer.names.pop("arrange")
    return made


class _Arrangement:
    """Code that makes a container like an argument, a statement for each container in it.

    For ``{"w": array, "layers": [float, 3]}`` that is::

        def arrange(flat, values):
            v0 = [c0(flat[1]), None]
            v1 = {'w': flat[0], 'layers': v0}
            return v1
    """

    def __init__(
        self, at: Iterator[int], converted: bool, flat: str = "flat", prefix: str = "v"
    ) -> None:
        self.at = at
        self.converted = converted
        self.flat = flat
        self.prefix = prefix
        self.lines: list[str] = []
        self.names: dict[str, Any] = {
            "build": build, "new": object.__new__, "new_tuple": tuple.__new__,
            "put": object.__setattr__, "like": foreign.like,
        }  # fmt: skip
        self._constants: dict[int, str] = {}

    def constant(self, value: Any) -> str:
        """Return the name of an object, which is kept."""
        name = self._constants.get(id(value))
        if name is None:
            name = self._constants[id(value)] = f"c{len(self._constants)}"
            self.names[name] = value
        return name

    def bind(self, expression: str) -> str:
        name = f"{self.prefix}{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        return name

    def of(self, tree: Any, place: str) -> str:
        """Return an expression for what is where `tree` is; `place` is one for the argument."""
        if is_container(tree):
            steps = _steps(tree)
            items = [
                self.of(item, f"{place}{step}")
                for item, step in zip(contents(tree), steps, strict=True)
            ]
            if isinstance(tree, Node) and foreign.kept_of(tree.cls):
                return self.patterned(tree, items, place)
            if isinstance(tree, tuple):
                return self.bind(_tuple(items))
            return self.node(tree, items)
        if isinstance(tree, Stack):
            return self.stack(tree)
        if isinstance(tree, Complex):
            re, im = (f"{self.flat}[{next(self.at)}]" for _ in range(2))
            if isinstance(tree.type, Scalar) and self.converted:
                part = self.constant(number(tree.type.part))
                re, im = f"{part}({re})", f"{part}({im})"
            return f"{self.constant(complexes.conjugate)}({re}, {im})"
        if not isinstance(tree, Scalar | Array | Numbers):
            return "None"
        kind = tree.type.kind if isinstance(tree, Numbers) else tree.kind
        if kind != "f":
            return "None"
        leaf = f"{self.flat}[{next(self.at)}]"
        if not self.converted:
            return leaf
        if isinstance(tree, Array):
            return f"{self.constant(narrowed)}({leaf})" if tree.dtype == HALF else leaf
        if isinstance(tree, Numbers):
            return f"{leaf}.tolist()"
        return f"{self.constant(number(tree))}({leaf})"

    def stack(self, tree: Stack) -> str:
        """Return an expression for a list with the elements of arrays."""
        rows = self.bind("[]")
        inner = _Arrangement(itertools.count(), False, f"{rows}_flat", f"{rows}_")
        inner.names, inner._constants = self.names, self._constants
        made = inner.of(tree.item, "None")
        columns = []
        for ty, own in zip(leaf_types(tree.item), tree.arrays, strict=True):
            if own.kind == "f":
                whole = f"{self.flat}[{next(self.at)}]"
                if self.converted and own.dtype == HALF:
                    whole = f"{self.constant(narrowed)}({whole})"
                weak = self.converted and isinstance(ty, Scalar) and ty.weak
                columns.append(f"{whole}.tolist()" if weak else whole)
        self.lines.append(f"for {inner.flat} in zip({', '.join(columns)}):")
        self.lines += [f"    {line}" for line in [*inner.lines, f"{rows}.append({made})"]]
        return rows

    def patterned(self, tree: Node, items: list[str], place: str) -> str:
        """Return an expression for a derivative that has a pattern."""
        if not self.converted:
            raise ArgumentError(
                f"the Jacobian with respect to a {tree.cls.__name__}", None,
                "make it of `data` in the function, and differentiate with respect to that",
            )  # fmt: skip
        kept = foreign.kept_of(tree.cls)
        pairs = zip(tree.keys, items, strict=True)
        moved = ", ".join(f"{key!r}: {item}" for key, item in pairs if key not in kept)
        return self.bind(f"like({place}, {{{moved}}})")

    def node(self, tree: Node, items: list[str]) -> str:
        cls = tree.cls
        keys = [repr(key) if type(key) is str else self.constant(key) for key in tree.keys]
        if cls is list:
            return self.bind(f"[{', '.join(items)}]")
        if cls is dict:
            pairs = (f"{key}: {item}" for key, item in zip(keys, items, strict=True))
            return self.bind(f"{{{', '.join(pairs)}}}")
        made = self.constant(cls)
        if is_named_tuple(cls):
            return self.bind(f"new_tuple({made}, {_tuple(items)})")
        if cls in DICTS or cls is types.MethodType or bases.has_contents(cls):
            return self.bind(f"build({made}, {self.constant(tree.keys)}, {_tuple(items)})")
        empty = f"{made}()" if cls is types.SimpleNamespace else f"new({made})"
        name = self.bind(empty)
        for key, item in zip(keys, items, strict=True):
            self.lines.append(f"put({name}, {key}, {item})")
        return name


def _steps(tree: Any) -> list[str]:
    """Return what leads to each item of a container, as it is written."""
    if isinstance(tree, tuple) or tree.cls is list or is_named_tuple(tree.cls):
        return [f"[{k}]" for k in range(len(contents(tree)))]
    if tree.cls is types.MethodType:
        return [".__self__"]
    if bases.has_contents(tree.cls):
        return ["" if key == bases.CONTENTS else f".{key}" for key in tree.keys]
    # Other keys of dicts are not written: what has a pattern is refused there.
    return [f"[{key!r}]" if tree.cls in DICTS else f".{key}" for key in tree.keys]


def _tuple(items: Sequence[str]) -> str:
    return f"({''.join(f'{item}, ' for item in items)})"


def build(cls: type, keys: Sequence[Any], items: Sequence[Any]) -> Any:
    """Return a container of a class with new contents; no code of the class runs."""
    if cls is list:
        return list(items)
    if cls is complexes.Whole:
        return complexes.joined(*items)
    if cls in DICTS:
        if cls in DEFAULTS.values():
            return collections.defaultdict(factory_of(cls), zip(keys, items, strict=True))
        if cls is not collections.Counter:
            return cls(zip(keys, items, strict=True))
        found: Any = cls()
        dict.update(found, zip(keys, items, strict=True))  # its own counts
        return found
    if is_named_tuple(cls):
        return tuple.__new__(cls, items)
    if cls is types.MethodType:
        return items[0]
    other = foreign.standing(cls)
    if other is not None and other.made is not None:
        return other.made(dict(zip(keys, items, strict=True)))
    if bases.has_contents(cls):
        return bases.build(cls, dict(zip(keys, items, strict=True)))
    made: object = cls() if cls is types.SimpleNamespace else object.__new__(cls)
    for name, item in zip(keys, items, strict=True):
        object.__setattr__(made, name, item)
    return made
