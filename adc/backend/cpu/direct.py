"""Compiled code called at its address, by code that a user compiles with Numba.

That takes some nanoseconds, needs no interpreter, and so runs in many threads at once. It is for
code that keeps nothing between calls: no workspace, no tapes, and no look for signals. If a check
fails, the caller calls the function through the interpreter, which raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.extending import intrinsic

from adc.backend.numba_api import array_of_words, cgutils, types
from adc.backend.runtime.state import State

if TYPE_CHECKING:
    from adc.backend.cpu import Kernel

_STATES = types.Array(types.int64, 1, "C")
_WORD = ir.IntType(64)


def keeps_nothing(kernel: Kernel) -> bool:
    """Whether code can be called with a state that is made for each call."""
    emitted = kernel.emitted
    prints = any(not site.error for site in emitted.sites)
    return emitted.bare and not prints and not emitted.tables and kernel.threads == 1


def caller(kernel: Kernel) -> tuple[Sequence[Any], Callable[..., Any]]:
    """Return the types of a kernel's arguments, and what calls it in compiled code.

    That returns whether a check has failed, and the results.
    """
    (made,) = kernel.code.overloads.values()
    address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
    _, *given = made.signature.args
    result = made.signature.return_type
    words = State.OPERANDS + kernel.operands
    size = words + 2 * len(kernel.emitted.returned)

    def emit(context: Any, b: Any, signature: Any, args: Any) -> Any:
        place = cgutils.alloca_once(b, ir.ArrayType(_WORD, size))
        cgutils.memset(b, place, ir.Constant(_WORD, 8 * size), 0)
        first = b.bitcast(place, _WORD.as_pointer())
        # Nothing is prepared for results: they own their memory.
        table = b.ptrtoint(b.gep(first, [ir.Constant(_WORD, words)]), _WORD)
        b.store(table, b.gep(first, [ir.Constant(_WORD, State.RESULTS)]))
        state = array_of_words(context, b, first, size)
        convention = context.call_conv
        kind = convention.get_function_type(result, [_STATES, *given])
        where = context.add_dynamic_addr(b, address, info=made.fndesc.llvm_func_name)
        values = [state, *cgutils.unpack_tuple(b, args[0], len(given))]
        status, found = convention.call_function(
            b, b.bitcast(where, kind.as_pointer()), result, [_STATES, *given], values
        )
        with cgutils.if_unlikely(b, status.is_error):
            convention.return_status_propagate(b, status)
        failed = b.icmp_signed("!=", b.load(first), ir.Constant(_WORD, 0))
        return context.make_tuple(b, signature.return_type, [failed, found])

    @intrinsic
    def call(typing: Any, args: Any) -> Any:
        return types.Tuple([types.boolean, result])(args), emit

    return given, call


__all__ = ["caller", "keeps_nothing"]
