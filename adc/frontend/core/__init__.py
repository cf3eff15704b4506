"""Core: the lowering state, the bindings of names, and the tables of handlers.

It imports no other package of the front end. In reading order:

=============  ==================================================================================
`source`       the AST of a function object, with positions
`mangling`     private names of classes (``__x``) in that AST
`scope`        syntactic questions: names assigned, exits contained
`trees`        arguments as trees of types
`places`       where captured values are found, and read at every call
`stacks`       lists of elements that are alike, as arrays with one axis more
`bindings`     the kinds of bindings of a name, and the join of two bindings
`lower`        the lowering state: names, arrays and their versions, captured values
`refusals`     the table of unsupported syntax
`dispatch`     the tables of handlers, and the recursion through them
`classes`      attribute lookup in classes, as in Python
`closures`     inner functions as data, with the variables that they read
`numbers`      arithmetic on scalars by NumPy's promotion
`advice`       the hints for unsupported functions
=============  ==================================================================================

``b = a`` binds two names to one `ArrayRef`; after ``a[0] = 1.0`` the array behind it has a new
version in the state, which both names see. The first statement emits no operation, the second
emits ``a1 = store a[0], 1.0``.
"""
