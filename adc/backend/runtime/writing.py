"""What the lowering of emitted code writes: memory, lanes, the log, interruption.

`adc.backend.cpu.expressions` calls these for the names in `adc.backend.runtime`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from adc.backend.numba_api import cgutils, types
from adc.backend.runtime.helpers import (
    ALIGN,
    I8P,
    I32,
    I64,
    VECTOR,
    WRITE,
    caller_helper,
    declared,
    external_helper,
    grow_helper,
    halve_lanes,
    helper,
    note_helper,
    on_lanes,
    poll_helper,
    release_helper,
    say_helper,
    slot_of,
    spill_helper,
    vector_at,
)
from adc.backend.runtime.state import LARGE, State
from adc.ir.sums import SHORT

# Address, sizes, and strides in bytes of an array.
Memory = tuple[ir.Value, Sequence[ir.Value], Sequence[ir.Value]]


def width(b: ir.IRBuilder, used: ir.Value) -> ir.Value:
    """Write the number of lanes to combine: a power of two, not less than `used`, at least 8."""
    least = ir.Constant(I64, VECTOR)
    below = b.sub(b.select(b.icmp_signed(">", used, least), used, least), ir.Constant(I64, 1))
    zeros = b.ctlz(below, ir.Constant(ir.IntType(1), 0))
    return b.shl(ir.Constant(I64, 1), b.sub(ir.Constant(I64, 64), zeros))


def fill_lanes(b: ir.IRBuilder, lanes: ir.Value, used: ir.Value) -> None:
    """Write the neutral element of addition into the lanes that will be combined."""
    on_lanes(b, "fill", _fill, lanes, used)


def _fill(b: ir.IRBuilder, lanes: ir.Value, used: ir.Value) -> None:
    kind = ir.VectorType(lanes.type.pointee, VECTOR)
    neutral = ir.Constant(kind, [ir.Constant(lanes.type.pointee, -0.0)] * VECTOR)
    with cgutils.for_range(b, b.lshr(width(b, used), ir.Constant(I64, 3)), intp=I64) as loop:
        b.store(neutral, vector_at(b, lanes, b.shl(loop.index, ir.Constant(I64, 3))), align=8)


def total_of(b: ir.IRBuilder, lanes: ir.Value, used: ir.Value, down: bool) -> ir.Value:
    """Write the sum of the first `used` lanes, see `adc.ir.sums.combine`."""
    write = functools.partial(_total, down=down)
    name = "total_down" if down else "total"
    return on_lanes(b, name, write, lanes, used, lanes.type.pointee)


def _total(b: ir.IRBuilder, lanes: ir.Value, used: ir.Value, down: bool) -> ir.Value:
    short, long, done = (b.function.append_basic_block() for _ in range(3))
    item = lanes.type.pointee
    b.cbranch(b.icmp_signed("<=", used, ir.Constant(I64, SHORT)), short, long)

    b.position_at_end(short)
    test, step = (b.function.append_basic_block() for _ in range(2))
    entry = b.block
    b.branch(test)
    b.position_at_end(test)
    k, few = b.phi(I64), b.phi(item)
    k.add_incoming(ir.Constant(I64, 0), entry)
    few.add_incoming(ir.Constant(item, -0.0), entry)
    b.cbranch(b.icmp_signed("<", k, used), step, done)
    b.position_at_end(step)
    following = b.add(k, ir.Constant(I64, 1))
    place = b.sub(used, following) if down else k
    few.add_incoming(b.fadd(few, b.load(b.gep(lanes, [place]))), b.block)
    k.add_incoming(following, b.block)
    b.branch(test)

    b.position_at_end(long)
    on_lanes(b, "halve", halve_lanes, lanes, width(b, used))
    # One by one: a vector would wait for the lanes to be written to the cache.
    found = [b.load(b.gep(lanes, [ir.Constant(I64, k)])) for k in range(VECTOR)]
    while len(found) > 1:
        half = len(found) // 2
        found = [b.fadd(x, y) for x, y in zip(found[:half], found[half:], strict=True)]
    last = b.block
    b.branch(done)

    b.position_at_end(done)
    result = b.phi(item)
    result.add_incoming(few, test)
    result.add_incoming(found[0], last)
    return result


def itemsize(dtype: Any) -> int:
    """Return the bytes of an element of one of Numba's types."""
    return 1 if dtype == types.boolean else dtype.bitwidth // 8


def _bytes_of(b: ir.IRBuilder, item: int, shape: Sequence[ir.Value]) -> tuple[Any, Any]:
    """Write the size of an array; return it, and whether it is negative or beyond all memory."""
    size: Any = ir.Constant(I64, item)
    bad: Any = ir.Constant(ir.IntType(1), 0)
    for one in shape:
        product = b.smul_with_overflow(size, one)
        size = b.extract_value(product, 0)
        negative = b.icmp_signed("<", one, ir.Constant(I64, 0))
        bad = b.or_(bad, b.or_(negative, b.extract_value(product, 1)))
    return size, bad


def most_bytes(
    b: ir.IRBuilder, dtype: Any, shapes: Sequence[Sequence[ir.Value]]
) -> tuple[Any, Any]:
    """Write the size of the largest of some arrays, and whether one of them is impossible."""
    size: Any = ir.Constant(I64, 0)
    bad: Any = ir.Constant(ir.IntType(1), 0)
    for shape in shapes:
        one, wrong = _bytes_of(b, itemsize(dtype), shape)
        size = b.select(b.icmp_signed(">", one, size), one, size)
        bad = b.or_(bad, wrong)
    return size, bad


# The functions for arrays of some number of axes and of items of some bytes are in every module
# that needs them: to write what they do wherever an array is made takes a fifth of all the code.


def take_prepared(
    b: ir.IRBuilder, state: ir.Value, place: ir.Value, dtype: Any, shape: Sequence[ir.Value]
) -> ir.Value:
    """Write the taking of the memory prepared for a result; return its address, 0 if none fits.

    Where none fits, the size that is needed is left in its place.
    """

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, place, *shape = args
        size, bad = _bytes_of(b, item, shape)
        table = b.inttoptr(b.load(slot_of(b, state, State.RESULTS)), I64.as_pointer())
        at = b.mul(place, ir.Constant(I64, 2))
        where, prepared = slot_of(b, table, at), slot_of(b, table, b.add(at, ir.Constant(I64, 1)))
        address = b.load(where)
        nothing = ir.Constant(I64, 0)
        given = b.icmp_unsigned("!=", address, nothing)
        fits = b.and_(b.icmp_unsigned("==", size, b.load(prepared)), given)
        fits = b.and_(fits, b.not_(bad))
        with b.if_then(fits, likely=True):
            b.ret(address)
        large = b.icmp_unsigned(">=", size, ir.Constant(I64, LARGE))
        with b.if_then(b.or_(large, given)):
            b.store(nothing, where)
            b.store(size, prepared)
            b.store(ir.Constant(I64, 1), slot_of(b, state, State.MISSED))
        b.ret(nothing)

    item = itemsize(dtype)
    return _call(b, f"prepared_{item}", I64, [state, place, *shape], body)


def own(b: ir.IRBuilder, context: Any, dtype: Any, shape: Sequence[ir.Value]) -> ir.Value:
    """Write the making of memory that is counted; return its owner, null if there is none."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        size, bad = _bytes_of(b, item, args)
        with b.if_then(bad, likely=False):
            b.ret(ir.Constant(I8P, None))
        b.ret(context.nrt.meminfo_alloc_aligned_unchecked(b, size, align))

    item, align = itemsize(dtype), context.get_preferred_array_alignment(dtype)
    return _call(b, f"own_{item}_{align}", I8P, shape, body)


def take(
    b: ir.IRBuilder, state: ir.Value, dtype: Any, shape: Sequence[ir.Value], no_memory: ir.Block
) -> ir.Value:
    """Write the taking of an array from the workspace, or a jump to `no_memory`.

    Return the array's address. That of an array without elements may be 0.
    """
    none = ir.Constant(I64, -1)

    def body(b: ir.IRBuilder, args: Any) -> None:
        state, *shape = args
        size, bad = _bytes_of(b, item, shape)
        size = b.and_(b.add(size, ir.Constant(I64, ALIGN - 1)), ir.Constant(I64, -ALIGN))
        old = b.load(slot_of(b, state, State.TOP))
        new = b.add(old, size)
        fits = b.icmp_unsigned("<=", new, b.load(slot_of(b, state, State.SIZE)))
        with b.if_then(b.and_(fits, b.not_(bad)), likely=True):
            b.store(new, slot_of(b, state, State.TOP))
            b.ret(b.add(b.load(slot_of(b, state, State.BASE)), old))
        outside = b.call(spill_helper(b.module), [state, b.select(bad, none, size)])
        b.ret(b.select(b.icmp_unsigned("==", outside, ir.Constant(I64, 0)), none, outside))

    item = itemsize(dtype)
    address = _call(b, f"take_{item}", I64, [state, *shape], body)
    done = b.function.append_basic_block()
    b.cbranch(b.icmp_unsigned("==", address, none), no_memory, done).set_weights([1, 1000])
    b.position_at_end(done)
    return address


def _call(
    b: ir.IRBuilder, name: str, result: ir.Type, args: Sequence[ir.Value],
    body: Callable[[ir.IRBuilder, Any], None],
) -> Any:  # fmt: skip
    """Write the call of a function for so many arguments; `body` writes it, if it is not there."""
    kinds = [arg.type for arg in args]
    made = helper(b.module, f"adc_{name}_{len(args)}", result, kinds, body, cold=False)
    return b.call(made, args)


def clear(b: ir.IRBuilder, data: ir.Value, count: ir.Value) -> None:
    """Write that all bits of `count` elements become 0."""
    size = b.mul(count, ir.Constant(I64, _bytes(data.type.pointee)))
    cgutils.memset(b, b.bitcast(data, I8P), size, 0)


def fill(b: ir.IRBuilder, data: ir.Value, count: ir.Value, value: ir.Value) -> None:
    """Write that each of `count` elements becomes `value`."""

    def body(b: ir.IRBuilder, args: Any) -> None:
        data, count, value = args
        with cgutils.for_range(b, count, intp=I64) as loop:
            b.store(value, b.gep(data, [loop.index]))
        b.ret_void()

    _call(b, f"set_{data.type.pointee}", ir.VoidType(), [data, count, value], body)


def _bytes(item: ir.Type) -> int:
    """Return the bytes of a number in memory."""
    return {ir.FloatType(): 4, ir.DoubleType(): 8}.get(item) or (item.width + 7) // 8


def copy(
    b: ir.IRBuilder, context: Any, source: Memory, target: ir.Value, layout: str = "A"
) -> None:
    """Write a copy of an array's elements, into memory in C order."""
    data, shape, strides = source
    item = data.type.pointee
    if layout == "C":
        size: Any = ir.Constant(I64, _bytes(item))
        for extent in shape:
            size = b.mul(size, extent)
        cgutils.raw_memcpy(b, target, data, size, 1)
        return

    def body(b: ir.IRBuilder, args: Any) -> None:
        target, data, *sizes = args
        shape, strides = sizes[:rank], sizes[rank:]
        place = cgutils.alloca_once_value(b, target)
        with cgutils.loop_nest(b, shape, I64) as index:
            old = cgutils.get_item_pointer2(context, b, data, shape, strides, "A", index)
            at = b.load(place)
            b.store(b.load(old), at)
            b.store(b.gep(at, [ir.Constant(I64, 1)]), place)
        b.ret_void()

    rank = len(shape)
    _call(b, f"copy_{item}", ir.VoidType(), [target, data, *shape, *strides], body)


def release_to(b: ir.IRBuilder, state: ir.Value, mark: ir.Value) -> None:
    """Write the release of all arrays that were taken from the workspace since `mark`."""
    top, peak = slot_of(b, state, State.TOP), slot_of(b, state, State.PEAK)
    used, most = b.load(top), b.load(peak)
    b.store(b.select(b.icmp_signed(">", used, most), used, most), peak)
    b.store(mark, top)
    spilled = b.load(slot_of(b, state, State.SPILLED))
    with b.if_then(b.icmp_unsigned("!=", spilled, ir.Constant(I64, 0)), likely=False):
        b.call(release_helper(b.module), [state, mark])


def reserve(
    b: ir.IRBuilder, state: ir.Value, place: ir.Value, need: ir.Value, size: ir.Value, exact: bool
) -> ir.Value:
    """Write the growing of a tape; return whether there was memory for it."""
    only = ir.Constant(ir.IntType(1), exact)
    return b.call(grow_helper(b.module), [state, place, need, size, only])


def note_word(b: ir.IRBuilder, state: ir.Value, word: ir.Value) -> ir.Value:
    """Write the appending of a word to the print log; return whether there was memory for it."""
    return b.call(note_helper(b.module), [state, word])


def say_words(b: ir.IRBuilder, state: ir.Value) -> ir.Value:
    """Write the carrying out of what is in the log; return whether the call is to be given up."""
    return b.call(say_helper(b.module), [state])


def at_line(b: ir.IRBuilder, state: ir.Value, place: ir.Value, mark: ir.Value) -> list[Any]:
    """Write that a mark is noted in a place of the state, and return what was written.

    Another thread reads it (`adc.backend.cpu.sampler`), so that no store can be left out.
    """
    return [b.store_atomic(mark, b.gep(state, [place]), "monotonic", 8)]


def call_from(b: ir.IRBuilder, state: ir.Value, place: ir.Value, mark: ir.Value) -> list[Any]:
    """Write that a mark is put on a stack: at `place` is how many there are. The rest follows."""
    one = ir.Constant(I64, 1)
    count = b.load(b.gep(state, [place]))
    full = b.icmp_signed(">=", count, ir.Constant(I64, State.MOST_CALLS))
    last = b.select(full, ir.Constant(I64, State.MOST_CALLS - 1), count)
    top = b.add(b.add(place, one), last)
    return [*at_line(b, state, top, mark), *at_line(b, state, place, b.add(count, one))]


def call_done(b: ir.IRBuilder, state: ir.Value, place: ir.Value) -> list[Any]:
    """Write that the last mark is taken off the stack."""
    count = b.load(b.gep(state, [place]))
    return at_line(b, state, place, b.sub(count, ir.Constant(I64, 1)))


def call_external(
    b: ir.IRBuilder, state: ir.Value, number: ir.Value, words: Sequence[ir.Value],
    given: Sequence[tuple[ir.Value, ir.Value]], made: Sequence[tuple[ir.Value, ir.Value]],
) -> ir.Value:  # fmt: skip
    """Write the call of a function outside; return whether the call is to be given up.

    It is told `words`, and memory by address and bytes: copies of what is `given`, and what is
    `made`. Machine code that does the same is told `words` and addresses of what is `made`.
    """
    with b.goto_entry_block():
        place = b.alloca(I64, ir.Constant(I64, len(words) + len(made) + 1))
    for k, word in enumerate(words):
        b.store(word, slot_of(b, place, k))
    for k, (address, _) in enumerate(made, len(words)):
        b.store(b.ptrtoint(address, I64), slot_of(b, place, k))
    done = _call_native(b, state, number, place)
    before = b.block
    with b.if_then(b.not_(done)):
        failed = _call_outside(b, state, number, (place, len(words)), given, made)
        after = b.block
    found = b.phi(ir.IntType(1))
    found.add_incoming(ir.Constant(ir.IntType(1), 0), before)
    found.add_incoming(failed, after)
    return found


def _call_native(b: ir.IRBuilder, state: ir.Value, number: ir.Value, place: ir.Value) -> ir.Value:
    """Write the call of machine code, if there is any; return whether it has done all."""
    table = b.inttoptr(b.load(slot_of(b, state, State.EXTERNAL)), I64.as_pointer())
    row = b.or_(b.shl(number, ir.Constant(I64, 1)), ir.Constant(I64, 1))
    told = b.load(b.gep(table, [row]))
    before = b.block
    with b.if_then(b.icmp_signed("!=", told, ir.Constant(I64, 0))):
        words = b.inttoptr(told, I64.as_pointer())
        kind = ir.FunctionType(I64, [I64.as_pointer(), I64.as_pointer()])
        answer = b.call(b.inttoptr(b.load(words), kind.as_pointer()), [words, place])
        good = b.icmp_signed("==", answer, ir.Constant(I64, 1))
        after = b.block
    found = b.phi(ir.IntType(1))
    found.add_incoming(ir.Constant(ir.IntType(1), 0), before)
    found.add_incoming(good, after)
    return found


def _call_outside(
    b: ir.IRBuilder, state: ir.Value, number: ir.Value, words: tuple[ir.Value, int],
    given: Sequence[tuple[ir.Value, ir.Value]], made: Sequence[tuple[ir.Value, ir.Value]],
) -> ir.Value:  # fmt: skip
    """Write the call of the Python function; `words` are an address, and how many there are."""
    module, bytes_type = b.module, ir.IntType(8)
    lock = b.call(declared(module, "adc_PyGILState_Ensure", I32), [])
    view = declared(module, "adc_PyMemoryView_FromMemory", I8P, I8P, I64, I32)
    copy = declared(module, "adc_PyBytes_FromStringAndSize", I8P, I8P, I64)

    def writable(address: Any, size: Any) -> Any:
        return b.call(view, [b.bitcast(address, I8P), size, ir.Constant(I32, WRITE)])

    place, count = words
    items = [writable(place, ir.Constant(I64, 8 * count))]
    for address, size in given:
        items.append(b.call(copy, [b.bitcast(address, I8P), size]))
    items += [writable(*each) for each in made]
    # It takes the references, and returns nothing if one of them is nothing.
    text = bytearray(f"({'N' * len(items)})\0".encode())
    form = ir.Constant(ir.ArrayType(bytes_type, len(text)), text)
    name = f"adc_form_{len(items)}"
    known = module.globals.get(name) or cgutils.global_constant(module, name, form)
    build = module.globals.get("adc_Py_BuildValue") or ir.Function(
        module, ir.FunctionType(I8P, [I8P], var_arg=True), "adc_Py_BuildValue"
    )
    found = b.call(build, [b.bitcast(known, I8P), *items])
    return b.call(external_helper(module), [state, number, found, lock])


def heard_word(b: ir.IRBuilder, state: ir.Value) -> ir.Value:
    """Write the reading of what carrying out the last effect has found."""
    return b.load(slot_of(b, state, State.WANTED))


def enter_call(b: ir.IRBuilder, state: ir.Value) -> ir.Value:
    """Write the beginning of a function that calls itself: True if the call is to be given up.

    A call is given up where the stack of the thread ends, or after a signal.
    """
    with b.goto_entry_block():
        here = b.ptrtoint(b.alloca(ir.IntType(8)), I64)
    stopped = poll_state(b, state, ir.Constant(I64, 1))
    end = b.icmp_unsigned("<", here, b.load(slot_of(b, state, State.STACK)))
    with b.if_then(end, likely=False):
        b.store(ir.Constant(I64, State.NO_STACK), slot_of(b, state, State.STATUS))
    return b.or_(stopped, end)


def note_caller(b: ir.IRBuilder, state: ir.Value, site: ir.Value) -> None:
    """Write that the call of a site led to the check that failed."""
    b.call(caller_helper(b.module), [state, site])


def poll_state(b: ir.IRBuilder, state: ir.Value, work: ir.Value) -> ir.Value:
    """Write the counting down of `work`; return whether the call is to be given up."""
    ticks = slot_of(b, state, State.TICKS)
    left = b.sub(b.load(ticks), work)
    b.store(left, ticks)
    before = b.block
    with b.if_then(b.icmp_signed("<", left, ir.Constant(I64, 0)), likely=False):
        raised = b.call(poll_helper(b.module), [state])
        polled = b.block
    stop = b.phi(ir.IntType(1))
    stop.add_incoming(ir.Constant(ir.IntType(1), 0), before)
    stop.add_incoming(raised, polled)
    return stop
