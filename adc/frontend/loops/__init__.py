"""Loops: `for` and `while`.

In reading order:

=============  =================================================================================
`for_loops`    `for`: one loop, a copy of the body for each element, or the first iteration apart
`while_loops`  `while`
`over`         what a loop is over: how many elements that has, and what gives the k-th
`settling`     a `for` as one loop, until the types of its variables converge
`copies`       one copy of the body for each element
`exits`        `break`, `return`, `continue`, exceptions that leave a loop, and `else`
=============  =================================================================================

``for a, b in zip(x, [1.0, 2.0])`` has at most two iterations, each of a kind of its own (`over`):
`copies` lowers the body twice, the second time where `x` has a second element. `control.iterations`
finds what an iteration changes, which becomes what a loop carries; `language.breaks` has the names
that a loop binds only where `break` leaves it, `language.unrolling` how much code copies are.
"""
