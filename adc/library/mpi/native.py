"""An exchange of messages in machine code, which compiled code calls without Python.

Python and mpi4py take some microseconds for each message, and more where computing between messages
has emptied the caches, as in reverse code. The machine code here calls the MPI library that mpi4py
has loaded. It sends from the memory of the program and receives into it. It gives up, and Python
goes on (`ranks.exchange`), where other ranks take long, so that signals, errors of other ranks and
time-outs are looked for; where MPI finds an error, or a message has another size, which Python
raises; and where an array does not lie in one piece, or a number is none of MPI's.

Each communicator has a table of words, of which the address is its number. In it are handles for
messages, by way; how far an exchange is that Python takes over; its requests; what has come, or the
error of MPI; and where it comes.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adc.ir.text.outside import Constant, Leaf, Outside
from adc.ir.types import HALF, Array, Type

Vector = Any  # an array of one axis

# Places in the table of a communicator. Handles of communicators come first, by way.
STAGE, RECEIVING, SENDING, SOURCE, TAG, SIZE, ERROR, INTO, WORDS = range(4, 13)
# How far an exchange is; 0: there is none.
BEGUN, RECEIVED, FAILED = 1, 2, 3
# It asks so often whether a message has come, lets others run, and gives up after so many rounds:
# a few milliseconds.
_TRIES, _ROUNDS = 200, 100
_LATE = -1  # of codes of MPI, which are not negative
# What is told about a call: the address of the code; the MPI type and the bytes of an element that
# is sent, and of one that is received; the places among the words of the array that is sent, and of
# the size and the addresses of what is filled; for each number its place, or -1 and its value.
_SENT, _MADE, _SENT_AT, _SIZE_AT, _MADE_AT, _NUMBERS = 1, 3, 5, 6, 7, 8
_NAMES = ("number", "way", "dest", "sendtag", "source", "recvtag")


# -- what Python does ------------------------------------------------------------------------------


def handle_of(item: Any) -> int:
    """Return the handle of an object of MPI as an integer, whatever it is in the library."""
    from mpi4py import MPI

    raw = ctypes.string_at(MPI._addressof(item), MPI._sizeof(item))
    return int.from_bytes(raw, sys.byteorder)


def request_of(table: Any, place: int) -> Any:
    """Return the request whose handle is at a place in the table of a communicator."""
    from mpi4py import MPI

    request = MPI.Request()
    address = table.ctypes.data + 8 * place
    ctypes.memmove(MPI._addressof(request), address, MPI._sizeof(request))
    return request


def memory(address: int, count: int, dtype: str) -> Vector:
    """Return memory of the program as a vector."""
    kind = np.dtype(dtype)
    there: Any = (ctypes.c_char * (count * kind.itemsize)).from_address(address)
    return np.frombuffer(there, kind)


class Native:
    """A function outside for which there is machine code.

    Parameters
    ----------
    fn : callable
        `ranks.exchange`.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        self.__name__ = fn.__name__

    def __call__(self, *args: Any) -> Any:
        return self.fn(*args)

    def __adc_native__(self, call: Outside) -> Any:
        """Return what the machine code is told about a call, its own address first; or None."""
        code = machine_code()
        return None if code is None else code.told(call)


# -- the machine code ------------------------------------------------------------------------------


class _Code:
    """The machine code, and what keeps it in memory."""

    def __init__(self, mpi: Any) -> None:
        import llvmlite.binding as llvm

        self._mpi = mpi
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        module: Any = llvm.parse_assembly(_build(mpi))
        module.verify()
        machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
        self._engine: Any = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        self.address: int = self._engine.get_function_address("adc_exchange")

    def _type(self, ty: Type) -> tuple[int, int] | None:
        """Return the handle of the MPI type of an array's elements, and their bytes."""
        if not isinstance(ty, Array) or ty.rank != 1 or ty.dtype == HALF or ty.kind == "c":
            return None
        found = self._mpi._typedict.get(ty.numpy.char)
        return None if found is None else (handle_of(found), ty.numpy.itemsize)

    def told(self, call: Outside) -> Any:
        """Return what is told about a call of `ranks.exchange`, or None."""
        places = [0]
        for ty in call.params:  # of an array its sizes, address and strides
            places.append(places[-1] + (2 * ty.rank + 1 if isinstance(ty, Array) else 1))
        number, way, _, *numbers, _, _, _, sent, _ = call.args
        if not isinstance(sent, Leaf):
            return None
        types = [self._type(sent.type), self._type(call.made[0])]
        words = [self.address]
        for found in types:
            if found is None:
                return None
            words += found
        words += [places[sent.k], places[-1], places[-1] + len(call.made)]
        for each in (number, way, *numbers):
            if isinstance(each, Constant):
                words += [-1, int(each.value)]
            elif isinstance(each, Leaf) and each.type.dtype == "i64":
                words += [places[each.k], 0]
            else:
                return None
        return np.array(words, np.int64)


@functools.cache
def machine_code() -> _Code | None:
    """Return the machine code, or None where it does not work with the MPI library.

    It has to bring a message to this rank itself, with all that is known of it.
    """
    from mpi4py import MPI

    sizes = [MPI._sizeof(kind) for kind in (MPI.Comm, MPI.Datatype, MPI.Request)]
    if any(size not in (4, 8) for size in sizes) or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    code = _Code(MPI)
    comm = MPI.COMM_SELF.Dup()
    table, x, y = np.zeros(WORDS, np.int64), np.arange(3.0), np.zeros(3)
    table[0] = handle_of(comm)
    double = handle_of(MPI.DOUBLE)
    told = np.array([code.address, double, 8, double, 8, 2, 5, 6,
                     0, 0, -1, 0, -1, 0, -1, 7, -1, 0, 1, 0])  # fmt: skip
    out = np.zeros(3, np.int64)
    made = [y.ctypes.data, *(out.ctypes.data + 8 * k for k in range(3))]
    words = np.array([table.ctypes.data, 7, 3, x.ctypes.data, 8, 3, *made])
    call: Any = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(code.address)
    done = call(told.ctypes.data, words.ctypes.data) == 1
    comm.Free()
    right = done and np.array_equal(x, y) and out.tolist() == [0, 7, 0]
    return code if right else None


def _addresses(mpi: Any) -> dict[str, int]:
    """Return the addresses of functions: those of a tool that listens come first."""
    libraries = [ctypes.CDLL(mpi.__file__)]
    if sys.platform != "win32":
        libraries.insert(0, ctypes.CDLL(None))
    found: dict[str, int] = {}
    for name in ("MPI_Irecv", "MPI_Isend", "MPI_Test", "MPI_Get_count", "sched_yield"):
        for library in libraries:
            if hasattr(library, name):
                address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
                found.setdefault(name, address or 0)
    return found


def _status_places(mpi: Any) -> tuple[int, int]:
    """Return where a status has the sender and the tag, in integers of 32 bits."""
    status = mpi.Status()
    status.Set_source(12345)
    status.Set_tag(23456)
    words = ctypes.string_at(mpi._addressof(status), mpi._sizeof(status))
    numbers = np.frombuffer(words, np.int32).tolist()
    return numbers.index(12345), numbers.index(23456)


def _build(mpi: Any) -> str:
    """Return the code of ``int64 adc_exchange(told, words)``: whether it has done all."""
    from llvmlite import ir

    i32, i64 = ir.IntType(32), ir.IntType(64)
    pointer, byte = i64.as_pointer(), ir.IntType(8).as_pointer()
    module = ir.Module("adc_messages")
    addresses = _addresses(mpi)
    nobody, none = ir.Constant(i32, mpi.PROC_NULL), i64(handle_of(mpi.REQUEST_NULL))
    zero = i32(0)

    def call(b: Any, name: str, *args: Any) -> Any:
        kind = ir.FunctionType(i32, [arg.type for arg in args])
        return b.call(b.inttoptr(i64(addresses[name]), kind.as_pointer()), args)

    def at(b: Any, words: Any, place: Any) -> Any:
        return b.gep(words, [i64(place) if isinstance(place, int) else place])

    def awaited() -> Any:
        """Write a function that waits for a request: it returns a code."""
        function = ir.Function(module, ir.FunctionType(i32, [pointer, byte]), "adc_await")
        function.linkage = "internal"
        request, status = function.args
        entry, loop = function.append_basic_block(), function.append_basic_block()
        b = ir.IRBuilder(entry)
        flag = b.alloca(i32)
        b.branch(loop)
        b.position_at_end(loop)
        tries = b.phi(i64)
        tries.add_incoming(i64(1), entry)
        code = call(b, "MPI_Test", request, flag, status)
        with b.if_then(b.icmp_signed("!=", code, zero), likely=False):
            b.ret(code)
        with b.if_then(b.icmp_signed("!=", b.load(flag), zero)):
            b.ret(zero)
        with b.if_then(b.icmp_signed("==", b.urem(tries, i64(_TRIES)), i64(0)), likely=False):
            if "sched_yield" in addresses:
                call(b, "sched_yield")
            with b.if_then(b.icmp_signed(">=", tries, i64(_TRIES * _ROUNDS)), likely=False):
                b.ret(i32(_LATE))
        tries.add_incoming(b.add(tries, i64(1)), b.block)
        b.branch(loop)
        return function

    wait = awaited()
    exchange = ir.Function(module, ir.FunctionType(i64, [pointer, pointer]), "adc_exchange")
    told, words = exchange.args
    b = ir.IRBuilder(exchange.append_basic_block())
    # A status is aligned, and as long as that of any library.
    status = b.bitcast(b.alloca(i64, i64(16)), byte)
    into_source, into_tag, into_size = b.alloca(i32), b.alloca(i32), b.alloca(i32)

    def fact(place: int) -> Any:
        return b.load(at(b, told, place))

    def number(name: str) -> Any:
        row = _NUMBERS + 2 * _NAMES.index(name)
        place = fact(row)
        passed, constant = at(b, words, place), at(b, told, row + 1)
        return b.load(b.select(b.icmp_signed(">=", place, i64(0)), passed, constant))

    table = b.inttoptr(number("number"), pointer)
    comm = b.load(at(b, table, number("way")))
    numbers = [number(name) for name in _NAMES[2:]]
    dest, sendtag, source, recvtag = (b.trunc(each, i32) for each in numbers)
    sent = at(b, words, fact(_SENT_AT))
    size, count = b.load(at(b, words, fact(_SIZE_AT))), b.load(sent)
    made = at(b, words, fact(_MADE_AT))
    into, width = b.load(made), fact(_MADE + 1)
    size_in_bytes = b.mul(size, width)
    for odd in (
        *(b.icmp_signed("!=", b.sext(b.trunc(each, i32), i64), each) for each in numbers),
        b.icmp_signed("!=", b.load(at(b, sent, 2)), fact(_SENT + 1)),
        b.icmp_signed(">=", count, i64(1 << 31)),
        b.icmp_signed(">=", size_in_bytes, i64(1 << 31)),
    ):
        with b.if_then(odd, likely=False):
            b.ret(i64(0))

    @contextlib.contextmanager
    def unless(same: Any, as_: Any) -> Iterator[None]:
        with b.if_then(b.icmp_signed("!=", same, as_)):
            yield

    def check(code: Any, stage: int) -> None:
        """Leave where a code is no success; where it is late, at this stage."""
        with b.if_then(b.icmp_signed("!=", code, zero), likely=False):
            late = b.icmp_signed("==", code, i32(_LATE))
            b.store(b.select(late, i64(stage), i64(FAILED)), at(b, table, STAGE))
            b.store(b.sext(code, i64), at(b, table, ERROR))
            b.ret(i64(0))

    receiving, sending = at(b, table, RECEIVING), at(b, table, SENDING)
    b.store(none, receiving)
    b.store(none, sending)
    b.store(into, at(b, table, INTO))
    b.store(source, into_source)
    b.store(recvtag, into_tag)
    with unless(source, nobody):
        few, place = b.trunc(size, i32), b.inttoptr(into, byte)
        check(call(b, "MPI_Irecv", place, few, fact(_MADE), source, recvtag, comm, receiving),
              BEGUN)  # fmt: skip
    with unless(dest, nobody):
        few, place = b.trunc(count, i32), b.inttoptr(b.load(at(b, sent, 1)), byte)
        check(call(b, "MPI_Isend", place, few, fact(_SENT), dest, sendtag, comm, sending), BEGUN)
    with b.if_then(b.icmp_signed("==", source, nobody)):  # while the message is on its way
        _zeros(ir, b, into, size_in_bytes)
    with unless(source, nobody):
        check(b.call(wait, [receiving, status]), BEGUN)
        call(b, "MPI_Get_count", status, i64(handle_of(mpi.BYTE)), into_size)
        told_by = b.bitcast(status, i32.as_pointer())
        for place, kept in zip(_status_places(mpi), (into_source, into_tag), strict=True):
            b.store(b.load(at(b, told_by, place)), kept)
        arrived = b.sext(b.load(into_size), i64)
        for value, place in (
            (b.sext(b.load(into_source), i64), SOURCE), (b.sext(b.load(into_tag), i64), TAG),
            (arrived, SIZE),
        ):  # fmt: skip
            b.store(value, at(b, table, place))
        with b.if_then(b.icmp_signed("!=", arrived, size_in_bytes), likely=False):
            b.store(i64(RECEIVED), at(b, table, STAGE))
            b.ret(i64(0))
    with unless(dest, nobody):
        check(b.call(wait, [sending, status]), RECEIVED)
    for k, value in enumerate((b.load(into_source), b.load(into_tag), zero), 1):
        place = b.inttoptr(b.load(at(b, made, k)), pointer)
        b.store(b.sext(value, i64), place)  # zero has the same bits as a float
    b.ret(i64(1))
    return str(module)


def _zeros(ir: Any, b: Any, address: Any, size: Any) -> None:
    """Write that memory is filled with zeros."""
    byte = ir.IntType(8).as_pointer()
    function = b.module.declare_intrinsic("llvm.memset", [byte, size.type])
    b.call(function, [b.inttoptr(address, byte), ir.IntType(8)(0), size, ir.IntType(1)(0)])


__all__ = [
    "BEGUN", "ERROR", "FAILED", "INTO", "RECEIVED", "RECEIVING", "SENDING", "SIZE", "SOURCE",
    "STAGE", "TAG", "WORDS", "Native", "handle_of", "machine_code", "memory", "request_of",
]  # fmt: skip
