"""Communication between the ranks of an MPI program: methods of mpi4py's communicators.

A communicator is bound to an array of one float, and integers (`core.parameters`). A communication
is ordinary code (`library.mpi.methods`), which reads that float and stores another one: as draws of
a random generator, communications are in the order of the program everywhere.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Sequence
from typing import Any

from adc.frontend.core import dispatch
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    Bound,
    DictRef,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    Static,
    TupleOf,
    is_communicator,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.outside import opened
from adc.frontend.core.structure import with_children
from adc.frontend.syntax.source import Source
from adc.frontend.values import arguments, structures
from adc.frontend.values.arguments import is_none
from adc.ir.builder import integer
from adc.ir.core import Operand, Stmt, Value
from adc.ir.errors import TypeMismatchError
from adc.ir.types import Scalar
from adc.ir.walk import substitute_stmt
from adc.library.mpi import methods, operations

# The parameters of the methods, as mpi4py names them.
_OBJECTS = {
    "allreduce": "sendobj op?", "reduce": "sendobj op? root?", "bcast": "obj root?",
    "gather": "sendobj root?", "allgather": "sendobj", "scatter": "sendobj root?",
    "alltoall": "sendobj", "barrier": "",
}  # fmt: skip
_BUFFERS = {
    "Allreduce": "sendbuf recvbuf op?", "Reduce": "sendbuf recvbuf op? root?", "Bcast": "buf root?",
    "Gather": "sendbuf recvbuf root?", "Allgather": "sendbuf recvbuf",
    "Scatter": "sendbuf recvbuf root?", "Alltoall": "sendbuf recvbuf",
    "Send": "buf dest tag?", "Isend": "buf dest tag?", "Recv": "buf source? tag? status?",
    "Irecv": "buf source? tag?",
    "Sendrecv": "sendbuf dest sendtag? recvbuf? source? recvtag? status?",
}  # fmt: skip
_ALIASES = {"Barrier": "barrier", "Ssend": "Send", "Issend": "Isend"}
METHODS = sorted({*_OBJECTS, *_BUFFERS, *_ALIASES, "Get_rank", "Get_size"})
_WITHOUT_TYPE = ("send", "recv", "isend", "irecv", "sendrecv", "ssend", "issend")


def method(
    lo: Lowerer, bound: Bound, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of a method of a communicator."""
    assert isinstance(bound.owner, NamedTuple)
    record = bound.owner.record
    name = _ALIASES.get(bound.name, bound.name)
    if name in ("Get_rank", "Get_size"):
        arguments.match(lo, "", args, kwargs, node)
        return record.items[record.keys.index(name.removeprefix("Get_"))]
    spec = _OBJECTS.get(name, _BUFFERS.get(name))
    if spec is None:
        raise _refused(lo, name, node)
    given = arguments.match(lo, spec, args, kwargs, node)
    mpi: Any = sys.modules["mpi4py.MPI"]
    if not is_none(given.pop("status", NONE)):
        raise lo.unsupported(
            f"the argument 'status' of `{name}`", node, "send the sizes and tags as numbers"
        )
    for key in given:
        if name in _BUFFERS and key in ("buf", "sendbuf", "recvbuf"):
            given[key] = _buffer(lo, given[key], f"{name}()", mpi, node)
    if "op" in spec:
        given["op"] = Static(_op(lo, given.get("op"), name, mpi, node))
    if name in ("Recv", "Irecv"):
        given.setdefault("source", lo.num(mpi.ANY_SOURCE))
        given.setdefault("tag", lo.num(mpi.ANY_TAG))
    if name in ("Send", "Recv"):
        given["nobody"] = lo.num(mpi.PROC_NULL)
    if name == "Sendrecv":
        if "recvbuf" not in given:
            raise lo.unsupported("`Sendrecv` without `recvbuf`", node, "use `Send`")
        given.setdefault("sendtag", lo.num(0))
        given.setdefault("source", lo.num(mpi.ANY_SOURCE))
        given.setdefault("recvtag", lo.num(mpi.ANY_TAG))
    fn = getattr(methods, name)
    start: list[Binding] = [_comm(bound.owner), _site(lo, node)]
    if name == "bcast":
        return _each(lo, fn, start, given.pop("obj"), given, node)
    return dispatch.apply(lo, Static(fn), start, given, node)


def of_functions(
    lo: Lowerer, value: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of `MPI.Request.Waitall`, or of `adc.distributed.shared`; None if it is none."""
    if value is operations.shared:
        given = arguments.match(lo, "tree comm", args, kwargs, node)
        owner = given.pop("comm")
        if not (isinstance(owner, NamedTuple) and is_communicator(owner)):
            raise TypeMismatchError(
                f"shared() takes a communicator of mpi4py, and not {kind_of(owner)}", lo.span(node)
            )
        start: list[Binding] = [_comm(owner), _site(lo, node)]
        return _each(lo, methods.shared, start, given["tree"], {}, node)
    found = getattr(value, "__self__", None)
    if getattr(found, "__module__", "") != "mpi4py.MPI":
        return None
    name = str(getattr(value, "__name__", ""))
    if name not in ("Waitall", "waitall"):
        return None
    given = arguments.match(lo, "requests statuses?", args, kwargs, node)
    if not is_none(given.pop("statuses", NONE)):
        raise lo.unsupported("the argument 'statuses' of `Waitall`", node, "leave it out")
    return dispatch.apply(lo, Static(methods.Waitall), [given["requests"]], {}, node)


def used(lo: Lowerer) -> list[NamedTuple]:
    """Return the communicators from outside through which the program communicates."""
    return [
        found
        for obj, (found, _) in lo.communicators.items()
        if obj in lo.stale or lo.versions.get(obj, lo.origin[obj]) is not lo.origin[obj]
    ]


def begun(
    lo: Lowerer, found: Sequence[NamedTuple], body: Sequence[Stmt], source: Source
) -> tuple[Stmt, ...]:
    """Return the statements of a program that communicates, with its beginning.

    From there on derivatives flow through the order: reverse code of branches, loops and calls in
    which there is no other derivative still communicates.
    """
    node = ast.copy_location(ast.Call(ast.Name("f", ast.Load()), [], []), source.node)
    env: dict[Value, Operand] = {}
    with lo.builder.block() as stmts:
        for each in found:
            order = each.record.items[0]
            assert isinstance(order, ArrayRef)
            first = lo.origin[order.object]
            now = Num(lo.builder.load(first, [integer(0)]))
            after = dispatch.apply(lo, Static(operations.begin), [now], {}, node)
            assert isinstance(after, Num)
            env[first] = lo.builder.store(first, [integer(0)], after.operand)
    return (*stmts, *(substitute_stmt(stmt, env) for stmt in body))


def finished(
    lo: Lowerer, used: Sequence[NamedTuple], operands: tuple[Operand, ...], source: Source
) -> tuple[Operand, ...]:
    """End a program that communicates: return its results, of which a loss is one number."""
    node = ast.copy_location(ast.Call(ast.Name("f", ast.Load()), [], []), source.node)
    lo.builder.loc = source.span(source.node)
    site = _site(lo, node)
    numbers = [each.record.items[each.record.keys.index("number")] for each in used]
    if operands and isinstance(operands[0].type, Scalar) and operands[0].type.kind == "f":
        rank = used[0].record.items[2]
        widest: list[Binding] = [numbers[0], rank]
        if len(used) > 1:
            found = dispatch.apply(
                lo, Static(operations.widest), [site, TupleOf(tuple(numbers))], {}, node
            )
            assert isinstance(found, TupleOf)
            widest = list(found.items)
        loss = dispatch.apply(
            lo,
            Static(operations.one_loss),
            [widest[0], site, widest[1], Num(operands[0])],
            {},
            node,
        )
        assert isinstance(loss, Num)
        operands = (lo.convert(loss.operand, operands[0].type), *operands[1:])
    for number, each in zip(numbers, used, strict=True):
        order = each.record.items[0]
        assert isinstance(order, ArrayRef)
        now = Num(lo.builder.load(lo.version(order.object, node), [integer(0)]))
        dispatch.apply(lo, Static(operations.finish), [number, site, now], {}, node)
    return operands


def _comm(owner: NamedTuple) -> TupleOf:
    return TupleOf(owner.record.items)


def _each(
    lo: Lowerer, fn: Any, start: list[Binding], tree: Binding, given: dict[str, Binding],
    node: ast.Call,
) -> Binding:  # fmt: skip
    """Apply a method to all numbers and arrays in an object."""

    def applied(each: Binding) -> Binding:
        return _each(lo, fn, start, each, given, node)

    match opened(lo, tree):
        case (TupleOf() | NamedTuple()) as found:
            return with_children(found, applied)
        case ListRef() as found if isinstance(held := lo.held(found), TupleOf):
            return structures.new_ref(lo, found, with_children(held, applied))
        case (DictRef() | ObjectRef()) as found:
            return structures.new_ref(lo, found, with_children(lo.record(found), applied))
        case Num() | ArrayRef() | Lazy() as found:
            return dispatch.apply(lo, Static(fn), [*start, found], given, node)
        case Static() as found:
            return found
    raise lo.unsupported(f"{kind_of(tree)} in `{fn.__name__}`", node, "pass numbers and arrays")


def _site(lo: Lowerer, node: ast.AST) -> Static:
    """Return the line of a call, for errors on other ranks."""
    span = lo.span(node)
    if span is None:
        return Static("adc")
    return Static(f"{os.path.basename(span.file)}, line {span.line}")


def _buffer(lo: Lowerer, binding: Binding, what: str, mpi: Any, node: ast.Call) -> Binding:
    """Return the array that an argument says is a buffer, as ``[array, MPI.DOUBLE]`` does."""
    binding = opened(lo, binding)
    items: tuple[Binding, ...] = ()
    if isinstance(binding, ListRef):
        items = lo.contents(binding)
    elif isinstance(binding, TupleOf):
        items = binding.items
    if len(items) == 2 and isinstance(items[1], Static | Num):
        kind = items[1].value if isinstance(items[1], Static) else None
        if isinstance(kind, mpi.Datatype):
            binding = opened(lo, items[0])
    if isinstance(binding, Static) and binding.value is mpi.IN_PLACE:
        return NONE
    if isinstance(binding, ArrayRef | Lazy) or is_none(binding):
        return binding
    raise lo.unsupported(
        f"{kind_of(binding)} as a buffer of {what}", node, "pass an array, or `[array, MPI.DOUBLE]`"
    )


def _op(lo: Lowerer, binding: Binding | None, name: str, mpi: Any, node: ast.Call) -> str:
    """Return the name of the operation of a reduction."""
    if binding is None:
        return "sum"
    if isinstance(binding, Static):
        for word in ("SUM", "MAX", "MIN", "PROD", "LAND", "LOR"):
            if isinstance(binding.value, mpi.Op) and binding.value == getattr(mpi, word):
                return word.lower()
    raise lo.unsupported(
        f"this operation of `{name}`", node, "use MPI.SUM, MAX, MIN, PROD, LAND or LOR"
    )


def _refused(lo: Lowerer, name: str, node: ast.Call) -> Exception:
    hint = f"call it outside of the function; adc has {', '.join(METHODS)}"
    if name in _WITHOUT_TYPE:
        hint = f"use `{name.capitalize()}`, with an array: the type of what comes is then known"
    return lo.unsupported(f"`{name}` of a communicator", node, hint)


__all__ = ["METHODS", "begun", "finished", "method", "of_functions", "used"]
