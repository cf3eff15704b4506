"""The pipeline: for each target a table of every stage that runs, and the reason for its place.

A row has the name of its pass, the pass, the reason for its place and, unless it always runs, its
condition. `adc passes` prints the table, `adc passes f` also what each row did to `f`. The driver
runs the table (`Table`) from top to bottom, and nothing else.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from adc.ir.analysis.target import Target
from adc.ir.core import Derived, Function
from adc.passes.ad.accumulate import accumulate
from adc.passes.ad.adjoint import adjoint
from adc.passes.ad.dependence import dependence
from adc.passes.ad.derive import Through, derive, expand, link
from adc.passes.ad.directions import DirectionsError, directions
from adc.passes.ad.reverse_arguments import reverse_arguments
from adc.passes.ad.settle import settle
from adc.passes.ad.shared_states import shared_states
from adc.passes.ad.tangent import tangent
from adc.passes.loops.chosen import chosen
from adc.passes.loops.contract import contract
from adc.passes.loops.counted import counted
from adc.passes.loops.distribute import distribute
from adc.passes.loops.exchange import exchange
from adc.passes.loops.fuse import fuse, fuse_again
from adc.passes.loops.fuse_reverse import fuse_reverse
from adc.passes.loops.gather import gather
from adc.passes.loops.interchange import interchange
from adc.passes.loops.overwrite import overwrite
from adc.passes.loops.privatize import privatize
from adc.passes.loops.privatize_reductions import privatize_reductions
from adc.passes.loops.products import products
from adc.passes.loops.reduce import reduce
from adc.passes.loops.scalars import scalars
from adc.passes.loops.skip import skip
from adc.passes.memory import storage
from adc.passes.memory.coalesce import coalesce
from adc.passes.memory.hoist_allocations import hoist_allocations
from adc.passes.memory.in_place import in_place
from adc.passes.memory.peak.formula import formula
from adc.passes.memory.reserve import reserve
from adc.passes.memory.reuse import reuse
from adc.passes.memory.supply import supply
from adc.passes.numbers.split_complex import in_parts, split_complex
from adc.passes.numbers.widen_half import widen_half, widened
from adc.passes.remat.facts import NO_ORDERS
from adc.passes.remat.plan import COPIED, PlanEntry
from adc.passes.remat.remat import rematerialize
from adc.passes.remat.rerun import rerun
from adc.passes.remat.rerun_calls import recomputable, rerun_calls
from adc.passes.remat.schedules import schedules
from adc.passes.scalar.bounds import bounds
from adc.passes.scalar.calls import calls
from adc.passes.scalar.cse import cse
from adc.passes.scalar.dce import dce
from adc.passes.scalar.hoist import hoist
from adc.passes.scalar.hoist_checks import hoist_checks
from adc.passes.scalar.induction import induction
from adc.passes.scalar.inline import inline
from adc.passes.scalar.once import once
from adc.passes.scalar.predicates import predicates
from adc.passes.scalar.recalled import recalled
from adc.passes.scalar.relax import relax
from adc.passes.scalar.signatures import signatures
from adc.passes.scalar.simplify import simplify
from adc.passes.scalar.unswitch import unswitch
from adc.passes.stages import Context, Given, Remarks, Stage, When, run
from adc.passes.target.accumulate_in_place import accumulate_in_place
from adc.passes.target.elide_copies import elide_copies
from adc.passes.target.expand_tape import expand_tape
from adc.passes.target.fission import fission
from adc.passes.target.kernels import kernels
from adc.passes.target.math_in_blocks import math_in_blocks
from adc.passes.target.outline_kernels import outline_kernels
from adc.passes.target.parallel import parallel
from adc.passes.target.scalar_replacement import scalar_replacement
from adc.passes.target.strip_mine import strip_mine
from adc.passes.target.vectorizable import vectorizable

# -- conditions ------------------------------------------------------------------------------------


def _mode(text: str, *modes: str) -> When:
    return When(text, lambda context, fn: context.mode in modes)


GRADIENT = _mode("reverse mode of one number", "adjoint", "gradient")
PULLBACK = _mode("reverse mode of any results", "pullback")
TANGENT = _mode("forward mode", "tangent")
PATTERN = _mode("the pattern of a Jacobian", "dependence")
PLAIN = When("without derivatives", lambda context, fn: context.plain)
LAST = When("after the last transformation", lambda context, fn: context.is_last)
JACOBIAN = When("Jacobians", lambda context, fn: context.directions > 0)
REVERSE = When("reverse code", lambda context, fn: context.reverses(fn))
DERIVED = When("code that calls derivatives", lambda context, fn: bool(fn.derived))
PLAIN_HOST = When(
    "on a CPU, without derivatives",
    lambda context, fn: context.plain and not context.target.cuda,
)
THREADS = When("parallel=", lambda context, fn: context.target.parallel)
# They may make arrays live longer.
FREE = When(
    "without memory=, or where it allows that",
    lambda context, fn: not context.known or context.orders.free,
)

# -- arguments of stages ---------------------------------------------------------------------------


def _through(context: Context) -> Given:
    return {"through": THROUGH}


def _linked(context: Context) -> Given:
    own = replace(context, known={}, orders=NO_ORDERS, steps=(("adjoint", ()),), called=True)
    # `remat` is verified by proofs of its own.
    finish = functools.partial(run, stages=CALLED, context=own, verify=False)
    return {"through": THROUGH, "finish": finish}


def _gradient(context: Context) -> Given:
    return {"wrt": context.wrt, "value": context.mode == "adjoint"}


def _pullback(context: Context) -> Given:
    return {"wrt": context.wrt, "seed": False}


def _all(context: Context) -> Given:
    return {"context": context}


def _exactly(context: Context) -> Given:
    return {"deterministic": context.target.deterministic}


def _priced(context: Context) -> Given:
    return {"costs": context.costs}


def _sized(context: Context) -> Given:
    return {"known": context.known or None}


def _widened(fn: Function, context: Context) -> Function:
    """Return `fn` for several directions at once; unchanged where that is impossible."""
    with contextlib.suppress(DirectionsError):  # then the directions run one at a time
        return directions(fn, range(context.own, len(fn.params)), context.directions)
    return fn


def _rerun(fn: Function, context: Context) -> Function:
    return rerun(fn, context.costs, offload=context.target.offload)


def calls_to_recompute(fn: Function) -> tuple[tuple[str, str], ...]:
    """Return the calls that a plan may recompute as a whole, the first ones first."""
    return tuple(recomputable(fn))


def shares_states(fn: Function) -> bool:
    """Whether reverse iterations can hand states on: a plan may recall them apart instead."""
    return shared_states(fn) is not fn


def _remat(fn: Function, context: Context) -> Function:
    done = rematerialize(
        fn,
        context.policy,
        context.costs,
        context.orders,
        context.known,
        offload=context.target.offload,
        checked=context.checked,
    )
    # Names of values are local to each derivative that the code calls.
    own = f"{fn.name}: " if context.called else ""
    remarks = context.remarks
    remarks.entries += (replace(each, value=f"{own}{each.value}") for each in done.plan.entries)
    if not context.called:
        remarks.held = formula(fn, done.held)
    return done.fn


def _storage(fn: Function, remarks: Remarks) -> Function:
    done = storage.plan(fn)
    remarks.copies += (
        PlanEntry.at(copy.loc, copy.value, COPIED, "the array", copy.reason) for copy in done.copies
    )
    return done.function


# -- the tables ------------------------------------------------------------------------------------

EXCHANGE = (
    ("merge", (
        Stage("fuse", fuse, "before `interchange`: nests are compared when they are fused"),
        Stage("contract", contract, "before `interchange`: temporary arrays would forbid it"),
        Stage("dce", dce, "before `interchange`: dead stores would forbid it"),
    )),
    ("move", (
        Stage("interchange", interchange, "before `distribute`: it orders whole nests"),
        Stage("distribute", distribute, "after `interchange`: the loops that are still strided"),
    )),
    ("tidy", (
        Stage("fuse", fuse, "after `distribute`, if a loop moved: loops that became adjacent"),
        Stage("contract", contract, "after `fuse`: arrays local to an iteration"),
        Stage("cse", cse, "after `contract`: loads were replaced by the stored values"),
        Stage("dce", dce, "after `contract`: arrays without readers"),
    )),
)  # fmt: skip
# The input of the pipeline: the driver has it from the front end.
FRONTEND = Stage(
    "frontend", lambda fn: fn, "first: every pass works on code for the types of the arguments",
    of="Lower Python to value form.",
)  # fmt: skip
# Before the first transformation.
PRIMAL: tuple[Stage, ...] = (
    Stage("settle", settle, "before `expand`: code without derivatives needs no rules", PLAIN),
    Stage(
        "split_complex", split_complex,
        "first: every other pass knows real numbers only, and so do derivative rules",
    ),
    Stage(
        "widen_half", widen_half,
        "after `split_complex`: no other pass knows numbers of 16 bits, and no derivative rule",
    ),
    Stage(
        "expand", expand, "before `adjoint`: nested derivatives are differentiated as code",
        DERIVED, _through,
    ),
    Stage("simplify", simplify, "early: folded constants and branches leave less code"),
    Stage("cse", cse, "before `induction`: equal increments get one name"),
    Stage("counted", counted, "before `reserve`: it needs to know how often iterations append"),
    Stage("reserve", reserve, "before `induction`: it reads how many elements iterations append"),
    Stage("induction", induction, "before `bounds`: it proves indices in terms of loop counters"),
    Stage("bounds", bounds, "before `hoist`: a check that is proven need not be moved"),
    Stage("hoist", hoist, "before `fuse`: loop-invariant code no longer separates loops"),
    Stage("privatize", privatize, "before `fuse`: a loop-carried scratch array forbids fusion"),
    Stage("hoist_checks", hoist_checks, "after `bounds`: only unproven checks are left"),
    Stage("cse", cse, "after `hoist_checks`: the tests before loops share operands"),
    Stage("dce", dce, "before `scalars`: a dead use would keep an array in memory"),
    Stage(
        "products", products, "before `fuse`: products are loops of their own; before `remat`",
        given=lambda context: {"blocks": not context.target.cuda},
    ),
    Stage("scalars", scalars, "before `fuse`: arrays that became scalars need no loops"),
    Stage("fuse", fuse, "before `contract`: store and load are then in one iteration"),
    Stage("contract", contract, "before `adjoint`: each array that is left has a cotangent"),
    Stage("cse", cse, "after `contract`: loads were replaced by the stored values"),
    Stage("dce", dce, "after `contract`: arrays without readers"),
    Stage("fuse", fuse_again, "after `contract`: the arrays that separated loops are gone"),
    Stage("contract", contract, "after `fuse`: arrays that are now local to an iteration"),
    Stage("dce", dce, "after `contract`: arrays without readers"),
    Stage(
        "exchange", exchange, "before `adjoint`: reverse code mirrors the loops by name",
        parts=EXCHANGE,
    ),
    Stage(
        "privatize_reductions", privatize_reductions,
        "before `remat`: no plan changes the order of sums", THREADS,
    ),
)  # fmt: skip
# One of these for each transformation, then `DERIVATIVE`.
TRANSFORMATION: tuple[Stage, ...] = (
    Stage(
        "adjoint", adjoint, "after `contract`: fused values are scalars, which cost less to recall",
        GRADIENT, _gradient,
    ),
    Stage(
        "pullback", adjoint, "in place of `adjoint`: the cotangents of results are parameters",
        PULLBACK, _pullback,
    ),
    Stage(
        "tangent", tangent, "before `remat`: tangents of reverse code recall values, too", TANGENT,
        lambda context: {"wrt": context.wrt},
    ),
    Stage(
        "dependence", dependence, "in place of `tangent`: marks of what depends on what", PATTERN,
        lambda context: {"wrt": context.wrt},
    ),
)  # fmt: skip
DERIVATIVE: tuple[Stage, ...] = (
    Stage(
        "relax", relax, "before `simplify`: plain products simplify; their derivatives differ", LAST
    ),
    Stage("simplify", simplify, "derivative rules multiply by 0 and 1"),
    Stage("recalled", recalled, "before `cse`: recomputed forward values become recalls"),
    Stage("cse", cse, "neighbouring derivative rules recall and compute the same values"),
    Stage("hoist", hoist, "before `reduce`: loop-invariant factors leave the sums"),
    Stage("accumulate", accumulate, "before `reduce`: merged updates only add"),
    Stage("reduce", reduce, "before `remat`: no plan changes the order of sums"),
    Stage("dce", dce, "before `overwrite`: cotangents without readers"),
    Stage("overwrite", overwrite, "before `gather`: nests do not clear the arrays they add to"),
    Stage("gather", gather, "before `remat`: no plan changes the order of sums"),
    Stage(
        "privatize_reductions",
        privatize_reductions,
        "before `remat`: no plan changes the order of sums",
        THREADS,
    ),
)
_RERUN = Stage(
    "rerun", _rerun, "before `remat`: a call recomputed as a whole recalls only its inputs",
    REVERSE, _all, of=rerun,
)  # fmt: skip
_REMAT = Stage(
    "remat", _remat, "after `recalled`, `dce`: every recall that is left is needed",
    REVERSE, _all, of=rematerialize,
)  # fmt: skip
# When no transformation follows.
JOINED: tuple[Stage, ...] = (
    Stage(
        "settle", settle, "before `signatures`: rules that nobody uses any more need no code"
    ),
    Stage(
        "signatures", signatures,
        "after `settle`: what rules return; before `remat`: it would be kept", REVERSE,
    ),
    Stage(
        "reverse_arguments", reverse_arguments,
        "before `remat`: a function need not keep what its caller has", REVERSE,
    ),
    Stage(
        "fuse_reverse", fuse_reverse,
        "before `remat`: values used in the same iteration need no tape",
    ),
    Stage("relax", relax, "after `expand`: products in derivatives that the code calls"),
    Stage("predicates", predicates, "before `remat`: a predicate takes one byte of the tape"),
    Stage("chosen", chosen, "after `predicates`: the selecting condition is a forward value"),
    Stage("skip", skip, "after `chosen`: more cotangents are known to be zero"),
    Stage("cse", cse, "after `predicates`, `skip`: conditions are shared"),
    Stage("dce", dce, "before `remat`: dead values are not recalled"),
    Stage(
        "directions", _widened,
        "after `fuse_reverse`, `reduce`: these know cotangents without the axis",
        JACOBIAN, _all, of=directions,
    ),
    _RERUN,
)  # fmt: skip
_SHARED_STATES = Stage(
    "shared_states", shared_states,
    "after `fuse_reverse`, `dce`: what reverse iterations need both of is settled",
    When("reverse code, but for budgets that nothing else meets", lambda context, fn: (
        context.reverses(fn) and not context.orders.apart
    )),
)  # fmt: skip
_RERUN_CALLS = Stage(
    "rerun_calls", rerun_calls,
    "before `remat`: what a recomputed call holds, its reverse code does not recall",
    When("memory=, if calls are recomputed", lambda context, fn: bool(context.orders.calls)),
    lambda context: {"calls": context.orders.calls},
)  # fmt: skip
# What a plan decides: first what leaves other values to recall.
BEFORE_REMAT: tuple[Stage, ...] = (_SHARED_STATES, _RERUN_CALLS)
PLANNED: tuple[Stage, ...] = (
    *BEFORE_REMAT,
    _REMAT,
    Stage(
        "link", link, "after `remat`: reverse code that the code calls has a plan of its own",
        REVERSE, _linked,
    ),
)  # fmt: skip
# For a derivative that the code calls; it then is part of that code.
CALLED: tuple[Stage, ...] = (_RERUN, _SHARED_STATES, _REMAT)
# Ordinary code in value form.
CLEANUP: tuple[Stage, ...] = (
    Stage("calls", calls, "after `remat`: no recall crosses a call any more", FREE),
    Stage("bounds", bounds, "after `calls`: checks that callees repeat, sizes that they equate"),
    Stage("simplify", simplify, "after `calls`: bodies of callees have constant arguments"),
    Stage("cse", cse, "after `remat`: a recomputed value may be available already"),
    Stage("products", products, "after `calls`: those of derivatives that loops call", PLAIN_HOST),
    Stage("scalars", scalars, "after `calls`: small arrays passed to callees", FREE),
    Stage("dce", dce, "before `hoist`: it would move dead code", FREE),
    Stage("hoist", hoist, "after `remat`: loop-invariant recomputation", FREE),
    Stage("fuse", fuse, "after `remat`: recomputing loops are next to their readers"),
    Stage("contract", contract, "after `fuse`: recomputed arrays are local to an iteration"),
    Stage("dce", dce, "before `inline`: it counts readers"),
    Stage("inline", inline, "after `contract`: it prices the arrays that are left", given=_priced),
    Stage("cse", cse, "after `inline`: elements that an iteration computes twice"),
    Stage("fuse", fuse, "after `inline`: the arrays that separated loops are gone"),
    Stage("contract", contract, "after `fuse`: arrays that are now local to an iteration"),
    Stage("dce", dce, "before `unswitch`: arms without effect"),
    Stage("unswitch", unswitch, "after `fuse`: loops in branches are not fused"),
    Stage("once", once, "after `fuse`: a loop that became one iteration is not fused"),
    Stage("simplify", simplify, "after `unswitch`, `once`: branches that became known"),
)
_STORAGE = Stage(
    "storage", _storage, "after `inline`: the arrays that are left get memory",
    given=lambda context: {"remarks": context.remarks}, of=storage.plan,
)  # fmt: skip
# Buffer form, for a CPU.
BUFFERS: tuple[Stage, ...] = (
    _STORAGE,
    Stage("supply", supply, "after `storage`: it is settled which arrays are written in place"),
    Stage(
        "elide_copies", elide_copies, "before `parallel`: row copies are loops, too",
        given=lambda context: {"checked": True},
    ),
    Stage(
        "parallel", parallel, "before `strip_mine`: threads take whole loops, not blocks of them",
        # The peak formula does not know how many threads have private arrays.
        THREADS, lambda context: {"private": not context.known},
    ),
    Stage(
        "math_in_blocks", math_in_blocks, "before `strip_mine`, which makes arrays in loops", FREE,
    ),
    Stage("strip_mine", strip_mine, "before `scalar_replacement`: its blocks are arrays", FREE),
    Stage(
        "scalar_replacement", scalar_replacement,
        "before `coalesce`: scalars that are carried need no array",
    ),
    Stage(
        "coalesce", coalesce,
        "before `hoist_allocations`: arrays carried by a loop get one buffer", FREE,
    ),
    Stage(
        "hoist_allocations", hoist_allocations,
        "before `reuse`: hoisting lengthens lifetimes",
    ),
    Stage(
        "reuse", reuse,
        "after `hoist_allocations`: it needs the lifetimes of all arrays", given=_sized,
    ),
    Stage("vectorizable", vectorizable, "after `reuse`: it is settled which arrays share memory"),
    Stage("in_place", in_place, "after `reuse`: it is settled which arrays callees return"),
)  # fmt: skip
# Buffer form, for a GPU.
DEVICE: tuple[Stage, ...] = (
    _STORAGE,
    Stage("elide_copies", elide_copies, "before `kernels`: row copies would be launches"),
    Stage(
        "accumulate_in_place", accumulate_in_place,
        "before `outline_kernels`: threads may add to the same elements",
    ),
    Stage(
        "outline_kernels", outline_kernels,
        "before `kernels`: outer loops first, each iteration a thread",
        given=_exactly,
    ),
    Stage(
        "coalesce", coalesce, "before `hoist_allocations`: arrays carried by a loop get one buffer",
    ),
    Stage(
        "hoist_allocations", hoist_allocations,
        "before `reuse`: hoisting lengthens lifetimes",
    ),
    Stage("reuse", reuse, "after `hoist_allocations`: it needs the lifetimes of all arrays"),
    Stage("expand_tape", expand_tape, "before `fission`: loops with a tape cannot be split"),
    Stage("fission", fission, "before `kernels`: the parts of a loop have more threads",
          given=_exactly),
    Stage("kernels", kernels, "after `expand_tape`: no iteration touches a tape", given=_exactly),
)  # fmt: skip
# When the peak is known.
LIBRARY: tuple[Stage, ...] = (
    Stage("schedules", schedules, "last: until here they are operations of known size"),
)


@dataclass(frozen=True)
class Table:
    """Every stage for one target, in the order in which they run.

    Attributes
    ----------
    primal : tuple of Stage
        Before the first transformation.
    derivative : tuple of Stage
        For each transformation.
    joined : tuple of Stage
        When no transformation follows.
    planned, cleanup, buffers : tuple of Stage
        Planning decisions and all that follows: for a budget, many plans are tried.
    library : tuple of Stage
        When the peak is known.
    """

    primal: tuple[Stage, ...]
    derivative: tuple[Stage, ...]
    joined: tuple[Stage, ...]
    planned: tuple[Stage, ...]
    cleanup: tuple[Stage, ...]
    buffers: tuple[Stage, ...]
    library: tuple[Stage, ...]

    def rows(self) -> Iterator[tuple[Stage, int]]:
        """Yield every row with its nesting depth."""
        yield FRONTEND, 0
        for stages in (self.primal, self.derivative, self.joined):
            yield from _rows(stages)
        for stages in (self.planned, self.cleanup, self.buffers, self.library):
            yield from _rows(stages)


def _rows(stages: tuple[Stage, ...], depth: int = 0) -> Iterator[tuple[Stage, int]]:
    for stage in stages:
        yield stage, depth
        for _, parts in stage.parts:
            yield from _rows(parts, depth + 1)


def _without(stages: tuple[Stage, ...], *conditions: When) -> tuple[Stage, ...]:
    return tuple(stage for stage in stages if stage.when not in conditions)


_EACH = (*TRANSFORMATION, *DERIVATIVE)
TABLES: Mapping[str, Table] = {
    "cpu": Table(PRIMAL, _EACH, JOINED, PLANNED, CLEANUP, BUFFERS, LIBRARY),
    # Calls are replaced by `outline_kernels`.
    "cuda": Table(
        _without(PRIMAL, THREADS), _without(_EACH, THREADS), JOINED, PLANNED,
        _without(CLEANUP, FREE), DEVICE, LIBRARY,
    ),
}  # fmt: skip


def table(target: Target) -> Table:
    """Return the table for a target."""
    return TABLES[target.kind]


# -- derivatives that code itself calls ------------------------------------------------------------


def _runs(stages: tuple[Stage, ...], *, last: bool = True) -> Callable[[Function], Function]:
    # Of two transformations, the first is not the last.
    context = Context() if last else Context(steps=(("", ()),) * 2)
    return functools.partial(run, stages=stages, context=context)


THROUGH = Through(_runs(PRIMAL), _runs(DERIVATIVE, last=False), _runs(DERIVATIVE))


def derived(each: Derived) -> Function:
    """Return the function that a declaration stands for: value form, with Recalls.

    It has two parameters for each complex number.
    """
    return derive(widened(in_parts(each)), THROUGH)


__all__ = [
    "BUFFERS",
    "CLEANUP",
    "DERIVATIVE",
    "DEVICE",
    "JOINED",
    "LIBRARY",
    "PLANNED",
    "PRIMAL",
    "TABLES",
    "TRANSFORMATION",
    "Table",
    "derived",
    "table",
]
