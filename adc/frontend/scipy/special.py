"""`scipy.special`: its ufuncs, which are rows of the op table, and functions in plain Python."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adc.frontend.core import numbers
from adc.frontend.core.bindings import NONE, Binding, Num, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import library, linear, ufuncs
from adc.frontend.values import arrays, elementwise
from adc.frontend.values.arguments import Handler
from adc.ir.core import Operand
from adc.ir.errors import TypeMismatchError
from adc.ir.opdef import OpDef
from adc.ir.ops.ufuncs import find_ufunc, operands, rows
from adc.ir.types import F32, F64, Scalar
from adc.library.scipy import special

# The rows of each ufunc: by the types of a loop, one for each number that it returns.
_LOOPS: dict[str, dict[str, list[OpDef]]] = {}
for _row in sorted(rows(), key=lambda op: op.ufunc.output if op.ufunc else 0):
    assert _row.ufunc is not None
    _LOOPS.setdefault(_row.ufunc.name, {}).setdefault(_row.ufunc.loop, []).append(_row)

_WEAK: dict[str, Any] = {"i": int, "u": int, "f": float, "c": complex}
# Letters of NumPy's types to those that rows are entered with.
_DOUBLE = str.maketrans("fFqp", "dDll")


def _types(
    lo: Lowerer, name: str, ufunc: np.ufunc, given: Sequence[Operand], node: ast.Call
) -> str:
    """Return the types of the loop that SciPy chooses for some numbers."""
    types = [numbers.scalar_type(operand) for operand in given]
    wanted = [
        _WEAK[ty.kind] if ty.weak and ty.kind in _WEAK else np.dtype(ty.numpy) for ty in types
    ]
    try:
        found = ufunc.resolve_dtypes((*wanted, *[None] * ufunc.nout))
    except TypeError:
        kinds = ", ".join(str(ty.numpy) for ty in types)
        raise TypeMismatchError(
            f"`scipy.special.{name}` is not defined for {kinds}", lo.span(node)
        ) from None
    chars = [each.char for each in found]
    return f"{''.join(chars[: ufunc.nin])}->{''.join(chars[ufunc.nin :])}"


def _computed(
    lo: Lowerer, name: str, ufunc: np.ufunc, output: int, items: Sequence[Binding], node: ast.Call
) -> Binding:
    """Lower one result of a ufunc of numbers."""
    what = f"`scipy.special.{name}`"
    given = [elementwise.number(lo, item, node, what) for item in items]
    types = _types(lo, name, ufunc, given, node)
    table = _LOOPS[name].get(types.translate(_DOUBLE))
    if table is None:
        kinds = ", ".join(str(np.dtype(each)) for each in types.partition("->")[0])
        integers = any("l" in each for each in _LOOPS[name])
        # SciPy would round orders, and warn.
        hint = "pass integers as the first arguments" if integers else "pass real numbers"
        raise lo.unsupported(f"{what} of {kinds}", node, hint)
    letters, _, results = types.partition("->")
    part = F32 if set("fF") & set(types) else F64
    passed: list[Operand] = []
    for letter, operand in zip(letters, given, strict=True):
        ty = part if letter not in "FD" else Scalar("c64" if part == F32 else "c128")
        exact = ufuncs.strong(lo, lo.convert(operand, ty))
        if ty.kind == "c":
            passed += [numbers.apply(lo, "real", exact), numbers.apply(lo, "imag", exact)]
        else:
            passed.append(exact)
    first = operands(f"{results}->")[output]
    parts = [numbers.apply(lo, row, *passed) for row in table[first]]
    return Num(numbers.apply(lo, "complex", *parts) if len(parts) == 2 else parts[0])


def _ufunc(name: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        ufunc = find_ufunc(name)
        assert ufunc is not None
        args = [arrays.as_operand(lo, arg, node) for arg in args]
        if not ufunc.nin <= len(args) <= ufunc.nargs:
            raise TypeMismatchError(
                f"`scipy.special.{name}` takes {ufunc.nin} arguments, not {len(args)}",
                lo.span(node),
            )
        outs: tuple[Binding, ...] = tuple(args[ufunc.nin :])
        if "out" in kwargs:
            out = kwargs.pop("out")
            outs = out.items if isinstance(out, TupleOf) else (out,)
        outs += (NONE,) * (ufunc.nout - len(outs))
        args = args[: ufunc.nin]
        if ufunc.nout > 1:
            args = [elementwise.materialised(lo, arg, node) for arg in args]

        def result(output: int) -> Binding:
            found = ufuncs.applied(
                lo, lambda items: _computed(lo, name, ufunc, output, items, node), args,
                {**kwargs, "out": outs[output]}, node, 0.5,
            )  # fmt: skip
            return found if ufunc.nout == 1 else elementwise.materialised(lo, found, node)

        if ufunc.nout == 1:
            return result(0)
        return TupleOf(tuple(result(output) for output in range(ufunc.nout)))

    return handler


def _composed(fn: Callable[..., Any]) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        found = linear.run(lo, fn, args, kwargs, node)
        if fn is special.polygamma and isinstance(found, Num):
            return elementwise.array_of(lo, found)  # as SciPy returns it
        return found

    return handler


_COMPOSED = (
    special.logsumexp, special.softmax, special.log_softmax, special.comb, special.perm,
    special.factorial, special.factorial2, special.multigammaln, special.polygamma, special.zeta,
    special.lambertw,
    special.spherical_jn, special.spherical_yn, special.spherical_in, special.spherical_kn,
    special.jvp, special.yvp, special.ivp, special.kvp, special.h1vp, special.h2vp,
    special.softplus,
)  # fmt: skip
# Private ones are what functions in Python call.
library.enter_named(
    {f"scipy.special.{'_ufuncs.' if name[0] == '_' else ''}{name}": _ufunc(name) for name in _LOOPS}
)
library.enter_named({f"scipy.special.{fn.__name__}": _composed(fn) for fn in _COMPOSED})
# Other names of the same.
library.enter_named({"scipy.special.digamma": _ufunc("psi"), "scipy.special.jn": _ufunc("jv")})

__all__: list[str] = []
