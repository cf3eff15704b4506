"""Numba's lowering to LLVM's language, short for what emitted code is made of.

Half of the time to compile goes into lowering, and most of that into elements of arrays and
arithmetic: Numba resolves the types of every operation a second time, and describes an array by
all its fields to get at one element. Here an element is an address and a load or store, and an
operation is resolved once for its types. The machine code is the same.
"""

from __future__ import annotations

import operator
from typing import Any

import numba.core.compiler_machinery
import numba.core.lowering
import numba.core.typed_passes

from adc.backend.numba_api import cgutils, types

_Base: Any = numba.core.lowering.Lower
_NativeLowering: Any = numba.core.typed_passes.NativeLowering
_register_pass: Any = numba.core.compiler_machinery.register_pass

_ARITHMETIC = frozenset([
    operator.add, operator.sub, operator.mul, operator.truediv, operator.and_, operator.or_,
    operator.xor, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
    operator.iadd, operator.isub, operator.imul,
])  # fmt: skip
_NUMBERS = (types.Float, types.Integer, types.Boolean)


class Lower(_Base):  # type: ignore[misc]  # a class of a module without types
    """Lowers one function."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._resolved: dict[tuple[Any, tuple[Any, ...]], Any] = {}

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        args = tuple([types.unliteral(ty) for ty in self.fndesc.calltypes[expr].args])
        if op not in _ARITHMETIC or not all(isinstance(ty, _NUMBERS) for ty in args):
            return super().lower_binop(resty, expr, op)
        sig, impl = self._resolve(op, args)
        values = [
            self.context.cast(self.builder, self.loadvar(var.name), self.typeof(var.name), ty)
            for var, ty in zip((expr.lhs, expr.rhs), args, strict=True)
        ]
        return self.context.cast(self.builder, impl(self.builder, values), sig.return_type, resty)

    def _resolve(self, op: Any, args: tuple[Any, ...]) -> Any:
        if (op, args) not in self._resolved:
            function = self.context.typing_context.resolve_value_type(op)
            sig = function.get_call_type(self.context.typing_context, args, {})
            self._resolved[op, args] = sig, self.context.get_function(function, sig)
        return self._resolved[op, args]

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        array = self.typeof(value.name)
        place = self._place(array, value, index)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        align = None if array.aligned else 1
        found = self.context.unpack_value(self.builder, array.dtype, place, align=align)
        return self.context.cast(self.builder, found, array.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, sig: Any) -> Any:
        array = self.typeof(target_var.name)
        place = self._place(array, target_var, index_var)
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, sig)
        value = self.loadvar(value_var.name)
        value = self.context.cast(self.builder, value, self.typeof(value_var.name), array.dtype)
        align = None if array.aligned else 1
        return self.context.pack_value(self.builder, array.dtype, value, place, align=align)

    def _place(self, array: Any, base: Any, index: Any) -> Any:
        """Return the address of an element, or None for indices that are not known to be >= 0."""
        if not isinstance(array, types.Array) or array.layout not in "CA":
            return None
        kind = self.typeof(index.name)
        kinds = tuple(kind) if isinstance(kind, types.BaseTuple) else (kind,)
        if len(kinds) != array.ndim or any(ty != types.uint64 for ty in kinds):
            return None
        builder = self.builder
        at = self.loadvar(index.name)
        if isinstance(kind, types.BaseTuple):
            indices = [builder.extract_value(at, k) for k in range(len(kinds))]
        else:
            indices = [at]
        model = self.context.data_model_manager[array]
        fields = self.loadvar(base.name)

        def field(name: str, *axis: int) -> Any:
            return builder.extract_value(fields, [model.get_field_position(name), *axis])

        data = field("data")
        if array.layout == "C":
            offset = indices[0]
            for axis, each in enumerate(indices[1:], 1):
                offset = builder.add(builder.mul(offset, field("shape", axis)), each)
            return builder.gep(data, [offset], inbounds=True)
        steps = [builder.mul(each, field("strides", axis)) for axis, each in enumerate(indices)]
        offset = steps[0]
        for step in steps[1:]:
            offset = builder.add(offset, step)
        byte = cgutils.voidptr_t
        moved = builder.gep(builder.bitcast(data, byte), [offset], inbounds=True)
        return builder.bitcast(moved, data.type)


@_register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(_NativeLowering):  # type: ignore[misc]  # as above
    """Numba's pass with this `Lower`."""

    _name = "adc_lowering"

    @property
    def lowering_class(self) -> Any:
        return Lower
