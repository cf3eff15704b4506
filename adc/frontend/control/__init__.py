"""Control: branches, loops and functions; how the states of two paths join.

In reading order:

=============  ==================================================================================
`forms`        what a name is on two paths, brought to one form
`control`      branches, the exits that are pending, and how paths join
`loops`        what a loop carries, found by lowering its body until that is known
`chains`       long chains of decisions, which are not nested
`evaluation`   the value of an expression, or its truth: ``a and b`` may be a branch
`blocks`       statements in order, and `if`
`marks`        what users say about values, which statements keep
`inlining`     functions of the program: inlined, or IR functions if recursive
=============  ==================================================================================

``if c: x = 1.0`` after ``x = 0.0`` is an `If` with the result ``x1 = if c: 1.0 else: 0.0``; from
here on, `x` is bound to ``x1``.
"""
