"""Gather the cotangents of shifted reads, so that reverse code of stencils vectorises.

The adjoint of a nest that reads an array at neighbouring places adds to neighbouring elements of
its cotangent. Iterations then change elements that others change, too, one after the other. Here
every element gets all that is added to it at once.

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

If the places lie further apart, there may be fewer iterations than all of that needs; then it is
done as before.

What is added is read again for each element where it can be: a load of an array that the nest does
not change before, times what is the same in all iterations. Anything else is kept in a temporary
array, which the nest fills in its own order.

Where the nest has more loops, this is done with the rows to which all the iterations that add to
them exist; those around take what there is, one addition after another. The loops in the middle are
under no condition: LLVM makes worse code of those that are.

`gather.find` decides, `gather.rewrite` carries it out.

The only bits that this changes are those of sums of what is added to one element, the same under
every plan, because it runs before `remat`.
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
