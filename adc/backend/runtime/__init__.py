"""What compiled code needs while it runs: memory, tapes, the print log, interruption.

Every compiled function gets one array of integers, its *state* (see `state`), and reads and writes
it in place. The memory behind the workspace and the tapes comes from `PyMem_RawRealloc`, which
needs no lock of the interpreter; `memory` owns it. Where tapes are in files, they grow
by a Python function whose address is in the state (`adc.backend.runtime.offload`).

* `empty` takes an array from the workspace by moving a pointer up; what does not fit gets memory
  of its own, and the state notes how much would have been needed. `release` moves the pointer down
  again and frees what did not fit. `reuse` takes the memory of an array that is dead.
* `stacked` is a small array of known size on the stack, whose elements LLVM keeps in registers
  where it can.
* `fresh` makes an array that may outlive the call, `returned` one that does, in memory that was
  prepared for it if that has the right size.
* `lanes` are the partial sums of a loop on the stack, `total` combines them.
* `grow` makes a tape larger by half or more, `fit` as large as is needed; `tape` is its memory as
  an array.
* `note` appends a word to the log of effects, and `say` has Python carry out what is in it.
* `note_caller` notes in the state which call led to the check that failed, for the traceback.
* `external` calls a Python function outside of the program, or machine code for it (`outside`).
* `at_line`, `call_from` and `call_done` note in the state where a call is, for profiles.
* `poll` counts work down and looks for signals about every 50 ms. `enter` does so at the beginning
  of a function that calls itself, and looks whether the stack ends.

`adc.backend.cpu.expressions` writes most of them where they are called, by the functions in
`writing`; what is not inlined is in `helpers`. Other files have products of matrices (`gemm`),
routines of LAPACK (`routines`; `machine` writes them, `lapack` finds them), Fourier transforms
(`fourier`; `ducc` finds them), the functions of `scipy.special` (`special`), loops that threads
share (`threads`), and the test of a call's arrays (`layouts`).
"""

from __future__ import annotations

from typing import Any

from adc.backend.numba_api import intrinsic, signature, types
from adc.backend.runtime.helpers import I32, I64

# Names for readers and imports: `expressions` knows them and writes what they do, nothing runs
# their bodies.


def view(address: Any, dtype: Any, shape: Any) -> Any:
    """Return the array at an address, which belongs to somebody else."""
    raise NotImplementedError


def parallel_for(state: Any, part: Any, trips: Any, work: Any, *given: Any) -> None:
    """Run a loop: ``part(state, first, last, *given)`` runs some of its iterations."""
    raise NotImplementedError


def row_at(stack: Any, *index: Any) -> Any:
    """Return an array in an array, where it lies."""
    raise NotImplementedError


def part_of(state: Any, stack: Any, index: Any, sizes: Any) -> Any:
    """Return an array in an array, where it lies if it has these sizes; else a copy."""
    raise NotImplementedError


def fresh(dtype: Any, shape: Any) -> Any:
    """Return a new array that owns its memory."""
    raise NotImplementedError


def returned(state: Any, place: Any, dtype: Any, shape: Any) -> Any:
    """Return a new array in the memory prepared for a result, or one that owns its memory."""
    raise NotImplementedError


def empty(state: Any, dtype: Any, shape: Any) -> Any:
    """Return an array in the workspace, or where there is room for it until it is released."""
    raise NotImplementedError


def stacked(dtype: Any, shape: Any) -> Any:
    """Return an array on the stack, which is gone when the function returns."""
    raise NotImplementedError


def reuse(array: Any, dtype: Any, shape: Any) -> Any:
    """Return an array in the memory of another one of as many elements, which is dead."""
    raise NotImplementedError


def slot(state: Any, dtype: Any, *shapes: Any) -> Any:
    """Return memory in the workspace for an array of any of these shapes, for `reuse`."""
    raise NotImplementedError


def release(state: Any, mark: Any) -> None:
    """Release the arrays that `empty` made since the workspace was filled up to `mark`."""
    raise NotImplementedError


def lanes(dtype: Any, used: Any) -> Any:
    """Return partial sums on the stack, of which the first `used` will be combined."""
    raise NotImplementedError


def total(partial: Any, used: Any) -> Any:
    """Return the sum of the first `used` of `lanes`."""
    raise NotImplementedError


def total_down(partial: Any, used: Any) -> Any:
    """Return what `total` does; few lanes are added from the last to the first."""
    raise NotImplementedError


def tape(state: Any, place: Any, dtype: Any) -> Any:
    """Return the memory of a tape as an array."""
    raise NotImplementedError


def grow(state: Any, place: Any, need: Any, dtype: Any) -> Any:
    """Return the memory of a tape, enlarged to `need` elements or more."""
    raise NotImplementedError


def fit(state: Any, place: Any, need: Any, dtype: Any) -> Any:
    """Return the memory of a tape, enlarged to `need` elements."""
    raise NotImplementedError


def note(state: Any, word: Any) -> None:
    """Append a word to the print log."""
    raise NotImplementedError


def say(state: Any) -> bool:
    """Carry out the effects in the log; True if the call is to be given up for an exception."""
    raise NotImplementedError


def external(state: Any, number: Any, given: Any, made: Any) -> bool:
    """Let a Python function outside fill arrays; True if it has raised an exception."""
    raise NotImplementedError


def heard(state: Any) -> float:
    """Return what the effect carried out last has found."""
    raise NotImplementedError


def heard_integer(state: Any) -> int:
    """Return the integer that the effect carried out last has found."""
    raise NotImplementedError


def enter(state: Any) -> bool:
    """Begin a call of a recursion; True if it is to be given up: the stack ends, or a signal."""
    raise NotImplementedError


def poll(state: Any, work: Any) -> bool:
    """Count `work` down; True if the call is to be given up because of a signal."""
    raise NotImplementedError


def note_caller(state: Any, site: Any) -> None:
    """Note that a call, known by the number of its site, led to the check that failed."""
    raise NotImplementedError


def at_line(state: Any, place: Any, mark: Any) -> None:
    """Note in a place of the state what runs from now on."""
    raise NotImplementedError


def call_from(state: Any, place: Any, mark: Any) -> None:
    """Note that a function is called from there: in the next of some places behind this one."""
    raise NotImplementedError


def call_done(state: Any, place: Any) -> None:
    """Note that the function has returned."""
    raise NotImplementedError


@intrinsic
def bits(typingctx: Any, value: Any) -> Any:
    """Return a scalar as a word of the state or the log: the bits of a float, any other's value."""
    value = types.unliteral(value)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if value == types.float64:
            return builder.bitcast(args[0], I64)
        if value == types.float32:
            return builder.zext(builder.bitcast(args[0], I32), I64)
        return context.cast(builder, args[0], value, types.int64)

    return signature(types.int64, value), codegen


def copy_into(target: Any, source: Any) -> None:
    """Copy the elements of an array into a contiguous one of the same shape."""
    raise NotImplementedError


def fill(target: Any, value: Any) -> None:
    """Set every element of a contiguous array."""
    raise NotImplementedError
