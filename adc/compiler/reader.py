"""Checks of the arguments of a call that are like those of the last one, as generated code.

In general a call computes the key of its arguments, looks for code with that key, checks captured
values, takes the arguments apart, and converts what it finds. Most calls have arguments like those
of the call before. For them one function does all of this, written for the structure that code was
made for. For ``f(p)`` with ``p = {"w": array, "k": 2.0}`` it is::

    def read(values):
        try:
            v0, = values
            if type(v0) is not dict or len(v0) != 2: return None
            k1, k2 = v0
            if not (k1 is c1 and k2 is c2) and not same(v0, c3): return None
            v1 = v0['w']
            v2 = v0['k']
            if type(v2) is not c4: return None
            n3 = c5['np']
            if n3 is not c6 and not c7(values): return None
            if not laid_out(v1,): return None
            return [v1, v2]
        except (LookupError, AttributeError, TypeError, ValueError):
            return None

It returns what the kernel takes, or None: then the general way decides what the matter is. Nothing
that has an own rule in `keys.key_of` is checked in another way here: what has no statement of its
own is compared by its key.
"""

from __future__ import annotations

import builtins
import keyword
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adc.compiler.signature import Signature
from adc.frontend.core.state import Lowered
from adc.frontend.inputs import bases, complexes, flatten, instances, keys, stacks, trees
from adc.frontend.inputs.places import Arguments, Guard, Item, Place, Step, Variable
from adc.ir.types import ELEMENTS, Array, Scalar

Read = Callable[[tuple[Any, ...]], "list[Any] | None"]
_NUMBERS = frozenset({float, int, *(dtype.type for dtype in ELEMENTS.values())})


class _Given(list[Any]):
    """Arguments of a kernel, and what must be there as long as they are."""

    __slots__ = ("kept",)


class _UnusualError(Exception):
    """An argument that only the general way can read."""


def reader(
    signature: Signature,
    lowered: Lowered,
    kernel: Any,
    ones: Sequence[Any],
    values: Arguments,
    whole: Sequence[bool],
    directions: int = 0,
) -> Read | None:
    """Return a function that reads arguments like `values`, or None if there is none.

    Parameters
    ----------
    kernel : Kernel
        Of the CPU: others have no `converters`, and read arguments in the general way.
    ones : sequence
        What the kernel is called with besides.
    values : Arguments
        Arguments that the code is for.
    whole : sequence of bool
        For each parameter, whether it is differentiated.
    directions : int
        The number of arguments of the kernel that follow, and are not read.
    """
    if lowered.drawn or lowered.changes or lowered.communicators:
        return None
    if not hasattr(kernel, "converters"):
        return None
    try:
        return _Writer(lowered, kernel, values).written(signature, ones, whole, directions)
    except (_UnusualError, LookupError, AttributeError):
        return None


def _same(found: dict[Any, Any], keys: tuple[Any, ...]) -> bool:
    """Whether a dict has equal keys of the same types in this order."""
    return tuple(found) == keys and list(map(type, found)) == list(map(type, keys))


def _slots(cls: type) -> bool:
    """Whether objects of a class may have attributes outside of their dict."""
    return bases.has_contents(cls) or any(
        type(item) is types.MemberDescriptorType
        for each in cls.__mro__[:-1]
        for item in vars(each).values()
    )


class _Writer:
    """The statements of a reader, in order, and the objects that they name.

    Attributes
    ----------
    args : list of str
        What the kernel is called with.
    arrays : list
        The names of arrays that code takes as they are, with their types.
    apart : list of str
        The names of lists of arrays of which code takes the addresses.
    column : list of str or None
        Within a list that is passed as a stack: the numbers and arrays of an element.
    """

    def __init__(self, lowered: Lowered, kernel: Any, values: Arguments) -> None:
        self.lowered = lowered
        self.kernel = kernel
        self.values = values
        self.lines: list[str] = []
        self.names: dict[str, Any] = {
            "same": _same,
            "key_of": keys.key_of,
            "slots": _slots,
            "Given": _Given,
        }
        self.args: list[str] = []
        self.arrays: list[tuple[str, Array]] = []
        self.column: list[str] | None = None
        self.apart: list[str] = []
        self._count = 0
        self._constants: dict[int, str] = {}
        self._places: dict[tuple[Any, tuple[Step, ...]], str] = {}
        self._classes: set[type] = set()

    def written(
        self, signature: Signature, ones: Sequence[Any], whole: Sequence[bool], directions: int
    ) -> Read:
        """Return the function."""
        lowered = self.lowered
        parameters = [self.name() for _ in signature.types]
        for k, name in enumerate(parameters):
            self._places[k, ()] = name
        if parameters:
            self.lines.append(f"{', '.join(parameters)}, = values")
        for name, value, tree, entire in zip(
            parameters, self.values, signature.types, whole, strict=True
        ):
            self.tree(name, value, tree, entire)
        for guard in lowered.guards:
            self.guard(guard)
        for capture in lowered.captures:
            name, value = self.place(capture.place)
            self.tree(name, value, capture.tree, False)
        convert = self.kernel.converters
        if self.arrays:
            from adc.backend.runtime.layouts import laid_out

            self.names["laid_out"] = laid_out([ty for _, ty in self.arrays])
            names = ", ".join(name for name, _ in self.arrays)
            self.check(f"not laid_out({names})")
        for one in ones:
            self.args.append(self.constant(convert[len(self.args)](one)))
        if len(self.args) + directions != len(convert):
            raise _UnusualError
        given = f"[{', '.join(self.args)}]"
        if self.apart:
            # Of these arrays code gets the addresses: they must not go away meanwhile.
            self.lines += [f"given = Given({given})", f"given.kept = ({', '.join(self.apart)},)"]
            given = "given"
        inner = "\n".join(f"        {line}" for line in self.lines)
        text = (
            f"def read(values):\n    try:\n{inner}\n        return {given}\n"
            "    except (LookupError, AttributeError, TypeError, ValueError):\n"
            "        return None\n"
        )
        exec(compile(text, "<adc: arguments of a call>", "exec"), self.names)
        made: Read = self.names.pop("read")  # or it would be in a cycle of references
        return made

    # -- writing -------------------------------------------------------------------------------

    def name(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def constant(self, value: Any) -> str:
        """Return the name of an object, which is kept."""
        name = self._constants.get(id(value))
        if name is None:
            name = self._constants[id(value)] = f"c{len(self._constants)}"
            self.names[name] = value
        return name

    def check(self, wrong: str) -> None:
        """Give up where something holds."""
        self.lines.append(f"if {wrong}: return None")

    def bind(self, expression: str) -> str:
        name = self.name()
        self.lines.append(f"{name} = {expression}")
        return name

    # -- arguments -----------------------------------------------------------------------------

    def tree(self, name: str, value: Any, tree: Any, whole: bool) -> None:
        """Check what has a name, and add the numbers and arrays in it."""
        cls = type(value)
        if isinstance(tree, Scalar | Array) and trees.type_of(value) != tree:
            raise _UnusualError  # another thread has changed it
        if isinstance(tree, Array) and cls is np.ndarray:
            self.array(name, tree)
        elif isinstance(tree, Scalar) and cls in _NUMBERS:
            self.number(name, cls)
        elif tree is None or type(tree) is bool:
            self.check(f"{name} is not {tree!r}")
        elif isinstance(tree, trees.Instance):
            self.attributes(name, cls, tuple(instances.attributes(value)))
        elif isinstance(tree, trees.Stack):
            self.stack(name, value, tree, whole)
        elif type(tree) is int:
            self.check(f"type({name}) is not int or {name} != {tree}")
        elif trees.is_container(tree) and cls is not types.MethodType:
            self.container(name, value, tree, whole)
        elif isinstance(tree, trees.Complex) and self.column is None:
            self.complex(name, value, tree, whole)
        elif isinstance(tree, Scalar | Array | trees.Numbers | trees.Generator):
            self.unusual(name, value, tree, whole)
        else:
            self.key(name, value, whole)

    def key(self, name: str, value: Any, whole: bool) -> None:
        key = self.constant(keys.key_of(value, whole))
        self.check(f"key_of({name}, {whole}) != {key}")

    def unusual(self, name: str, value: Any, tree: Any, whole: bool) -> None:
        """Read 0-d arrays, and long lists of numbers."""
        if type(value) not in (np.ndarray, list):
            raise _UnusualError
        self.key(name, value, whole)
        self.names["leaves"] = flatten.leaves
        leaf = self.bind(f"leaves({name}, {self.constant(tree)})[0]")
        self.args.append(f"{self.converter()}({leaf})")

    def complex(self, name: str, value: Any, tree: trees.Complex, whole: bool) -> None:
        """Read the parts of complex numbers and arrays."""
        self.key(name, value, whole)
        self.names["parts"] = complexes.parts
        parts = [self.name(), self.name()]
        self.lines.append(f"{', '.join(parts)} = parts({name}, {self.constant(tree.type)})")
        for part in parts:
            self.args.append(f"{self.converter()}({part})")

    def stack(self, name: str, value: Any, tree: trees.Stack, whole: bool) -> None:
        """Read the elements of a list that are alike, in a loop."""
        self.check(f"type({name}) is not {self.constant(list)} or len({name}) < 2")
        outer, self.lines = self.lines, []
        each = self.name()
        self.column = []
        self.tree(each, value[0], tree.item, whole)
        inner, self.lines = self.lines, outer
        columns, self.column = self.column, None
        made = [self.bind("[]") for _ in columns]
        self.lines.append(f"for {each} in {name}:")
        self.lines += [f"    {line}" for line in inner]
        for ty, column, item in zip(tree.arrays, made, columns, strict=True):
            self.lines.append(f"    {column}.append({item})")
            if len(self.args) in self.kernel.emitted.tables:
                self.args.append(f"{self.converter()}({column})")  # which looks at each
                self.apart.append(column)
            elif ty.rank > 1:
                self.args.append(
                    f"{self.converter()}({self.constant(stacks.packer(ty))}({column}))"
                )
            else:
                self.args.append(f"{self.constant(stacks.packer(ty))}({column})")

    def converter(self) -> str:
        """Return the name of what converts the next argument."""
        return self.constant(self.kernel.converters[len(self.args)])

    def array(self, name: str, ty: Array) -> None:
        if self.column is not None:
            self.column.append(name)
            return
        self.arrays.append((name, ty))
        param = self.kernel.emitted.params[len(self.args)]
        if param != ty and (self.lowered.written or self.lowered.compared):
            raise _UnusualError  # whether it overlaps others cannot be asked of a copy
        self.args.append(name if param == ty else f"{self.converter()}({name})")

    def number(self, name: str, cls: type) -> None:
        self.check(f"type({name}) is not {self.constant(cls)}")
        if cls is int:
            self.check(f"not {-(2**63)} <= {name} < {2**63}")
        if self.column is not None:
            self.column.append(name)
            return
        param = self.kernel.emitted.params[len(self.args)]
        as_it_is = (cls is float and param.dtype == "f64") or (cls is int and param.dtype == "i64")
        self.args.append(name if as_it_is else f"{self.converter()}({name})")

    def attributes(self, name: str, cls: type, keys: tuple[Any, ...]) -> str:
        """Check the class and the attributes of an object; return the name of their dict."""
        made = self.constant(cls)
        self.check(f"type({name}) is not {made}")
        if _slots(cls):
            self.names["attributes"] = instances.attributes
            held = self.bind(f"attributes({name})")
        else:
            if cls not in self._classes:  # once a call
                self._classes.add(cls)
                self.check(f"slots({made})")
            held = self.bind(f"{name}.__dict__")
        self.keys(held, keys)
        return held

    def keys(self, name: str, keys: tuple[Any, ...]) -> None:
        """Check the keys of a dict, which nearly always are the same objects."""
        self.check(f"len({name}) != {len(keys)}")
        if keys:
            found = [self.name() for _ in keys]
            self.lines.append(f"{', '.join(found)}, = {name}")
            pairs = zip(found, keys, strict=True)
            same = " and ".join(f"{each} is {self.constant(key)}" for each, key in pairs)
            self.check(f"not ({same}) and not same({name}, {self.constant(keys)})")

    def container(self, name: str, value: Any, tree: Any, whole: bool) -> None:
        cls, items = type(value), trees.contents(tree)
        if cls is not (tuple if isinstance(tree, tuple) else tree.cls):
            raise _UnusualError
        if cls is tuple or cls is list or instances.is_named_tuple(cls):
            self.check(f"type({name}) is not {self.constant(cls)} or len({name}) != {len(items)}")
            if cls is not tuple and cls is not list and cls not in self._classes:
                self._classes.add(cls)
                self.check(f"{self.constant(cls)}._fields != {self.constant(tree.keys)}")
            if not items:
                return
            found = [self.name() for _ in items]
            self.lines.append(f"{', '.join(found)}, = {name}")
            for each, item, inner in zip(found, value, items, strict=True):
                self.tree(each, item, inner, whole)
            return
        held, contents = name, value
        if cls is dict:
            self.check(f"type({name}) is not {self.constant(dict)}")
            self.keys(name, tree.keys)
        elif isinstance(value, dict):
            raise _UnusualError
        else:
            held, contents = self.attributes(name, cls, tree.keys), instances.attributes(value)
        for key, inner in zip(tree.keys, items, strict=True):
            index = repr(key) if type(key) is str else self.constant(key)
            self.tree(self.bind(f"{held}[{index}]"), contents[key], inner, whole)

    # -- captured values -----------------------------------------------------------------------

    def place(self, place: Place) -> tuple[str, Any]:
        """Return the name of what is at a place, and what is there now."""
        return self.found(place.root, place.path), place.read(self.values)

    def found(self, root: Any, path: tuple[Step, ...]) -> str:
        where = (root, path)
        if where not in self._places:
            self._places[where] = self.bind(self.expression(root, path))
        return self._places[where]

    def expression(self, root: Any, path: tuple[Step, ...]) -> str:
        """Return an expression for what is at a place."""
        if not path:
            return "values.fn" if root is None else self.constant(root)
        *before, last = path
        if isinstance(last, Variable) and not before:
            return self.variable(root, last.name)
        if isinstance(last, Item):
            index = repr(last.key) if type(last.key) in (str, int) else self.constant(last.key)
            return f"{self.found(root, tuple(before))}[{index}]"
        if isinstance(last, str) and last.isidentifier() and not keyword.iskeyword(last):
            return f"{self.found(root, tuple(before))}.{last}"
        return f"{self.constant(Place(root, path).read)}(values)"

    def variable(self, root: Any, name: str) -> str:
        """Return an expression for a free variable of a function.

        All functions with one definition, which may call this code, have the same globals.
        """
        fn = self.values.fn if root is None else root
        free = fn.__code__.co_freevars
        if root is None and name in free:
            return f"{self.found(root, ())}.__closure__[{free.index(name)}].cell_contents"
        # The code of another function might be replaced by some that has the name in its closure.
        if name not in free and (root is None or fn.__closure__ is None):
            found = self.constant(fn.__globals__)
            if name in fn.__globals__:
                return f"{found}[{name!r}]"
            own = self.constant(vars(builtins))
            return f"({found} if {name!r} in {found} else {own})[{name!r}]"
        return f"{self.constant(Place(root, (Variable(name),)).read)}(values)"

    def guard(self, guard: Guard) -> None:
        holds = self.constant(guard.holds)
        if guard.key is not None or isinstance(guard.value, Place):
            self.check(f"not {holds}(values)")
            return
        name = self.found(guard.place.root, guard.place.path)
        self.check(f"{name} is not {self.constant(guard.value)} and not {holds}(values)")
