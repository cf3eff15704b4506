"""Functions for other frameworks: their derivatives are functions of the same kind.

A framework that differentiates (PyTorch, JAX) asks for the derivative of what it calls, and then
for the derivative of that. A `Program` is a Python function of positional arguments that adc can
read. What pulls cotangents back through it, what pushes tangents forward, and what applies it to a
batch are programs again: Python functions that call `adc.vjp`, `adc.jvp` and `adc.vmap`. Hence
there are derivatives of every order, and batches of them.

>>> square = Program(lambda x, n: n * x * x)
>>> square.run((3.0, 2))
18.0
>>> pulled = square.pulled(2, (0,))  # of two arguments, with respect to the first
>>> pulled.run((1.0, 3.0, 2))  # of a cotangent and the arguments
(12.0,)
>>> pulled.pulled(3, (1,)).run(((1.0,), 1.0, 3.0, 2))
(4.0,)
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import linecache
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import optree

from adc.api.derivative import Batched, Derivative, Jitted
from adc.api.making import make, split
from adc.api.products import jvp, pullback, vjp
from adc.functions import name_of, plain
from adc.ir.errors import NonScalarError
from adc.library import batches
from adc.options import Options

# Structures of anything; None is a leaf.
flatten: Any = functools.partial(optree.tree_flatten, none_is_leaf=True)
unflatten: Any = optree.tree_unflatten

_DEFAULT = Options()
# Those that nobody can change.
_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), np.generic)


class Program:
    """A Python function of positional arguments, with derivatives of the same kind.

    Parameters
    ----------
    fn : callable
        A function that adc can read, or a derivative.
    options : Options
        Those of its first derivatives, and of running it.
    """

    def __init__(self, fn: Callable[..., Any], options: Options = _DEFAULT) -> None:
        self.fn = fn if isinstance(fn, Derivative) else plain(fn)
        self.options = options
        # Plans are for the first derivative: what runs once more, or a batch, is larger.
        self._unplanned = replace(options, memory=None, remat="auto", offload=None)
        self._run = _compiled(self.fn, self._unplanned)
        self._made: dict[Any, Any] = {}
        # Arguments, by what tells apart those with other results, for which it returns no number.
        self._without_gradient: set[Any] = set()

    @property
    def is_planned(self) -> bool:
        """Whether options limit what reverse code stores."""
        return self.options != self._unplanned

    def run(self, args: Sequence[Any]) -> Any:
        """Return the result."""
        return self._run(*args)

    def with_names(self, count: int, names: tuple[str, ...]) -> Program:
        """Return the program of positional arguments, the last of which are passed by name here."""
        if not names:
            return self
        if (count, names) not in self._made:
            given = dict.fromkeys(names)
            inspect.signature(self.fn).bind(*[None] * count, **given)  # raises as a call does
            positional = [f"a{k}" for k in range(count)]
            keywords = [f"{name}={name}" for name in names]
            text = (
                f"def {_identifier(self.fn)}({', '.join((*positional, *names))}):\n"
                f"    return _function({', '.join((*positional, *keywords))})\n"
            )
            # Parameters keep their names, which errors show.
            clash = {"_function", *positional} & {*names}
            assert not clash, f"parameters are named {clash}"
            self._made[count, names] = Program(_defined(text, _function=self.fn), self.options)
        found: Program = self._made[count, names]
        return found

    def value_and_gradient(
        self, args: Sequence[Any], moved: tuple[int, ...], key: Any
    ) -> tuple[Any, tuple[Any, ...]] | None:
        """Return value and gradient with respect to some arguments; None if it is no number.

        Parameters
        ----------
        key
            What tells apart arguments for which the result may be a number or not.
        """
        if key in self._without_gradient:
            return None
        if moved not in self._made:
            self._made[moved] = make(
                "value_and_grad", self.fn, moved, None, False, False, self.options
            )
        try:
            value, slopes = self._made[moved](*args)
        except NonScalarError:
            self._without_gradient.add(key)
            return None
        return value, slopes

    def value_and_pull(
        self, args: Sequence[Any], moved: tuple[int, ...]
    ) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        """Return the value, and what pulls back cotangents within the plan that options ask for."""
        pull = pullback(self.fn, args, self.options, moved=moved)
        return pull.value, lambda ct: tuple([each for k, each in enumerate(pull(ct)) if k in moved])

    def pulled(self, count: int, moved: tuple[int, ...]) -> Program:
        """Return the program that pulls back cotangents.

        Its arguments are a cotangent of the result, and the arguments of this one; it returns a
        tuple of cotangents, of the arguments that moved.
        """
        given = _arguments(count)
        text = (
            f"def pulled(ct, {', '.join(given)}):\n"
            f"    def moving({', '.join(f'm{k}' for k in moved)}):\n"
            f"        return _function({_mixed(given, moved)})\n"
            f"    _, pull = _vjp(moving, {', '.join(given[k] for k in moved)})\n"
            f"    return pull(ct)\n"
        )
        return self._derived(("pulled", count, moved), text)

    def pushed(self, count: int, moved: tuple[int, ...]) -> Program:
        """Return the program that pushes tangents forward.

        Its arguments are a tuple of tangents of the arguments that moved, and the arguments of this
        one; it returns the tangent of the result.
        """
        given = _arguments(count)
        text = (
            f"def pushed(dots, {', '.join(given)}):\n"
            f"    def moving({', '.join(f'm{k}' for k in moved)}):\n"
            f"        return _function({_mixed(given, moved)})\n"
            f"    return _jvp(moving, ({''.join(f'{given[k]}, ' for k in moved)}), dots)[1]\n"
        )
        return self._derived(("pushed", count, moved), text)

    def batched(self, axes: tuple[Any, ...]) -> Program:
        """Return the program of batches: `axes` has an axis of each argument, as for `adc.vmap`."""
        leaves, spec = flatten(axes)
        key = ("batched", tuple(leaves), spec)
        if key not in self._made:
            encoded = (batches.encoded(axes), batches.encoded(0))
            self._made[key] = Program(Batched(self.fn, encoded, self._unplanned), self._unplanned)
        found: Program = self._made[key]
        return found

    def _derived(self, key: Any, text: str) -> Program:
        if key not in self._made:
            fn = _defined(text, _function=self.fn, _vjp=vjp, _jvp=jvp)
            self._made[key] = Program(fn, self._unplanned)
        found: Program = self._made[key]
        return found


def _compiled(fn: Callable[..., Any], asked: Options) -> Derivative:
    function, levels, how = split(fn, asked)
    kind = Derivative if levels else Jitted
    return kind(function, levels, how)


def _arguments(count: int) -> list[str]:
    return [f"a{k}" for k in range(count)]


def _mixed(given: Sequence[str], moved: Sequence[int]) -> str:
    """Return the arguments of a call in which some have other names."""
    return ", ".join(f"m{k}" if k in moved else name for k, name in enumerate(given))


def _identifier(fn: Callable[..., Any]) -> str:
    name = name_of(fn)
    return name if name.isidentifier() else "function"


def _defined(text: str, **values: Any) -> Callable[..., Any]:
    """Return a function of a source, in which names are bound to values."""
    return _factory(text, tuple(values))(**values)  # type: ignore[no-any-return]  # of any source


@functools.lru_cache(maxsize=1024)
def _factory(text: str, names: tuple[str, ...]) -> Callable[..., Any]:
    """Return a function that makes a function of a source; the code of all is one object."""
    name = text[len("def ") : text.index("(")]
    indented = "".join(f"    {line}\n" for line in text.splitlines())
    text = f"def make({', '.join(names)}):\n{indented}    return {name}\n"
    file = f"<adc {zlib.crc32(text.encode()):08x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, file, "exec"), space)
    made: Callable[..., Any] = space["make"]
    return made


# -- arguments that a framework does not know ------------------------------------------------------


def kept(leaves: Sequence[Any]) -> list[Any]:
    """Return copies of what the caller may change before a derivative is asked for."""
    if all(isinstance(leaf, _CONSTANTS) for leaf in leaves):
        return list(leaves)
    return copy.deepcopy(list(leaves))  # at once: two names of one object stay that


def fresh(leaves: Sequence[Any]) -> list[Any]:
    """Return copies of what a run changes: random generators, and objects that may hold some."""
    if all(isinstance(leaf, (*_CONSTANTS, np.ndarray)) for leaf in leaves):
        return list(leaves)
    arrays = {id(leaf): leaf for leaf in leaves if isinstance(leaf, np.ndarray)}
    return copy.deepcopy(list(leaves), arrays)


@functools.lru_cache(maxsize=1024)
def owners(spec: Any) -> tuple[int, ...]:
    """Return for each leaf of a tuple of arguments in which of them it is."""
    counts = [child.num_leaves for child in optree.treespec_children(spec)]
    return tuple(itertools.chain.from_iterable([k] * count for k, count in enumerate(counts)))


__all__ = ["Program", "flatten", "fresh", "kept", "owners", "unflatten"]
