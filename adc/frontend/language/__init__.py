"""Language: Python's containers, expressions and statements; one handler for each type of node.

In reading order:

===============  ===============================================================================
`expressions`    names, displays, operators, comprehensions
`attributes`     ``a.b`` of anything
`subscripts`     ``a[b]`` of anything
`statements`     all but `if` (`control.blocks`), loops and functions
`assignment`     to names, elements, attributes and patterns; ``op=``
`iteration`      `for` and `while`
`iterators`      `map`, `filter` and `sorted`
`containers`     lists, dicts and tuples
`dynamic_lists`  lists whose length is known only at run time
===============  ===============================================================================

``a[1:] += b`` is an `ast.AugAssign`, which `statements` hands to `assignment`: the index is
evaluated first, then `b`, and the sums are stored through a view of `a`.
"""
