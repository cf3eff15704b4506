"""Turn scattered additions of a stencil's reverse code into gathers, so that it vectorises.

The adjoint of a nest that reads neighbouring elements of an array adds to neighbouring elements of
its cotangent. Iterations then update the same elements, one after the other. This pass computes all
contributions to an element at once.

Before::

    %x.ct.3 = reverse L0 %i.r carrying (%x.ct = %x.ct.4) {
      %v = load %y.ct[%i.r]
      %x.ct.1 = accumulate %x.ct[%i.r] %v
      %j.r = recall %j                        (%j = add 1 %i)
      %x.ct.2 = accumulate %x.ct.1[%j.r] %v
      yield %x.ct.2
    }

After, in short::

    for q in range(n - 1):
        x.ct[q + 1] += y.ct[q + 1] + y.ct[q]
    if n >= 1:
        x.ct[0] += y.ct[0]
        x.ct[n] += y.ct[n - 1]

If the elements lie further apart, there may be too few iterations for that; then the nest runs
unchanged.

A contribution is read again for each element where that is possible: a load of an array that the
nest does not change before, times loop-invariant values. Any other is stored in a temporary array,
which the nest fills in its own order.

In a deeper nest, this is done with the rows whose contributing iterations all exist; the boundary
rows add whichever contributions exist, one after the other. The loops over the interior are not
guarded by conditions: LLVM generates worse code for guarded ones.

`gather.find` decides, `gather.rewrite` rewrites.

The only bits that change are those of sums of contributions to one element, identically under every
plan, because the pass runs before `remat`.
"""

from __future__ import annotations

from dataclasses import replace

from adc.ir.core import Function
from adc.ir.walk import Names
from adc.passes.loops.gather.find import Finder
from adc.passes.loops.gather.rewrite import Rewriter
from adc.passes.scalar.dce import dce


def gather(fn: Function) -> Function:
    """Return `fn` with additions to neighbouring elements gathered."""
    functions = {each.name: each for each in (*fn.callees, fn)}
    names = Names()
    for each in functions.values():
        names.add(Names.of(each))
    done: dict[str, Function] = {}
    for each in functions.values():
        forward = functions.get(each.mirror, each)
        found = Finder(each, forward)
        found.run()
        done[each.name] = Rewriter(found, names).run() if found.plans else each
    if all(done[name] is each for name, each in functions.items()):
        return fn
    return dce(replace(done[fn.name], callees=tuple(done[each.name] for each in fn.callees)))
