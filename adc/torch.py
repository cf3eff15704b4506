"""Functions of NumPy arrays as functions of PyTorch's tensors, with derivatives by adc.

`wrap` makes one of an ordinary function: loops, branches and arrays changed in place are compiled,
and PyTorch's autograd goes through it.

>>> import numpy as np
>>> import torch
>>> import adc.torch
>>> def decay(u, rate, steps):
...     u = u.copy()
...     for _ in range(steps):
...         for i in range(1, len(u)):
...             u[i] -= rate * (u[i] - u[i - 1])
...     return u
>>> layer = adc.torch.wrap(decay)
>>> rate = torch.tensor(0.5, requires_grad=True)
>>> out = layer(torch.tensor([1.0, 2.0, 4.0]), rate, 2)
>>> out
tensor([1.0000, 1.2500, 2.0000], grad_fn=<_AppliedBackward>)
>>> out.sum().backward()
>>> rate.grad
tensor(-4.5000)

A tensor is passed to the function as an array that shares its memory, with its strides and dtype;
one without axes as a NumPy number. Results are tensors in the memory that compiled code returned.
PyTorch's double backward, forward mode (`torch.func.jvp`), `torch.func.vmap` and all that they nest
to are adc's derivatives of derivatives, and `adc.vmap`.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, Unpack, overload

import numpy as np

from adc.api.bridge import Program, flatten, fresh, kept, leaves_of, owners, unflatten, whole_axis
from adc.ir.errors import ArgumentError, MissingPackageError
from adc.options import Options, PlanOptions, takes
from adc.tracebacks import shorten

try:
    import torch
    from torch.autograd import forward_ad
except ImportError as error:
    raise MissingPackageError(
        "adc.torch needs PyTorch, which is not installed", None, "pip install torch"
    ) from error


@overload
def wrap(fn: Callable[..., Any], **options: Unpack[PlanOptions]) -> Wrapped: ...
@overload
def wrap(
    fn: None = None, **options: Unpack[PlanOptions]
) -> Callable[[Callable[..., Any]], Wrapped]: ...
@takes(PlanOptions)
def wrap(
    fn: Callable[..., Any] | None = None, **options: Unpack[PlanOptions]
) -> Wrapped | Callable[[Callable[..., Any]], Wrapped]:
    """Return a function of tensors, which PyTorch can differentiate, of a NumPy function.

    Parameters
    ----------
    fn : callable
        A Python function, method or derivative that adc accepts.
    remat, memory, offload, parallel, cache, progress, target, deterministic
        As for `adc.grad`. `remat`, `memory` and `offload` are for `backward` as training calls it:
        not with ``create_graph=True``, nor within transformations of `torch.func`.

    Returns
    -------
    callable
        Takes the arguments of `fn`, by position or name. Tensors, also within tuples, lists, dicts
        and named tuples, are passed as arrays; everything else is passed as it is. Numbers and
        arrays in the result become tensors. The function can be pickled if `fn` can.

    Raises
    ------
    ArgumentError
        When called, for tensors that have no array: sparse ones, bfloat16, those on a GPU without
        ``target="cuda"``.

    Notes
    -----
    If the result is one float and an argument requires a gradient, the call computes value and
    gradient at once. Otherwise `backward` runs reverse code, which runs the function once more,
    unless an option about memory is given: then the arguments are copied, as for `adc.vjp`.

    Arguments are not changed. Arrays of NumPy, random generators and other objects among them are
    copied if a derivative may be asked for. Variables that `fn` captures are read at each run: they
    must not change before `backward`.

    The gradient of a complex tensor follows PyTorch's convention, the conjugate of adc's. Tensors
    without axes are NumPy's numbers, whose dtypes count in promotions: a float64 number times a
    float32 array is float64.

    With ``target="cuda"`` tensors on a GPU are used in place, on PyTorch's current stream, and
    results are on that GPU.

    `torch.compile` leaves the call as it is: it breaks the graph there, so ``fullgraph=True`` is an
    error. A call costs about 35 microseconds beyond that of compiled code, and with its backward
    0.2 milliseconds, most of which is `torch.autograd.Function` (``tests/bench/RESULTS.md``).

    Examples
    --------
    >>> import torch
    >>> import adc.torch
    >>> @adc.torch.wrap
    ... def energy(p, x):
    ...     return np.sum((p["slope"] * x + p["start"]) ** 2)
    >>> p = {"slope": torch.tensor(1.0), "start": torch.tensor(0.5)}
    >>> x = torch.arange(3.0)
    >>> torch.func.grad(energy)(p, x)
    {'slope': tensor(13.), 'start': tensor(9.)}
    >>> torch.func.vmap(torch.func.grad(energy), (None, 0))(p, torch.stack([x, 2 * x]))
    {'slope': tensor([13., 46.]), 'start': tensor([ 9., 15.])}
    """
    asked = Options.of("wrap", PlanOptions, options)

    def make(fn: Callable[..., Any]) -> Wrapped:
        if not callable(fn):
            raise ArgumentError(f"{fn!r} is not a function", None, "pass the function itself")
        return Wrapped(fn, asked)

    return make if fn is None else make(fn)


class Wrapped:
    """A function of tensors. Made by `wrap`.

    Attributes
    ----------
    __wrapped__ : callable
        The function of arrays.
    """

    __wrapped__: Callable[..., Any]
    __name__: str
    __qualname__: str

    def __init__(self, fn: Callable[..., Any], options: Options) -> None:
        functools.update_wrapper(self, fn)
        self.__wrapped__ = fn
        self._options = options
        self._program = Program(fn, options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result, as tensors."""
        if torch.compiler.is_dynamo_compiling():
            return torch._dynamo.disable(_called)(self, args, kwargs)
        return _called(self, args, kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the function bound to an object."""
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str | tuple[Any, ...]:
        found: Any = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        return self.__qualname__ if found is self else (Wrapped, (self.__wrapped__, self._options))

    def __repr__(self) -> str:
        return f"<adc.torch wrap({self.__qualname__})>"


def _called(wrapped: Wrapped, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        program = wrapped._program.with_names(len(args), tuple(kwargs))
        return _run(program, (*args, *kwargs.values()))
    except BaseException as error:
        shorten(error, 1)
        raise


def _run(program: Program, args: tuple[Any, ...], known: tuple[Any, ...] | None = None) -> Any:
    """Return the result of a program, on which derivatives can be taken.

    `known` is the gradient of a number, if this is what pulls back to it.
    """
    leaves, spec = flatten(args)
    at = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    call = _Call(program, leaves, spec, at, known)
    tensors = [leaves[k] for k in at]
    if torch.is_grad_enabled():
        call.needed = [tensor.requires_grad for tensor in tensors]
    if not any(call.needed) and _is_plain():
        return call.result(call.run(tensors, last=True))
    return call.result(_Applied.apply(call, *tensors))


def _is_plain() -> bool:
    """Whether no tensor can be a batch, or have a tangent: no transformation is under way.

    `torch.autograd.Function` asks the same. If a version of PyTorch has it elsewhere, nothing is
    known, and a call takes longer.
    """
    transformed = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)
    plain: bool = getattr(forward_ad, "_current_level", 0) < 0 and not transformed()
    return plain


class _Call:
    """One call of a program: what is no tensor, and the structures of arguments and result.

    Attributes
    ----------
    leaves : list
        The arguments' leaves, with None for tensors, which are `at` these positions.
    needed : sequence of bool
        Which tensors require a gradient.
    known : tuple or None
        The gradient, if the program pulls back to it.
    gradient : tuple or None
        The gradient with respect to the arguments that `moved`, once the program ran.
    pull : callable or None
        What pulls back cotangents to these, if the program ran with a plan of its own.
    """

    def __init__(
        self, program: Program, leaves: Sequence[Any], spec: Any, at: Sequence[int],
        known: tuple[Any, ...] | None,
    ) -> None:  # fmt: skip
        self.program, self.spec, self.at, self.known = program, spec, at, known
        self.leaves = list(leaves)
        for k in at:
            self.leaves[k] = None
        self.needed: Sequence[bool] = ()
        self.moved: tuple[int, ...] = ()
        self.gradient: tuple[Any, ...] | None = None
        self.pull: Callable[[Any], tuple[Any, ...]] | None = None
        # The same of the result.
        self.found: list[Any] = []
        self.found_spec: Any = None
        self.found_at: list[int] = []

    # -- running ---------------------------------------------------------------------------

    def arguments(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """Return the arguments with tensors, or arrays, in their places."""
        return self._with(tensors, self.leaves)

    def again(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """Return the arguments for another run, which draws the same random numbers."""
        return self._with(tensors, fresh(self.leaves))

    def _with(self, tensors: Sequence[Any], others: Sequence[Any]) -> tuple[Any, ...]:
        leaves = list(others)
        for k, tensor in zip(self.at, tensors, strict=True):
            leaves[k] = tensor
        found: tuple[Any, ...] = unflatten(self.spec, leaves)
        return found

    def run(self, tensors: Sequence[torch.Tensor], last: bool = False) -> tuple[torch.Tensor, ...]:
        """Run compiled code; return the tensors of the result.

        What is the `last` run has no derivative that is asked for later, at the same arguments.
        """
        target = self.program.options.target
        arrays = [_array(tensor, target) for tensor in tensors]
        device = next((each.device for each in tensors if each.is_cuda), None)
        args = self.arguments(arrays)
        if not last:
            self.leaves = kept(self.leaves)
        return self.noted(self._value(args, tensors), device)

    def _value(self, args: tuple[Any, ...], tensors: Sequence[torch.Tensor]) -> Any:
        if self.known is not None:
            return _scaled(self.known, args[0])
        self.moved = self.moving(self.needed)
        if self.moved:
            key = (self.spec, self.moved, *((each.dtype, each.dim()) for each in tensors))
            both = self.program.value_and_gradient(args, self.moved, key)
            if both is not None:
                value, self.gradient = both
                return value
            if self.program.is_planned:
                value, self.pull = self.program.value_and_pull(args, self.moved)
                return value
        return self.program.run(args)

    def moving(self, needed: Sequence[bool]) -> tuple[int, ...]:
        """Return the arguments in which there are tensors that are needed."""
        if not any(needed):
            return ()
        owner = owners(self.spec)
        return tuple(sorted({owner[k] for k, need in zip(self.at, needed, strict=True) if need}))

    def noted(self, result: Any, device: Any = None) -> tuple[torch.Tensor, ...]:
        """Return the tensors of a result, and note what else is in it."""
        self.found, self.found_spec = flatten(result)
        self.found_at = []
        tensors: list[torch.Tensor] = []
        for k, leaf in enumerate(self.found):
            tensor = _tensor(leaf, device)
            if tensor is not None:
                self.found_at.append(k)
                tensors.append(tensor)
                self.found[k] = None
        return tuple(tensors)

    def result(self, tensors: Sequence[Any]) -> Any:
        """Return the result with tensors in their places."""
        found = list(self.found)
        for k, tensor in zip(self.found_at, tensors, strict=True):
            found[k] = tensor
        return unflatten(self.found_spec, found)

    # -- derivatives -----------------------------------------------------------------------

    def pulled(
        self, needed: Sequence[bool], tensors: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        """Return a cotangent for each tensor that is needed."""
        moved = self.moving(needed)
        known, pull = (self.gradient, self.pull) if moved == self.moved else (None, None)
        # For one time: the caller may change what it gets.
        self.gradient = None
        parts = [_conjugate(ct) if _is_float(ct) else None for ct in cotangents]
        ct = self.result(parts)
        first = not torch.is_grad_enabled() and _is_plain()
        if first and known is not None:
            back = _scaled(known, ct)
        elif first and pull is not None:
            target = self.program.options.target
            arrays = [None if part is None else _array(part, target) for part in parts]
            back = pull(self.result(arrays))
        else:
            args = self.again(tensors)
            back = _run(self.program.pulled(len(args), moved), (ct, *args), known)
        by_leaf = leaves_of(self.spec, moved, back)
        found: list[Any] = []
        for k, need, tensor in zip(self.at, needed, tensors, strict=True):
            found.append(_like(by_leaf[k], tensor) if need else None)
        return found

    def pushed(self, tensors: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """Return a tangent for each tensor of the result; None for integers."""
        moved = self.moving([tangent is not None for tangent in tangents])
        args = self.again(tensors)
        dots = [
            None if not _is_float(tensor) else torch.zeros_like(tensor) if dot is None else dot
            for tensor, dot in zip(tensors, tangents, strict=True)
        ]
        by_argument = self._with(dots, [None] * len(self.leaves))
        program = self.program.pushed(len(args), moved)
        along = _run(program, (tuple([by_argument[k] for k in moved]), *args))
        found = self.found_spec.flatten_up_to(along)
        return [
            found[k] if isinstance(found[k], torch.Tensor) and _is_float(found[k]) else None
            for k in self.found_at
        ]

    def batched(
        self, in_dims: Sequence[int | None], tensors: Sequence[Any]
    ) -> tuple[torch.Tensor, ...]:
        """Return the tensors of the results for a batch, along their first axes."""
        leaves: list[Any] = [None] * len(self.leaves)
        for k, axis in zip(self.at, in_dims, strict=True):
            leaves[k] = axis
        whole = tuple([whole_axis(axes) for axes in unflatten(self.spec, leaves)])
        args = self.arguments(tensors)
        # A derivative that is asked for later is at these arguments.
        self.leaves = kept(self.leaves)
        result = _run(self.program.batched(whole), args)
        return self.noted(result)


class _Applied(torch.autograd.Function):  # type: ignore[misc]  # of an untyped module
    """What autograd and `torch.func` know of a call."""

    @staticmethod
    def forward(call: _Call, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return call.run(tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        call, *tensors = inputs
        ctx.call = call
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.mark_non_differentiable(*[each for each in output if not _is_float(each)])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        needed = ctx.needs_input_grad[1:]
        return (None, *ctx.call.pulled(needed, ctx.saved_tensors, cotangents))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> tuple[Any, ...]:
        return tuple(ctx.call.pushed(ctx.saved_tensors, tangents[1:]))

    @staticmethod
    def vmap(info: Any, in_dims: Any, call: _Call, *tensors: Any) -> tuple[Any, Any]:
        found = call.batched(in_dims[1:], tensors)
        return found, (0,) * len(found)


# `torch.autograd.Function.apply` asks for it at each call.
vars(_Applied.forward)["__signature__"] = inspect.signature(_Applied.forward)


# -- tensors and arrays ----------------------------------------------------------------------------


def _is_float(tensor: torch.Tensor) -> bool:
    found: bool = tensor.dtype.is_floating_point or tensor.dtype.is_complex
    return found


def _conjugate(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.conj() if tensor.dtype.is_complex else tensor


def _array(tensor: torch.Tensor, target: str) -> Any:
    """Return the memory of a tensor as adc takes it; the number in one without axes."""
    if tensor.layout is not torch.strided:
        raise ArgumentError(
            f"a tensor has the layout {tensor.layout}", None,
            "pass its parts as arguments: `x.values()` and the indices of a sparse tensor",
        )  # fmt: skip
    kind = tensor.device.type
    if kind == "cuda":
        if target != "cuda":
            raise ArgumentError(
                f"a tensor is on {tensor.device}", None,
                'use `adc.torch.wrap(fn, target="cuda")`, or pass `x.cpu()`',
            )  # fmt: skip
        own = tensor.detach().resolve_conj().resolve_neg()
        return own if own.dim() else _array(own.cpu(), target)
    if kind != "cpu":
        raise ArgumentError(f"a tensor is on {tensor.device}", None, "pass `x.cpu()`")
    try:
        found = tensor.numpy(force=True)  # it is in the memory of the CPU, which it shares
    except TypeError as error:
        raise ArgumentError(
            f"a tensor of {tensor.dtype} has no NumPy array: {error}", None,
            "pass one of a dtype that NumPy has: `x.float()`",
        ) from None  # fmt: skip
    except RuntimeError as error:
        raise ArgumentError(
            f"a {type(tensor).__name__} has no NumPy array: {error}", None,
            "pass tensors that have numbers; instead of `is_grads_batched` or `vectorize`, use "
            "`torch.func.vmap`",
        ) from None  # fmt: skip
    return found if found.ndim else found[()]


def _tensor(leaf: Any, device: Any) -> torch.Tensor | None:
    """Return the tensor of a part of a result; None if it is neither a number nor an array."""
    if isinstance(leaf, torch.Tensor):
        return leaf
    if isinstance(leaf, np.ndarray):
        found = torch.from_numpy(leaf)
    elif isinstance(leaf, bool | int | float | complex | np.generic):
        found = torch.from_numpy(np.array(leaf))
    else:
        return None
    return found if device is None else found.to(device)


def _scaled(gradient: tuple[Any, ...], cotangent: Any) -> Any:
    """Return a gradient times the cotangent of the number that it is the gradient of."""
    factor = cotangent.item()
    if factor == 1.0:
        return gradient
    leaves, spec = flatten(gradient)
    return unflatten(spec, [_product(leaf, factor) for leaf in leaves])


def _product(leaf: Any, factor: float) -> Any:
    if leaf is None or factor:
        return None if leaf is None else leaf * factor
    # Of a cotangent that is zero nothing comes back, whatever the derivative is.
    return torch.zeros_like(leaf) if isinstance(leaf, torch.Tensor) else np.zeros_like(leaf)


def _like(cotangent: Any, tensor: torch.Tensor) -> Any:
    """Return the gradient with respect to a tensor, from adc's."""
    made = _tensor(cotangent, None)
    if made is None:
        return torch.zeros_like(tensor)
    found = _conjugate(made)
    if found.dtype != tensor.dtype or found.device != tensor.device:
        found = found.to(tensor.device, tensor.dtype)
    return found


__all__ = ["Wrapped", "wrap"]
