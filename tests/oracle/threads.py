"""What must hold of code whose loops threads share, for one program.

Its results are those of other code but for the order of sums; they are the same to the last bit
under every plan, in any order of the iterations that may run in parallel (the interpreter has an
odd one), and for any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adc.backend import cpu
from adc.backend.runtime import threads as thread_pool
from adc.compiler.driver import transform
from adc.ir.analysis.target import Target
from adc.ir.core import For, Function, walk
from adc.ir.errors import AdcError, IRError
from adc.ir.tape import uses
from adc.passes.remat.schedules import schedules
from tests.fuzz.program import Generated, Unreliable
from tests.oracle.chain import Chain, bits, fresh, largest_in, near, run, well_formed

PARALLEL = Target(parallel=True)
THREADS = (1, 2, 4)


def shared(fn: Function) -> int:
    """Return how many loops threads may share."""
    return sum(
        isinstance(stmt, For) and stmt.parallel
        for each in (*fn.callees, fn)
        for stmt in walk(each.body)
    )


def check(
    chain: Chain, policies: Sequence[str] = ("auto", "store", "recompute"), *, compiled: bool
) -> list[str]:
    """Return what is wrong; if `compiled`, code under the first plan is compiled, too."""
    steps = (("adjoint", chain.positions),) if chain.positions else ()
    want = run(transform(chain.lowered, steps, "auto").fn, fresh(chain.inputs))
    found: list[str] = []
    seen: list[Function] = []
    first: list[bytes] = []
    largest = max(map(largest_in, want), default=0.0)
    single = "f32" in str(chain.lowered.fn)
    for policy in policies:
        fn = transform(chain.lowered, steps, policy, target=PARALLEL).fn
        if fn in seen:
            continue
        seen.append(fn)
        found += well_formed(fn)
        # On the CPU threads have no tapes that outlive an iteration.
        found += [
            f"{policy}: {stmt.label} takes or leaves frames"
            for each in (*fn.callees, fn)
            for stmt in walk(each.body)
            if isinstance(stmt, For) and stmt.parallel and any(uses(stmt.body.stmts))
        ]
        results = run(fn, fresh(chain.inputs))
        if not all(near(a, b, single, largest) for a, b in zip(results, want, strict=True)):
            found.append(f"{policy}: other results")
        first = first or bits(results)
        if bits(results) != first:
            found.append(f"{policy}: other bits")
        if compiled and policy == policies[0] and shared(fn):
            found += threaded(fn, chain)
    return found


def check_random(generated: Generated, *, compiled: bool) -> list[str]:
    """Return what is wrong with a random program; where it is refused, nothing can be.

    Raises
    ------
    Unreliable
        If it is refused, or none of its loops can be shared.
    """
    args = generated.make_args()
    try:
        chain = Chain.of(generated.fn, args, generated.argnums)
        steps = (("adjoint", chain.positions),)
        loops = shared(transform(chain.lowered, steps, target=PARALLEL).fn)
    except AdcError as error:
        if isinstance(error, IRError):
            raise
        raise Unreliable(str(error)) from error
    if not loops:
        raise Unreliable("no loop can be shared")
    with np.errstate(all="ignore"):
        return check(chain, compiled=compiled)


def threaded(fn: Function, chain: Chain) -> list[str]:
    """Compare compiled code for several numbers of threads; every loop is shared."""
    enough, chunk = thread_pool.ENOUGH, thread_pool._CHUNK
    thread_pool.ENOUGH = thread_pool._CHUNK = 1
    try:
        kernel = cpu.compile(schedules(fn))
    finally:
        thread_pool.ENOUGH, thread_pool._CHUNK = enough, chunk
    found: list[list[bytes]] = []
    for threads in THREADS:
        kernel.share(threads)
        found.append(bits([np.asarray(each) for each in kernel(*fresh(chain.inputs))]))
    return [
        f"{threads} threads: other bits"
        for threads, each in zip(THREADS, found, strict=True)
        if each != found[0]
    ]
