"""The pipeline, as literal tuples, and how it runs: verified, blamed, timed."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from adc.ir.analysis.costs import SHIPPED, Costs
from adc.ir.analysis.sizes.extents import Known
from adc.ir.analysis.target import CPU, Target
from adc.ir.core import Function
from adc.ir.errors import AdcError, IRError
from adc.ir.verifier import problems
from adc.passes.ad.accumulate import accumulate
from adc.passes.loops.chosen import chosen
from adc.passes.loops.contract import contract
from adc.passes.loops.exchange import exchange
from adc.passes.loops.fuse import fuse, fuse_again
from adc.passes.loops.gather import gather
from adc.passes.loops.local import local
from adc.passes.loops.overwrite import overwrite
from adc.passes.loops.private import private
from adc.passes.loops.reduce import reduce
from adc.passes.loops.scalars import scalars
from adc.passes.loops.skip import skip
from adc.passes.memory.coalesce import coalesce
from adc.passes.memory.in_place import in_place
from adc.passes.memory.lift import lift
from adc.passes.memory.reuse import reuse
from adc.passes.scalar.bounds import bounds
from adc.passes.scalar.calls import calls
from adc.passes.scalar.cse import cse
from adc.passes.scalar.dce import dce
from adc.passes.scalar.guard import guard
from adc.passes.scalar.hoist import hoist
from adc.passes.scalar.induction import induction
from adc.passes.scalar.inline import inline
from adc.passes.scalar.once import once
from adc.passes.scalar.predicates import predicates
from adc.passes.scalar.recalled import recalled
from adc.passes.scalar.relax import relax
from adc.passes.scalar.simplify import simplify
from adc.passes.scalar.unswitch import unswitch
from adc.passes.target.apart import apart
from adc.passes.target.fission import fission
from adc.passes.target.frames import frames
from adc.passes.target.increments import increments
from adc.passes.target.kernels import kernels
from adc.passes.target.ordered import ordered
from adc.passes.target.registers import registers
from adc.passes.target.rows import rows
from adc.passes.target.whole import whole

Pass = tuple[str, Callable[[Function], Function]]

PRIMAL: tuple[Pass, ...] = (
    ("simplify", simplify),
    ("cse", cse),
    ("induction", induction),
    ("bounds", bounds),
    ("hoist", hoist),
    ("private", private),
    ("guard", guard),
    ("cse", cse),
    ("dce", dce),
    ("scalars", scalars),
    ("fuse", fuse),
    ("contract", contract),
    ("cse", cse),
    ("dce", dce),
    ("fuse", fuse_again),
    ("contract", contract),
    ("dce", dce),
    ("exchange", exchange),
)
# After `adjoint` and `tangent`.
DERIVATIVE: tuple[Pass, ...] = (
    ("simplify", simplify),
    ("recalled", recalled),
    ("cse", cse),
    ("hoist", hoist),
    ("accumulate", accumulate),
    ("reduce", reduce),
    ("dce", dce),
    ("overwrite", overwrite),
    ("gather", gather),
)
# After the last of them: derivatives of products that may be relaxed are others.
LAST: tuple[Pass, ...] = (("relax", relax), *DERIVATIVE)
# Before `remat`, when no step follows.
JOINED: tuple[Pass, ...] = (
    ("local", local),
    ("relax", relax),
    ("predicates", predicates),
    ("chosen", chosen),
    ("skip", skip),
    ("cse", cse),
    ("dce", dce),
)


def cleanup(
    target: Target = CPU, costs: Costs = SHIPPED, known: Known | None = None
) -> tuple[Pass, ...]:
    """Return the passes on code without Recalls, for a target whose machine has these costs.

    In plans for known sizes, what a function holds is given back when it returns. For a device,
    `whole` replaces calls.
    """
    apart = target.cuda or bool(known)
    return (
        *(() if apart else (("calls", calls),)),
        ("simplify", simplify),
        ("cse", cse),
        *(() if apart else (("scalars", scalars), ("dce", dce))),
        *(() if apart else (("hoist", hoist),)),
        ("fuse", fuse),
        ("contract", contract),
        ("dce", dce),
        ("inline", functools.partial(inline, costs=costs)),
        ("cse", cse),
        ("fuse", fuse),
        ("contract", contract),
        ("dce", dce),
        ("unswitch", unswitch),
        ("once", once),
        ("simplify", simplify),
    )


# After `remat`, or on code that has no reverse part.
CLEANUP = cleanup()


def buffers(known: Known | None = None, threads: Pass | None = None) -> tuple[Pass, ...]:
    """Return the passes after `storage`, for sizes of arguments; one of them marks loops.

    Plans for known sizes are held to the byte: they have no blocks of terms, and arrays that loops
    hand on are let go of where the loops end, as no buffer in the workspace is.
    """
    return (
        ("rows", rows),
        *((threads,) if threads else ()),
        *(() if known else (("ordered", ordered),)),
        ("registers", registers),
        *(() if known else (("coalesce", coalesce),)),
        ("lift", lift),
        ("reuse", functools.partial(reuse, known=known)),
        ("apart", apart),
        ("in_place", in_place),
    )


BUFFERS = buffers()


def device(target: Target = CPU) -> tuple[Pass, ...]:
    """Return the passes after `storage` for a device with many threads."""
    exactly = target.deterministic
    return (
        ("rows", rows),
        ("increments", increments),
        ("whole", functools.partial(whole, deterministic=exactly)),
        ("coalesce", coalesce),
        ("lift", lift),
        ("reuse", reuse),
        ("frames", frames),
        ("fission", functools.partial(fission, deterministic=exactly)),
        ("kernels", functools.partial(kernels, deterministic=exactly)),
    )


DEVICE = device()


@dataclass
class Trace:
    """What `run` saw: the function after every pass, and the seconds each took."""

    stages: list[tuple[str, Function]] = field(default_factory=list)
    seconds: list[tuple[str, float]] = field(default_factory=list)

    def copy(self) -> Trace:
        """Return a trace that may go on in another way."""
        return Trace(list(self.stages), list(self.seconds))

    def after(self, name: str) -> Function:
        """Return the function as the last run of the named pass left it; KeyError if none did."""
        for stage, fn in reversed(self.stages):
            if stage == name:
                return fn
        raise KeyError(name)


# Whether the result of every pass is verified, rather than that of the last one in a row. Tests set
# it: verifying 30 times takes a third of the time of the passes.
VERIFY_EACH = False


def run(
    fn: Function, passes: tuple[Pass, ...], trace: Trace | None = None, *, verify: bool = True
) -> Function:
    """Apply passes in order and verify the result, if it is to be used.

    Raises
    ------
    IRError
        Naming the pass that broke the IR, or that failed.
    """
    try:
        return _run(fn, passes, trace, VERIFY_EACH, verify)
    except IRError:
        if not VERIFY_EACH:
            _run(fn, passes, None, True, True)  # raises where the defect arose
        raise


def _run(
    fn: Function, passes: tuple[Pass, ...], trace: Trace | None, each: bool, last: bool
) -> Function:
    verified: Function | None = None
    for k, (name, apply) in enumerate(passes):
        start = time.perf_counter()
        try:
            fn = apply(fn)
        except AdcError:
            raise
        except Exception as error:
            raise IRError(f"pass {name!r} failed on {fn.name}: {error!r}") from error
        if each or (last and k == len(passes) - 1):
            # Half of all passes find nothing to do, and comparing is much faster than verifying.
            found = [] if fn == verified else problems(fn)
            verified = fn
            if found:
                text = "\n  ".join(found)
                raise IRError(f"pass {name!r} broke {fn.name}:\n  {text}\n{fn}")
        if trace is not None:
            trace.seconds.append((name, time.perf_counter() - start))
            trace.stages.append((name, fn))
    return fn
