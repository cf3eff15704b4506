"""Writes expressions of an emitted function as LLVM's instructions, and what they call."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from llvmlite import ir

from adc.backend.common.syntax import (
    Attribute,
    Binary,
    Call,
    Chain,
    Constant,
    Element,
    Expr,
    Global,
    Inside,
    Name,
    Size,
    Tuple,
    Unary,
)
from adc.backend.cpu.inference import Unit, dtype_of, transposed
from adc.backend.cpu.values import (
    Array,
    Scalar,
    Value,
    Variables,
    flat_result,
    flat_types,
)
from adc.backend.numba_api import RETCODE_OK, Table, cgutils, types
from adc.backend.runtime import gemm, writing
from adc.backend.runtime.threads import Parts, is_worth, share
from adc.ir.sums import LANES

_I64 = ir.IntType(64)
_F64 = ir.DoubleType()
OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
UNARY: dict[str, Callable[..., Any]] = {"-": operator.neg, "not": operator.not_}
# Of two integers of 64 bits: the comparison by which the first is chosen.
CHOICES = {"min": operator.lt, "max": operator.gt}
RUNTIME = frozenset(
    "at_line call_done call_from copy_into empty enter external fill fit fresh grow heard "
    "heard_integer lanes note note_caller part_of poll release returned reuse row_at parallel_for "
    "say slot stacked tape total total_down view".split()
)


class Translation(Unit, Protocol):
    """The emitted file that a function is in, while it becomes LLVM's language."""

    context: Any
    globals: dict[str, Any]

    def signature(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Return the signature of a call of an intrinsic, or of a function that Numba knows."""

    def code(self, builder: Any, function: Any, types: tuple[Any, ...], args: list[Any]) -> Any:
        """Write a call of an intrinsic, or of a function that Numba knows."""

    def apply(self, builder: Any, function: Any, args: Sequence[Any]) -> Scalar:
        """Write an operation on scalars, which are converted to what it takes."""

    def function(self, name: str, args: tuple[Any, ...], homes: Sequence[str] = ()) -> Any:
        """Return the LLVM function that another function of the file is."""

    def given(self, function: Any, args: Sequence[Any]) -> list[Any]:
        """Return the arguments of a call, but anything for those that the function does not use."""

    def scopes(self, home: str) -> tuple[Any, Any]:
        """Return LLVM's lists of the scope of one home of memory, and of those of all others."""

    def all_scopes(self) -> Any:
        """Return LLVM's list of the scopes of all homes of memory."""

    def access_group(self) -> Any:
        """Return a name for the loads and stores of one loop."""

    def loop_hints(self, group: Any, vectors: bool = False) -> Any:
        """Return what tells LLVM that no iteration of a loop needs what another one does.

        A loop of few iterations is to become `vectors` before it is unrolled.
        """


class Expressions(Variables):
    """Writes the expressions of one function."""

    def __init__(
        self, module: Translation, name: str, args: tuple[Any, ...], function: Any
    ) -> None:
        self.module = module
        super().__init__(
            module.context, module.functions[name], module.types_of(name, args), function
        )
        self.args = args
        self._no_memory: Any = None
        # That of the loads and stores of an innermost loop, if it is vectorizable.
        self.group: Any = None

    def expr(self, expr: Expr) -> Value:
        match expr:
            case Name(name):
                return self.read(name)
            case Global(name):
                return self.constant(self.module.globals[name])
            case Constant(value):
                return self.constant(value)
            case Call(name, arguments):
                return self.call(name, arguments)
            case Element(array, index):
                return self.element(*self.place(self.expr(array), index))
            case Binary(op, left, right):
                return self.apply(OPERATORS[op], [self.expr(left), self.expr(right)])
            case Chain(op, items):
                found = self.expr(items[0])
                for each in items[1:]:
                    found = self.apply(OPERATORS[op], [found, self.expr(each)])
                return found
            case Unary("-", Constant(int(number) | float(number))):
                return self.constant(-number)
            case Unary(op, operand):
                return self.apply(UNARY[op], [self.expr(operand)])
            case Inside(index, extent):
                # As unsigned integers, one comparison does: a size is not negative.
                i, n = self.expr(index), self.expr(extent)
                return Scalar(types.boolean, self.builder.icmp_unsigned("<", i.value, n.value))
            case Size(array, axis):
                return Scalar(types.int64, self.expr(array).shape[axis])
            case Tuple(items):
                return [self.expr(each) for each in items]
            case Attribute(array, name):
                return self.attribute(self.expr(array), name)
        raise NotImplementedError(expr)

    def attribute(self, array: Array, name: str) -> Value:
        match name:
            case "shape":
                return [Scalar(types.int64, extent) for extent in array.shape]
            case "T":
                ty = transposed(array.type)
                strides = () if ty.layout == "C" else self.strides(array)[::-1]
                return Array(ty, array.data, array.shape[::-1], strides, array.owner)
        assert name == "size"
        return Scalar(types.int64, self.count(array))

    def apply(self, function: Any, args: Sequence[Value]) -> Scalar:
        return self.module.apply(self.builder, function, args)

    def place(self, array: Array, index: Sequence[Expr]) -> tuple[Any, Any, str]:
        """Return type, address and home of an element; indices are not negative."""
        b = self.builder
        if isinstance(array.type, Table):
            return self.place(self.part(array, self.index(array, 0, index[0])), index[1:])
        found = [self.index(array, axis, each) for axis, each in enumerate(index)]
        assert len(found) == array.type.ndim
        if array.type.layout == "C":
            offset: Any = found[0] if found else ir.Constant(_I64, 0)
            for axis, each in enumerate(found[1:], 1):
                offset = b.add(b.mul(offset, array.shape[axis]), each)
            return array.type, b.gep(array.data, [offset], inbounds=True), array.home
        offset = ir.Constant(_I64, 0)
        for axis, each in enumerate(found):
            step = b.mul(each, array.strides[axis])
            offset = b.add(offset, step) if axis else step
        moved = b.gep(b.bitcast(array.data, cgutils.voidptr_t), [offset], inbounds=True)
        return array.type, b.bitcast(moved, array.data.type), array.home

    def index(self, array: Array, axis: int, expr: Expr) -> Any:
        found = self.expr(expr)
        if isinstance(found.value, ir.Constant) and found.value.constant < 0:
            return self.builder.add(found.value, array.shape[axis])
        return found.value

    def element(self, ty: Any, place: Any, home: str) -> Scalar:
        align = None if ty.aligned else 1
        value = self.context.unpack_value(self.builder, ty.dtype, place, align=align)
        self.mark(value, home)
        return Scalar(ty.dtype, value)

    def mark(self, instruction: Any, home: str) -> None:
        """Tell LLVM which memory a load or store cannot touch."""
        if not isinstance(instruction, ir.LoadInstr | ir.StoreInstr):
            return
        if home:
            own, others = self.module.scopes(home)
            instruction.set_metadata("alias.scope", own)
            instruction.set_metadata("noalias", others)
        if self.group is not None:
            instruction.set_metadata("llvm.access.group", self.group)

    def call(self, name: str, arguments: Sequence[Expr]) -> Value:
        if name in self.module.functions:
            return self.call_emitted(name, [self.expr(each) for each in arguments])
        if name in RUNTIME:
            return self.call_runtime(name, arguments)
        args = [self.expr(each) for each in arguments]
        if name in CHOICES:
            condition = self.apply(CHOICES[name], args)
            chosen = self.builder.select(condition.value, args[0].value, args[1].value)
            return Scalar(types.int64, chosen)
        if name in gemm.NAMES:
            self.product(*args, add=name == "gemm_add")
            return None
        function = self.module.globals[name]
        if any(isinstance(arg, Array) for arg in args):  # routines
            kinds = tuple(arg.type for arg in args)
            sig = self.module.signature(function, kinds)
            values = [self.packed(arg, ty) for arg, ty in zip(args, sig.args, strict=True)]
            found = self.module.code(self.builder, function, kinds, values)
            result = sig.return_type
            return None if result is types.void else Scalar(result, found)
        return self.apply(function, args)

    def product(self, state: Array, out: Array, left: Array, right: Array, *, add: bool) -> None:
        """Write a product of matrices: loops where it stands, if it is small and of known sizes."""
        assert out.type.layout == "C"
        assert {left.type.layout, right.type.layout} <= {"C", "F"}
        sizes = [*out.shape, left.shape[1]]
        columns = left.type.layout == "F", right.type.layout == "F"
        item = self.context.get_data_type(out.type.dtype)
        arrays = [each.data for each in (out, left, right)]
        if not gemm.write_known(
            self.context, self.builder, item, arrays, sizes, columns=columns, add=add
        ):
            gemm.write(
                self.context, self.builder, item, state.data, arrays, sizes,
                columns=columns, add=add,
            )  # fmt: skip

    def call_emitted(self, name: str, args: list[Value]) -> Value:
        kinds = tuple(arg.type for arg in args)
        homes = tuple(getattr(arg, "home", "") for arg in args)
        function = self.module.function(name, kinds, homes)
        result = self.module.types_of(name, kinds).result
        if self.module.functions[name].is_flat:
            return self.call_flat(name, function, kinds, args)
        convention, b = self.context.call_conv, self.builder
        values = [self.packed(arg, ty) for arg, ty in zip(args, kinds, strict=True)]
        status, found = convention.call_function(b, function, result, kinds, values)
        with b.if_then(status.is_error, likely=False):
            convention.return_status_propagate(b, status)
        if not isinstance(result, types.BaseTuple):
            return self.unpacked(result, found)
        return [self.unpacked(ty, b.extract_value(found, k)) for k, ty in enumerate(result)]

    def call_flat(self, name: str, function: Any, kinds: Any, args: list[Value]) -> Value:
        """Write a call of a flat function, which leaves errors where those of this one are."""
        b, context = self.builder, self.context
        values = [v for arg, ty in zip(args, kinds, strict=True) for v in self.flattened(arg, ty)]
        convention, called = context.call_conv, self.module.types_of(name, kinds)
        values = convention._get_arg_packer(flat_types(kinds)).as_arguments(b, values)
        room = self.room(function.args[0].type.pointee)
        given = [room, self.function.args[1], *values]
        code = b.call(function, self.module.given(function, given))
        if not self.module.functions[name].is_loop:
            with b.if_then(b.icmp_unsigned("!=", code, RETCODE_OK), likely=False):
                convention._return_errcode_raw(b, code)
        parts = []
        for k, ty in enumerate(flat_result(called.result)):
            value = b.load(cgutils.gep_inbounds(b, room, 0, k))
            if value.type != context.get_value_type(ty):
                value = context.get_returned_value(b, ty, value)
            parts.append(value)
        rest = iter(parts)
        found = [self.assembled(ty, rest) for ty in called.result]
        return [
            replace(each, owner=None) if isinstance(each, Array) and k not in called.owned else each
            for k, each in enumerate(found)
        ]

    def call_runtime(self, name: str, arguments: Sequence[Expr]) -> Value:
        b = self.builder
        if name == "fresh":
            ty = types.Array(dtype_of(arguments[0]), len(shape := self.sizes(arguments[1])), "C")
            return self.fresh(ty, shape)
        if name == "reuse":
            ty = types.Array(dtype_of(arguments[1]), len(shape := self.sizes(arguments[2])), "C")
            # The same address, not one that happens to be equal: so loops are known to be in step.
            old = self.expr(arguments[0])
            return Array(ty, old.data, tuple(shape), (), None, old.home)
        if name == "stacked":
            ty = types.Array(dtype_of(arguments[0]), len(shape := self.sizes(arguments[1])), "C")
            return self.stacked(ty, shape)
        if name == "row_at":
            stack, *index = (self.expr(each) for each in arguments)
            return self.row(stack, [each.value for each in index])
        if name == "part_of":
            state, stack = (self.expr(each) for each in arguments[:2])
            row = self.row(stack, self.sizes(arguments[2]))
            return self.of_sizes(state.data, row, self.sizes(arguments[3]))
        if name == "view":
            ty = types.Array(dtype_of(arguments[1]), len(shape := self.sizes(arguments[2])), "C")
            return self.array_at(ty, self.expr(arguments[0]).value, shape)
        if name == "lanes":
            ty = types.Array(dtype_of(arguments[0]), 1, "C")
            found = self.stacked(ty, [ir.Constant(_I64, LANES)])
            writing.fill_lanes(b, found.data, self.expr(arguments[1]).value)
            return found
        if name in ("total", "total_down"):
            lanes, used = (self.expr(each) for each in arguments)
            found = writing.total_of(b, lanes.data, used.value, name == "total_down")
            return Scalar(lanes.type.dtype, found)
        if name == "fill":
            self.fill(*(self.expr(each) for each in arguments))
            return None
        if name == "copy_into":
            target, source = (self.expr(each) for each in arguments)
            self.copy(source, target.data)
            return None
        state = self.expr(arguments[0]).data
        match name:
            case "parallel_for":
                self.parallel_for(arguments)
            case "empty":
                ty = types.Array(
                    dtype_of(arguments[1]), len(shape := self.sizes(arguments[2])), "C"
                )
                address = writing.take(b, state, ty.dtype, shape, self.no_memory())
                return self.array_at(ty, address, shape, "workspace")
            case "slot":
                ty = types.Array(dtype_of(arguments[1]), 1, "C")
                shapes = [self.sizes(each) for each in arguments[2:]]
                size, bad = writing.most_bytes(b, ty.dtype, shapes)
                self.leave_without_memory(bad)
                shape = [b.sdiv(size, ir.Constant(_I64, writing.itemsize(ty.dtype)))]
                address = writing.take(b, state, ty.dtype, shape, self.no_memory())
                return self.array_at(ty, address, shape, "workspace")
            case "returned":
                ty = types.Array(
                    dtype_of(arguments[2]), len(shape := self.sizes(arguments[3])), "C"
                )
                return self.returned(state, self.expr(arguments[1]).value, ty, shape)
            case "tape" | "grow" | "fit":
                ty = types.Array(dtype_of(arguments[-1]), 1, "C")
                place = self.expr(arguments[1]).value
                if name != "tape":
                    need = self.expr(arguments[2]).value
                    size, exact = self.itemsize(ty), name == "fit"
                    done = writing.reserve(b, state, place, need, size, exact)
                    self.leave_without_memory(b.not_(done))
                one = ir.Constant(_I64, 1)
                address = b.load(b.gep(state, [place]))
                size = b.load(b.gep(state, [b.add(place, one)]))
                return self.array_at(ty, address, [size], "tape")
            case "enter":
                return Scalar(types.boolean, writing.enter_call(b, state))
            case "poll":
                work = self.expr(arguments[1])
                return Scalar(types.boolean, writing.poll_state(b, state, work.value))
            case "say":
                return Scalar(types.boolean, writing.say_words(b, state))
            case "external":
                return Scalar(types.boolean, self.call_external(state, arguments[1:]))
            case "heard":
                return Scalar(types.float64, b.bitcast(writing.heard_word(b, state), _F64))
            case "heard_integer":
                return Scalar(types.int64, writing.heard_word(b, state))
            case "note":
                done = writing.note_word(b, state, self.expr(arguments[1]).value)
                self.leave_without_memory(b.not_(done))
            case "note_caller":
                writing.note_caller(b, state, self.expr(arguments[1]).value)
            case "at_line" | "call_done" | "call_from":
                write = getattr(writing, name)
                for each in write(b, state, *(self.expr(each).value for each in arguments[1:])):
                    each.set_metadata("noalias", self.module.all_scopes())
            case "release":
                writing.release_to(b, state, self.expr(arguments[1]).value)
        return None

    def call_external(self, state: Any, arguments: Sequence[Expr]) -> Any:
        """Write the call of a function outside, and what it is told (`outside`)."""
        number, given, made = (self.expr(each) for each in arguments)
        words: list[Any] = []
        copies: list[Any] = []
        for each in given:
            if isinstance(each, Array):
                words += [*each.shape, self.builder.ptrtoint(each.data, _I64), *self.strides(each)]
                copies.append(self.memory(each))
            else:
                words.append(self.word(each))
        for each in made:
            words += each.shape
        found = [self.memory(each) for each in made]
        return writing.call_external(self.builder, state, number.value, words, copies, found)

    def memory(self, array: Array) -> tuple[Any, Any]:
        """Return the address and the bytes of an array: none unless its elements lie in C order."""
        size: Any = self.itemsize(array.type)
        for extent in array.shape:
            size = self.builder.mul(size, extent)
        return array.data, size if array.type.layout == "C" else ir.Constant(_I64, 0)

    def word(self, number: Scalar) -> Any:
        """Return the bits of a float, or an integer."""
        b, ty = self.builder, types.unliteral(number.type)
        if ty == types.float64:
            return b.bitcast(number.value, _I64)
        if ty == types.float32:
            return b.zext(b.bitcast(number.value, ir.IntType(32)), _I64)
        return self.context.cast(b, number.value, ty, types.int64)

    def row(self, stack: Array, index: Sequence[Any]) -> Array:
        """Return an array in an array, where it lies."""
        b = self.builder
        if isinstance(stack.type, Table):
            stack, index = self.part(stack, index[0]), index[1:]
            if not index:
                return stack
        rest = stack.shape[len(index) :]
        place: Any = index[0]
        for extent, each in zip(stack.shape[1:], index[1:], strict=False):
            place = b.add(b.mul(place, extent), each)
        for extent in rest:
            place = b.mul(place, extent)
        ty = types.Array(stack.type.dtype, len(rest), "C")
        return Array(ty, b.gep(stack.data, [place]), rest, (), stack.owner, stack.home)

    def fill(self, array: Array, value: Scalar) -> None:
        """Write that all elements of an array in C order become a value."""
        b, number = self.builder, value.value
        # Zero with a sign has a bit that is set.
        if isinstance(number, ir.Constant) and str(number.constant) in ("0", "0.0", "False"):
            writing.clear(b, array.data, self.count(array))
            return
        number = self.context.cast(b, number, value.type, array.type.dtype)
        number = self.context.get_value_as_data(b, array.type.dtype, number)
        writing.fill(b, array.data, self.count(array), number)

    def copy(self, source: Array, target: Any) -> None:
        """Write a copy of an array's elements, to an address where they are to be in C order."""
        memory = source.data, source.shape, self.strides(source)
        writing.copy(self.builder, self.context, memory, target, source.type.layout)

    def count(self, array: Array) -> Any:
        """Return the number of elements of an array."""
        size: Any = ir.Constant(_I64, 1)
        for k, extent in enumerate(array.shape):
            size = self.builder.mul(size, extent) if k else extent
        return size

    def of_sizes(self, state: Any, row: Array, sizes: list[Any]) -> Array:
        """Return an array if it has some sizes, else a copy of so many of its elements."""
        b = self.builder
        differs: Any = ir.Constant(ir.IntType(1), 0)
        for extent, size in zip(row.shape, sizes, strict=True):
            differs = b.or_(differs, b.icmp_signed("!=", extent, size))
        before = b.block
        with b.if_then(differs, likely=False):
            address = writing.take(b, state, row.type.dtype, sizes, self.no_memory())
            made = self.array_at(row.type, address, sizes)
            memory = row.data, sizes, self.strides(row)
            writing.copy(b, self.context, memory, made.data)
            after = b.block
        data = b.phi(row.data.type)
        data.add_incoming(row.data, before)
        data.add_incoming(made.data, after)
        return Array(row.type, data, tuple(sizes), (), None)

    def parallel_for(self, arguments: Sequence[Expr]) -> None:
        """Write a parallel loop: where it takes long, threads call the function of its parts."""
        assert isinstance(arguments[1], Global)
        name, b = arguments[1].id, self.builder
        state, trips, work, *given = (self.expr(each) for each in (arguments[0], *arguments[2:]))
        number = Scalar(types.int64, ir.Constant(_I64, 0))
        args = [state, number, number, *given]
        kinds = tuple(arg.type for arg in args)
        homes = tuple(getattr(arg, "home", "") for arg in args)
        function = self.module.function(name, kinds, homes)
        convention = self.context.call_conv
        result = self.module.types_of(name, kinds).result

        def call(b: Any, own: Any, first: Any, last: Any, rest: Sequence[Any]) -> Any:
            values = [own, first, last, *rest]
            return convention.call_function(b, function, result, kinds, values)[0].is_error

        packed = [self.packed(arg, ty) for arg, ty in zip(args, kinds, strict=True)]
        parts = Parts(function.name, call, packed[0].type, [value.type for value in packed[3:]])
        alone, shared, after = (self.function.append_basic_block() for _ in range(3))
        b.cbranch(is_worth(b, state.data, work.value), shared, alone)
        b.position_at_end(alone)
        self.leave_without_memory(call(b, packed[0], number.value, trips.value, packed[3:]))
        b.branch(after)
        b.position_at_end(shared)
        whole = ir.Constant(ir.LiteralStructType([value.type for value in packed[3:]]), None)
        for k, value in enumerate(packed[3:]):
            whole = b.insert_value(whole, value, k)
        place = self.slot(whole.type)
        b.store(whole, place)
        share(b, state.data, parts, place, trips.value, work.value)
        b.branch(after)
        b.position_at_end(after)

    def stacked(self, ty: Any, shape: Sequence[Any]) -> Array:
        """Make room for an array on the stack, whose sizes are numbers."""
        item = self.context.get_data_type(ty.dtype)
        count = math.prod(int(size.constant) for size in shape)
        with self.builder.goto_entry_block():
            place = self.builder.alloca(ir.ArrayType(item, count))
            place.align = 64
        first = self.builder.bitcast(place, item.as_pointer())
        return Array(ty, first, tuple(shape), (), None)

    def fresh(self, ty: Any, shape: Sequence[Any]) -> Array:
        """Write the making of an array that owns its memory."""
        b, context = self.builder, self.context
        owner = writing.own(b, context, ty.dtype, shape)
        self.leave_without_memory(cgutils.is_null(b, owner))
        pointer = context.get_data_type(ty.dtype).as_pointer()
        data = b.bitcast(context.nrt.meminfo_data(b, owner), pointer)
        return Array(ty, data, tuple(shape), (), owner, "fresh")

    def returned(self, state: Any, place: Any, ty: Any, shape: list[Any]) -> Array:
        """Write the making of a result, in the memory prepared for it if that fits."""
        b = self.builder
        address = writing.take_prepared(b, state, place, ty.dtype, shape)
        before = b.block
        prepared = self.array_at(ty, address, shape)
        nothing = b.icmp_unsigned("==", address, ir.Constant(_I64, 0))
        with b.if_then(nothing, likely=False):
            own = self.fresh(ty, shape)
            after = b.block
        nobody = ir.Constant(own.owner.type, None)
        data, owner = b.phi(own.data.type), b.phi(own.owner.type)
        for phi, inside, outside in ((data, prepared.data, own.data), (owner, nobody, own.owner)):
            phi.add_incoming(inside, before)
            phi.add_incoming(outside, after)
        return Array(ty, data, tuple(shape), (), owner, "fresh")

    def sizes(self, shape: Expr) -> list[Any]:
        return [size.value for size in self.expr(shape)]

    def no_memory(self) -> Any:
        """Return the block that raises the error that there is no memory."""
        if self._no_memory is None:
            self._no_memory = self.function.append_basic_block("no_memory")
            with self.builder.goto_block(self._no_memory):
                text = "the program needs more memory than there is"
                self.context.call_conv.return_user_exc(self.builder, MemoryError, (text,))
        return self._no_memory

    def leave_without_memory(self, condition: Any) -> None:
        after = self.function.append_basic_block()
        self.builder.cbranch(condition, self.no_memory(), after).set_weights([1, 1000])
        self.builder.position_at_end(after)
