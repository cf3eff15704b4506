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
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import optree

from adc.api.derivative import Batched, Derivative, Jitted, pure
from adc.api.making import make, split
from adc.api.products import jvp, pullback, vjp
from adc.compiler.compiled import sizes_of
from adc.functions import name_of, plain
from adc.ir.analysis.sizes import formulas
from adc.ir.analysis.sizes.symbols import Symbols
from adc.ir.core import Value
from adc.ir.errors import NonScalarError, UnsupportedError
from adc.ir.types import Array
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

    def __init__(
        self, fn: Callable[..., Any], options: Options = _DEFAULT,
        of: tuple[Program, Callable[[Program, bool], Program]] | None = None, copies: bool = False,
    ) -> None:  # fmt: skip
        self.fn = fn if isinstance(fn, Derivative) else plain(fn)
        self.options = options
        # Plans are for the first derivative: what runs once more, or a batch, is larger.
        self._unplanned = replace(options, memory=None, remat="auto", offload=None)
        self._run = _compiled(self.fn, self._unplanned)
        self._made: dict[Any, Any] = {}
        # What it is a derivative or a batch of, and how it is made of that; whether with copies.
        self._of, self._copies = of, copies
        self._careful: Program | None = None
        # Arguments, by what tells apart those with other results, for which it returns no number.
        self._without_gradient: set[Any] = set()

    @property
    def is_planned(self) -> bool:
        """Whether options limit what reverse code stores."""
        return self.options != self._unplanned

    def run(self, args: Sequence[Any]) -> Any:
        """Return the result."""
        return self._carefully(lambda program: program._run(*args))

    def _carefully(self, call: Callable[[Program], Any]) -> Any:
        """Return what is made of this program, or with copies where that is needed."""
        if self._careful is not None:
            return call(self._careful)
        try:
            return call(self)
        except UnsupportedError as error:
            # Perhaps the function changes an argument that is held fixed.
            careful = self.copying()
            if careful is self:
                raise
            try:
                found = call(careful)
            except UnsupportedError:
                raise error from None
            self._careful = careful
            return found

    def copying(self) -> Program:
        """Return this program with derivatives of functions that may change what is held fixed.

        They are passed copies of that.
        """
        if self._of is None or self._copies:
            return self
        inner, make = self._of
        return make(inner.copying(), True)

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
        try:
            value, slopes = self.both(moved).run(args)
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

    def both(self, moved: tuple[int, ...]) -> Program:
        """Return the program of the value, which is one float, and a tuple of gradients."""

        def made(inner: Program, copies: bool) -> Program:
            fn: Any = make("value_and_grad", inner.fn, moved, None, False, False, self.options)
            return Program(fn, self.options, (inner, made), copies)

        return self._once(("both", moved), made)

    def result_like(self, args: Sequence[Any], unknown: Collection[int]) -> Any:
        """Return something of the structure, shapes and dtypes of the result; nothing is run.

        None if a shape does not follow from the shapes of the arguments, and from integers among
        them that are not `unknown`.
        """
        return self._carefully(lambda program: program._result_like(args, unknown))

    def _result_like(self, args: Sequence[Any], unknown: Collection[int]) -> Any:
        code = self._run._code
        if code.way.levels:  # its code is that of the function, and computes more
            return None
        values = code.match(tuple(args), {})
        compiled, hidden = code.find(values)
        fn = compiled.lowered.fn
        leaves = [*compiled.signature.leaves(values), *hidden]
        known = formulas.Known(
            formulas.names_of(
                {
                    name: size
                    for name, size in sizes_of(compiled.lowered, leaves)
                    if not (isinstance(size, int) and size in unknown)
                }
            )
        )
        symbols = Symbols(fn)
        flat: list[Any] = []
        for operand in fn.results:
            if not isinstance(operand.type, Array):
                flat.append(operand.type.numpy.type(0))
                continue
            assert isinstance(operand, Value)
            shape = [size.value(known) for size in symbols.shape(operand)]
            if None in shape:
                return None
            sizes = tuple([max(int(size), 0) for size in shape if size is not None])
            flat.append(np.broadcast_to(operand.type.numpy.type(0), sizes))
        return compiled.present(flat, values)

    def pulled(self, count: int, moved: tuple[int, ...]) -> Program:
        """Return the program that pulls back cotangents.

        Its arguments are a cotangent of the result, and the arguments of this one; it returns a
        tuple of cotangents, of the arguments that moved.
        """

        def text(copies: bool) -> str:
            given = _arguments(count)
            return (
                f"def pulled(ct, {', '.join(given)}):\n"
                f"    def moving({', '.join(f'm{k}' for k in moved)}):\n"
                f"        return _function({_mixed(given, moved, copies)})\n"
                f"    _, pull = _vjp(moving, {', '.join(given[k] for k in moved)})\n"
                f"    return pull(ct)\n"
            )

        return self._derived(("pulled", count, moved), text)

    def pushed(self, count: int, moved: tuple[int, ...]) -> Program:
        """Return the program that pushes tangents forward.

        Its arguments are a tuple of tangents of the arguments that moved, and the arguments of this
        one; it returns the tangent of the result.
        """

        def text(copies: bool) -> str:
            given = _arguments(count)
            return (
                f"def pushed(dots, {', '.join(given)}):\n"
                f"    def moving({', '.join(f'm{k}' for k in moved)}):\n"
                f"        return _function({_mixed(given, moved, copies)})\n"
                f"    return _jvp(moving, ({''.join(f'{given[k]}, ' for k in moved)}), dots)[1]\n"
            )

        return self._derived(("pushed", count, moved), text)

    def batched(self, axes: tuple[Any, ...]) -> Program:
        """Return the program of batches: `axes` has an axis of each argument, as for `adc.vmap`."""
        leaves, spec = flatten(axes)
        encoded = (batches.encoded(axes), batches.encoded(0))

        def make(inner: Program, copies: bool) -> Program:
            fn = Batched(inner.fn, encoded, self._unplanned)
            return Program(fn, self._unplanned, (inner, make), copies)

        return self._once(("batched", tuple(leaves), spec), make)

    def _derived(self, key: Any, text: Callable[[bool], str]) -> Program:
        def make(inner: Program, copies: bool) -> Program:
            names = {"_deepcopy": copy.deepcopy} if copies else {}
            fn = _defined(text(copies), _function=inner.fn, _vjp=vjp, _jvp=jvp, **names)
            return Program(fn, self._unplanned, (inner, make), copies)

        return self._once(key, make)

    def _once(self, key: Any, make: Callable[[Program, bool], Program]) -> Program:
        if key not in self._made:
            self._made[key] = make(self, False)
        found: Program = self._made[key]
        return found


def _compiled(fn: Callable[..., Any], asked: Options) -> Derivative:
    function, levels, how = split(fn, asked)
    kind = Derivative if levels else Jitted
    # Others run it as often as they like, and its derivatives apart.
    return pure(kind(function, levels, how))


def _arguments(count: int) -> list[str]:
    return [f"a{k}" for k in range(count)]


def _mixed(given: Sequence[str], moved: Sequence[int], copies: bool) -> str:
    """Return the arguments of a call in which some have other names, and others may be copies."""
    held = "_deepcopy({})" if copies else "{}"
    return ", ".join(f"m{k}" if k in moved else held.format(name) for k, name in enumerate(given))


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


def leaves_of(spec: Any, moved: Sequence[int], parts: Sequence[Any]) -> dict[int, Any]:
    """Return the leaves of parts that are like arguments that moved, by position among all leaves.

    Of dicts the keys count: one may be ordered where the other is not.
    """
    owner = owners(spec)
    children = optree.treespec_children(spec)
    found: dict[int, Any] = {}
    for k, part in zip(moved, parts, strict=True):
        first = owner.index(k)
        found.update(enumerate(children[k].flatten_up_to(part), first))
    return found


def whole_axis(axes: Any) -> Any:
    """Return one axis for an argument, if all of its arrays have the same."""
    leaves = flatten(axes)[0]
    return leaves[0] if len(set(leaves)) == 1 else axes


__all__ = ["Program", "flatten", "fresh", "kept", "leaves_of", "owners", "unflatten", "whole_axis"]
