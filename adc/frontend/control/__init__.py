"""Control: branches, loops and functions; joins of the states of two paths.

In reading order:

=============  ==================================================================================
`forms`        a common form for the values of a name on two paths
`exits`        pending exits: `break`, `return`, exceptions that are caught
`joins`        what a name is bound to after an `if`
`branches`     an `if`: two paths and their join
`iterations/`  loops, lowered until what they carry is stable
`chains`       long chains of `elif` and `case`, without nesting
`evaluation`   the value or truth of an expression: ``a and b`` may be a branch
`escapes`      checks whose exceptions are caught: conditional jumps to the handler
`choices`      what uses one of several values, lowered once for each
`blocks`       statements in order, and `if`
`marks`        marks of `save`, `recompute`, `invertible` and `checkpoint` on statements
`inlining`     functions of the program that are inlined
`suspended`    generators, also as objects that a loop consumes later
`signatures`   what a call passes, which decides whether calls share a function
`callees`      those that become IR functions, which calls share: recursive ones, and large ones
`program`      a call of a function of the program: inlined, or of an IR function
=============  ==================================================================================

``if c: x = 1.0`` after ``x = 0.0`` is an `If` with the result ``x1 = if c: 1.0 else: 0.0``; from
here on, `x` is bound to ``x1``.
"""
