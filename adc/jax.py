"""Functions of NumPy arrays as functions of JAX's arrays, with derivatives by adc.

`wrap` makes one of an ordinary function: loops, branches and arrays changed in place are compiled
by adc, and called from JAX's programs.

>>> import numpy as np
>>> import jax
>>> import jax.numpy as jnp
>>> import adc.jax
>>> def decay(u, rate, steps):
...     u = u.copy()
...     for _ in range(steps):
...         for i in range(1, len(u)):
...             u[i] -= rate * (u[i] - u[i - 1])
...     return u
>>> simulate = adc.jax.wrap(decay)
>>> def loss(rate):
...     return jnp.sum(simulate(jnp.array([1.0, 2.0, 4.0]), rate, 2))
>>> jax.jit(jax.value_and_grad(loss))(0.5)
(Array(4.25, dtype=float32), Array(-4.5, dtype=float32))

A call is an operation of JAX's of its own, with rules for forward mode, for transposition and for
batches, which are calls of adc's derivatives and of `adc.vmap`. So both modes work on one function,
and so does what nests them: `jax.hessian`, `jax.jvp` of `jax.grad`, `jax.vmap` of either.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, Unpack, overload

import numpy as np

from adc.api.bridge import Program, flatten, fresh, kept, owners, unflatten, whole_axis
from adc.functions import name_of
from adc.ir.errors import ArgumentError, MissingPackageError
from adc.options import Options, PlanOptions, takes
from adc.tracebacks import shorten

try:
    import jax
    import jax.numpy as jnp
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir
except ImportError as error:
    raise MissingPackageError(
        "adc.jax needs JAX, which is not installed", None, "pip install jax"
    ) from error


class _Slot:
    """The place of an array in a structure."""

    def __init__(self, aval: jax.ShapeDtypeStruct) -> None:
        self.aval = aval


@overload
def wrap(
    fn: Callable[..., Any], *, result: Any = None, **options: Unpack[PlanOptions]
) -> Wrapped: ...
@overload
def wrap(
    fn: None = None, *, result: Any = None, **options: Unpack[PlanOptions]
) -> Callable[[Callable[..., Any]], Wrapped]: ...
@takes(PlanOptions)
def wrap(
    fn: Callable[..., Any] | None = None, *, result: Any = None, **options: Unpack[PlanOptions]
) -> Wrapped | Callable[[Callable[..., Any]], Wrapped]:
    """Return a function of JAX's arrays, which JAX can transform, of a NumPy function.

    Parameters
    ----------
    fn : callable
        A Python function, method or derivative that adc accepts. It must be pure: JAX may call it
        any number of times, or not at all.
    result : object, optional
        The shapes and dtypes of the result: its structure, with `jax.ShapeDtypeStruct` (or anything
        with `shape` and `dtype`, or a type such as `float`) for arrays and numbers; or a function
        of the arguments that returns this. By default adc finds them without running `fn`, where
        they follow from the shapes of the arguments. Only transformations, such as `jax.jit` and
        `jax.grad`, need them.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `adc.grad`. `remat`, `memory` and `offload` are for first derivatives in reverse
        mode, outside of `jax.vmap`.

    Returns
    -------
    callable
        Takes the arguments of `fn`, by position or name. JAX's arrays, also within tuples, lists,
        dicts and named tuples, are passed as NumPy arrays; everything else is passed as it is.
        Numbers and arrays in the result become JAX's.

    Raises
    ------
    ArgumentError
        When called, if the shape of the result is needed and not known, or is not what `result`
        says; if a random generator is passed to a call that JAX transforms.

    Notes
    -----
    Arrays without axes are NumPy's numbers. JAX's arrays are of 32 bits, unless ``jax_enable_x64``
    is set; results are converted to the dtypes that JAX then has.

    The derivative of a function that returns one float is made of its gradient, which is computed
    together with the value, in one run. For other results forward mode is `adc.jvp`, and reverse
    mode `adc.vjp`, which runs the function again.

    Without a transformation, or with `jax.grad` alone, adc's code is called at once. Within
    `jax.jit` the call is a `jax.pure_callback`: it holds Python's lock, it copies arguments and
    results, and costs 0.3 milliseconds (``tests/bench/RESULTS.md``). On a GPU the arrays go through
    the memory of the host.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> import adc.jax
    >>> @adc.jax.wrap
    ... def energy(p, x):
    ...     return np.sum((p["slope"] * x + p["start"]) ** 2)
    >>> x = jnp.arange(3.0)
    >>> slope = jax.grad(energy)({"slope": 1.0, "start": 0.5}, x)
    >>> float(slope["slope"]), float(slope["start"])
    (13.0, 9.0)
    >>> positive = adc.jax.wrap(
    ...     lambda x: x[x > 0.0], result=lambda x: jax.ShapeDtypeStruct((2,), x.dtype)
    ... )
    >>> jax.jit(positive)(x)
    Array([1., 2.], dtype=float32)
    """
    asked = Options.of("wrap", PlanOptions, options)

    def make(fn: Callable[..., Any]) -> Wrapped:
        if not callable(fn):
            raise ArgumentError(f"{fn!r} is not a function", None, "pass the function itself")
        return Wrapped(fn, result, asked)

    return make if fn is None else make(fn)


class Wrapped:
    """A function of JAX's arrays. Made by `wrap`.

    Attributes
    ----------
    __wrapped__ : callable
        The function of NumPy's arrays.
    """

    __wrapped__: Callable[..., Any]
    __name__: str
    __qualname__: str

    def __init__(self, fn: Callable[..., Any], result: Any, options: Options) -> None:
        functools.update_wrapper(self, fn)
        self.__wrapped__ = fn
        self._result, self._options = result, options
        self._program = Program(fn, options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result, as JAX's arrays."""
        try:
            program = self._program.with_names(len(args), tuple(kwargs))
            leaves, spec = flatten((*args, *kwargs.values()))
            at = [k for k, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]
            arrays = [leaves[k] for k in at]
            if not any(isinstance(each, jax.core.Tracer) for each in arrays):
                return _at_once(program, leaves, spec, at)
            for k, each in zip(at, arrays, strict=True):
                leaves[k] = _Slot(_aval(each))
            call = _Call(program, leaves, spec)
            call.expect(self._expected(call, args, kwargs))
            return call.result(_call_p.bind(*arrays, call=call))
        except BaseException as error:
            shorten(error, 1)
            raise

    def _expected(self, call: _Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return something with the structure, the shapes and the dtypes of the result."""
        if self._result is None:
            return call.found_like()
        given = self._result
        if callable(given) and not isinstance(given, type):
            given = given(*args, **kwargs)
        leaves, spec = flatten(given)
        return unflatten(spec, [_declared(leaf) for leaf in leaves])

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the function bound to an object."""
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str | tuple[Any, ...]:
        found: Any = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        made = (Wrapped, (self.__wrapped__, self._result, self._options))
        return self.__qualname__ if found is self else made

    def __repr__(self) -> str:
        return f"<adc.jax wrap({self.__qualname__})>"


def _at_once(program: Program, leaves: Sequence[Any], spec: Any, at: Sequence[int]) -> Any:
    """Return the result of a call that nothing transforms."""
    given = list(leaves)
    for k in at:
        given[k] = _numpy(given[k])
    found, structure = flatten(program.run(unflatten(spec, given)))
    return unflatten(structure, [jnp.asarray(each) if _is_array(each) else each for each in found])


class _Call:
    """A call of a program: what is no array, and the structures of arguments and result.

    Attributes
    ----------
    leaves : list
        The arguments' leaves, with a `_Slot` for each array.
    slots, found : list
        The shapes and dtypes of these arrays, and of those of the result.
    linear : int
        How many of the arrays, the first ones, the result is linear in: those in the first
        argument.
    transposed : callable or None
        Makes the call that pulls back to these, or pushes forward, if there is a simpler one than
        that of this call.
    """

    def __init__(
        self, program: Program, leaves: Sequence[Any], spec: Any, linear: int = 0,
        transposed: Callable[[], _Call] | None = None,
    ) -> None:  # fmt: skip
        self.program, self.spec, self.linear = program, spec, linear
        self.transposed = transposed
        self.at = [k for k, leaf in enumerate(leaves) if isinstance(leaf, _Slot)]
        self.slots = [leaves[k].aval for k in self.at]
        for leaf in leaves:
            if isinstance(leaf, np.random.Generator | np.random.RandomState):
                raise ArgumentError(
                    "a random generator is passed to a function that JAX transforms", None,
                    "pass numbers that `jax.random` draws: JAX may run the function again",
                )  # fmt: skip
        self.leaves = kept([None if isinstance(leaf, _Slot) else leaf for leaf in leaves])
        # What adc runs instead, with the plan that is asked for.
        self.planned: Callable[[tuple[Any, ...]], Any] | None = None

    @staticmethod
    def of(program: Program, args: tuple[Any, ...], linear: int = 0,
           transposed: Callable[[], _Call] | None = None) -> _Call:  # fmt: skip
        """Return a call with arguments that have slots for arrays."""
        leaves, spec = flatten(args)
        return _Call(program, leaves, spec, linear, transposed)

    def expect(self, result: Any) -> _Call:
        """Note the structure of the result, in which there are slots."""
        self.found_leaves, self.found_spec = flatten(result)
        self.found_at = [k for k, leaf in enumerate(self.found_leaves) if isinstance(leaf, _Slot)]
        self.found = [self.found_leaves[k].aval for k in self.found_at]
        return self

    def arguments(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Return the arguments with arrays in their places."""
        leaves = fresh(self.leaves)
        for k, array in zip(self.at, arrays, strict=True):
            leaves[k] = array
        found: tuple[Any, ...] = unflatten(self.spec, leaves)
        return found

    def result(self, arrays: Sequence[Any]) -> Any:
        """Return the result with arrays in their places."""
        leaves = list(self.found_leaves)
        for k, array in zip(self.found_at, arrays, strict=True):
            leaves[k] = array
        return unflatten(self.found_spec, leaves)

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """Run compiled code; return the arrays of the result that are expected."""
        args = self.arguments([_numpy(each) for each in arrays])
        result = self.program.run(args) if self.planned is None else self.planned(args)
        try:
            leaves = self.found_spec.flatten_up_to(result)
        except ValueError as error:
            raise ArgumentError(
                f"the result does not have the structure {self.found_spec}: {error}", None,
                "`result=` must have the structure of what the function returns",
            ) from None  # fmt: skip
        expected = zip(self.found_at, self.found, strict=True)
        return tuple([_checked(leaves[k], aval) for k, aval in expected])

    def found_like(self) -> Any:
        """Return something like the result, as far as it follows from shapes; else raise."""
        unknown: set[int] = set()
        arrays: list[Any] = []
        for k, aval in enumerate(self.slots):
            zero = np.zeros((), aval.dtype)[()]
            if aval.shape == () and aval.dtype.kind in "iu":
                # A number by which it is known again: one that no size is likely to have.
                zero = aval.dtype.type(np.iinfo(aval.dtype).max - k)
                unknown.add(int(zero))
            arrays.append(np.broadcast_to(zero, aval.shape) if aval.shape else zero)
        like = self.program.result_like(self.arguments(arrays), unknown)
        if like is None:
            raise ArgumentError(
                f"the shape of what {self.program.fn.__name__}() returns depends on more than the "
                "shapes of its arguments", None,
                "pass it: `adc.jax.wrap(fn, result=jax.ShapeDtypeStruct(shape, dtype))`",
            )  # fmt: skip
        leaves, spec = flatten(like)
        found = [_Slot(_aval(leaf)) if _is_array(leaf) else leaf for leaf in leaves]
        return unflatten(spec, found)

    # -- derivatives -----------------------------------------------------------------------

    def moving(self, moves: Sequence[bool]) -> tuple[int, ...]:
        """Return the arguments in which there are arrays that move."""
        owner = owners(self.spec)
        return tuple(sorted({owner[k] for k, each in zip(self.at, moves, strict=True) if each}))

    def floats(self, moved: Sequence[int]) -> list[int]:
        """Return which arrays are floats in the arguments that move."""
        owner = owners(self.spec)
        return [
            j for j, (k, aval) in enumerate(zip(self.at, self.slots, strict=True))
            if owner[k] in moved and _is_float(aval)
        ]  # fmt: skip

    @property
    def found_floats(self) -> list[int]:
        """Which arrays of the result are floats."""
        return [j for j, aval in enumerate(self.found) if _is_float(aval)]

    @property
    def is_number(self) -> bool:
        """Whether the result is one real float."""
        return (
            len(self.found_leaves) == 1
            and self.found_spec.is_leaf()
            and self.found[0].shape == ()
            and np.issubdtype(self.found[0].dtype, np.floating)
        )

    def _slotted(self) -> tuple[Any, ...]:
        return self.arguments([_Slot(aval) for aval in self.slots])

    def _moving_slots(self, moved: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the arguments that move, with slots for floats and nothing else."""
        leaves: list[Any] = [None] * len(self.leaves)
        for j in self.floats(moved):
            leaves[self.at[j]] = _Slot(self.slots[j])
        args = unflatten(self.spec, leaves)
        return tuple([args[k] for k in moved])

    def _found_slots(self) -> Any:
        """Return the result with slots for floats, and nothing for other arrays."""
        leaves = [
            None if isinstance(leaf, _Slot) and not _is_float(leaf.aval) else leaf
            for leaf in self.found_leaves
        ]
        return unflatten(self.found_spec, leaves)

    def both(self, moved: tuple[int, ...]) -> _Call:
        """Return the call of the value, and of the gradients with respect to floats."""
        call = _Call.of(self.program.both(moved), self._slotted())
        return call.expect((_Slot(self.found[0]), self._moving_slots(moved)))

    def pushed(self, moved: tuple[int, ...]) -> _Call:
        """Return the call that pushes tangents of floats forward, to floats of the result."""
        dots = self._moving_slots(moved)
        program = self.program.pushed(len(self.spec.children()), moved)
        call = _Call.of(program, (dots, *self._slotted()), len(self.floats(moved)),
                        lambda: self.pulled(moved))  # fmt: skip
        return call.expect(self._found_slots())

    def pulled(self, moved: tuple[int, ...]) -> _Call:
        """Return the call that pulls cotangents of floats of the result back."""
        count = len(self.spec.children())
        ct = self._found_slots()
        call = _Call.of(self.program.pulled(count, moved), (ct, *self._slotted()),
                        len(self.found_floats), lambda: self.pushed(moved))  # fmt: skip
        if self.program.is_planned:

            def planned(args: tuple[Any, ...]) -> Any:
                _, pull = self.program.value_and_pull(args[1:], moved)
                return pull(args[0])

            call.planned = planned
        return call.expect(self._moving_slots(moved))

    def batched(self, size: int, dims: Sequence[int | None]) -> _Call:
        """Return the call for a batch; results have it along their first axes."""
        axes: list[Any] = [None] * len(self.leaves)
        slots: list[_Slot] = []
        for k, aval, axis in zip(self.at, self.slots, dims, strict=True):
            axes[k] = axis
            shape = list(aval.shape)
            if axis is not None:
                shape.insert(axis, size)
            slots.append(_Slot(jax.ShapeDtypeStruct(tuple(shape), aval.dtype)))
        by_argument = tuple([whole_axis(each) for each in unflatten(self.spec, axes)])
        call = _Call.of(self.program.batched(by_argument), self.arguments(slots), self.linear)
        found = [
            _Slot(jax.ShapeDtypeStruct((size, *each.shape), each.dtype)) for each in self.found
        ]
        return call.expect(self.result(found))


# -- the operation ---------------------------------------------------------------------------------

_call_p = Primitive("adc_call")
_call_p.multiple_results = True


def _run(*arrays: Any, call: _Call) -> list[Any]:
    return [jnp.asarray(each) for each in call.run(*arrays)]


def _shapes(*avals: Any, call: _Call) -> list[Any]:
    return [jax.core.ShapedArray(each.shape, each.dtype) for each in call.found]


def _called_back(*arrays: Any, call: _Call) -> Any:
    return jax.pure_callback(call.run, tuple(call.found), *arrays)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, call: _Call) -> tuple[Any, Any]:
    moves = [
        type(tangent) is not ad.Zero and _is_float(aval)
        for tangent, aval in zip(tangents, call.slots, strict=True)
    ]
    moved = call.moving(moves)
    if not moved:
        return _call_p.bind(*primals, call=call), list(map(_no_tangent, call.found))
    dots = [ad.instantiate_zeros(tangents[j]) for j in call.floats(moved)]
    if call.is_number:
        # A run of value and gradient; JAX transposes the product.
        value, *slopes = _call_p.bind(*primals, call=call.both(moved))
        moving = zip(slopes, dots, strict=True)
        along = sum(jnp.sum(slope * dot).real for slope, dot in moving)
        return [value], [jnp.asarray(along, value.dtype)]
    found = _call_p.bind(*primals, call=call)
    pushed = iter(_call_p.bind(*dots, *primals, call=call.pushed(moved)))
    return found, [next(pushed) if _is_float(aval) else _no_tangent(aval) for aval in call.found]


def _no_tangent(aval: jax.ShapeDtypeStruct) -> Any:
    dtype = aval.dtype if _is_float(aval) else jax.dtypes.float0
    return ad.Zero(jax.core.ShapedArray(aval.shape, dtype))


def _transpose(cotangents: Sequence[Any], *arrays: Any, call: _Call) -> list[Any]:
    linear = list(map(ad.is_undefined_primal, arrays))
    if any(linear[call.linear :]):
        raise ArgumentError(
            f"the transpose of {name_of(call.program.fn)}(), which is not linear", None,
            "transpose what `jax.linearize` returns, or use `jax.vjp`",
        )  # fmt: skip
    cts = list(map(ad.instantiate_zeros, cotangents))
    others = list(arrays[call.linear :])
    if call.transposed is not None:
        pulled = _call_p.bind(*cts, *others, call=call.transposed())
    else:
        zeros = [jnp.zeros(aval.shape, aval.dtype) for aval in call.slots[: call.linear]]
        pulled = _call_p.bind(*cts, *zeros, *others, call=call.pulled((0,)))
    back = [each if need else None for each, need in zip(pulled, linear, strict=False)]
    return [*back, *[None] * len(others)]


def _batch(arrays: Sequence[Any], dims: Sequence[Any], *, call: _Call) -> tuple[Any, Any]:
    axes = [dim if isinstance(dim, int) else None for dim in dims]
    size = next(x.shape[dim] for x, dim in zip(arrays, axes, strict=True) if dim is not None)
    found = _call_p.bind(*arrays, call=call.batched(size, axes))
    return found, [0] * len(found)


_call_p.def_impl(_run)
_call_p.def_abstract_eval(_shapes)
ad.primitive_jvps[_call_p] = _jvp
ad.primitive_transposes[_call_p] = _transpose
batching.primitive_batchers[_call_p] = _batch
mlir.register_lowering(_call_p, mlir.lower_fun(_called_back, multiple_results=True))


# -- arrays ----------------------------------------------------------------------------------------


def _aval(array: Any) -> jax.ShapeDtypeStruct:
    """Return the shape and the dtype that JAX has of an array or a number."""
    dtype = getattr(array, "dtype", None)
    dtype = np.dtype(type(array)) if dtype is None else dtype
    return jax.ShapeDtypeStruct(np.shape(array), jax.dtypes.canonicalize_dtype(dtype))


def _declared(leaf: Any) -> Any:
    """Return the slot for a part of a result that was declared; what is no array is itself."""
    if isinstance(leaf, type) and leaf in (bool, int, float, complex):
        leaf = leaf()
    if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
        dtype = jax.dtypes.canonicalize_dtype(leaf.dtype)
        return _Slot(jax.ShapeDtypeStruct(tuple(leaf.shape), dtype))
    return _Slot(_aval(leaf)) if _is_array(leaf) else leaf


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, bool | int | float | complex | np.generic | np.ndarray)


def _is_float(aval: Any) -> bool:
    return bool(np.issubdtype(aval.dtype, np.inexact))


class _Memory:
    """The memory of an array of JAX's, for an array of NumPy's that is not marked as read-only.

    adc changes no argument; a function that changes its own refuses to be passed such a mark.
    """

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def _numpy(array: Any) -> Any:
    """Return an array as adc takes it; the number in one without axes."""
    found = np.asarray(array)
    if found.dtype.kind not in "biufc":
        raise ArgumentError(
            f"an array of {found.dtype} is no array of NumPy's", None,
            "pass one of a dtype that NumPy has: `x.astype(jnp.float32)`",
        )  # fmt: skip
    if found.ndim == 0:
        return found[()]
    return found if found.flags.writeable else np.asarray(_Memory(found))


def _checked(leaf: Any, aval: jax.ShapeDtypeStruct) -> Any:
    """Return a part of a result with the dtype that JAX expects, if it has the shape."""
    if leaf is None:  # nothing depends on it
        return np.zeros(aval.shape, aval.dtype)
    if np.shape(leaf) != aval.shape:
        raise ArgumentError(
            f"an array of the result has shape {np.shape(leaf)}, not {aval.shape}", None,
            "pass the right one: `adc.jax.wrap(fn, result=jax.ShapeDtypeStruct(shape, dtype))`",
        )  # fmt: skip
    return np.asarray(leaf, aval.dtype)


__all__ = ["Wrapped", "wrap"]
