"""Core: the lowering state, the bindings of names, and the tables of handlers.

In reading order:

============  ===================================================================================
`bindings`    the kinds of bindings of a name
`strings`     strings: which differ in their numbers only, which may be empty
`structure`   bindings as trees: the numbers and arrays in them, which is what joins of them
`state`       frames, what joins at control flow, what lowerings share; the result
`messages/`   what errors say: names of bindings, refused syntax, hints
`sizes`       which sizes of arrays are equal, which are 1
`lowering/`   the parts of the lowering state: positions, numbers, what lies outside, the heap
`lower`       the lowering state as a whole: saved and restored; paths and names
`parameters`  arguments and captured values become parameters
`outside`     globals and closure variables, and guards on them
`names`       the binding of a name that is read
`dispatch`    the tables of handlers, and the recursion through them
`classes`     attribute lookup in classes, as in Python
`closures`    inner functions as data, with the variables that they read
`numbers`     arithmetic on scalars by NumPy's promotion
============  ===================================================================================

``b = a`` binds two names to one `ArrayRef`; after ``a[0] = 1.0`` the array behind it has a new
version in the state, which both names see. The first statement emits no operation, the second
emits ``a1 = store a[0], 1.0``.
"""
