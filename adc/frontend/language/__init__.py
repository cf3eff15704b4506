"""Language: Python's containers, expressions and statements; one handler for each type of node.

In reading order:

===============  ===============================================================================
`expressions`    names, displays, operators, comprehensions
`attributes`     ``a.b``
`texts`          f-strings and other strings of numbers known only at run time
`subscripts`     ``a[b]``
`statements`     statements other than `if` (`control.blocks`) and loops (`loops`)
`assignment`     assignment to names, elements, attributes and patterns; ``op=``
`breaks`         names that a loop binds only where `break` leaves it
`unrolling`      loops over lists that are unrolled, and how much code that is
`exceptions`     `try`, `except`, `finally`
`generators`     functions with `yield`, consumed by loops
`contexts`       `with`
`iterators`      `map`, `filter` and `next`
`stored`         `zip`, `map` and other iterators that are stored
`dicts`          dicts and sets: keys that are added, looked up, removed
`containers`     lists, tuples and deques
`dynamic_lists`  lists whose length is known only at run time
===============  ===============================================================================

``a[1:] += b`` is an `ast.AugAssign`, which `statements` passes to `assignment`: the index is
evaluated first, then `b`, and the sums are stored through a view of `a`.
"""
