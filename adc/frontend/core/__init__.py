"""Core: the lowering state, what names are bound to, and the tables that handlers register in.

It imports no other room. In reading order:

=============  ==================================================================================
`source`       the AST of a function object, with positions
`mangling`     the private names of classes, in that AST
`scope`        syntactic questions: names assigned, exits contained
`trees`        arguments as trees of types
`places`       where things outside of a function are found, and are read again at every call
`bindings`     what a name may be bound to, and how two bindings join
`lower`        the lowering state: names, arrays and their versions, what lies outside
`refusals`     the table of what the language does not have
`dispatch`     the tables of handlers, and the recursion through them
`classes`      what classes have under a name, as Python finds it
`closures`     inner functions as data, with the variables that they read
`numbers`      arithmetic on scalars by NumPy's promotion
`advice`       what to use instead of a function that is not supported
=============  ==================================================================================

``b = a`` binds two names to one `ArrayRef`; after ``a[0] = 1.0`` the array behind it has a new
version in the state, which both names see. No operation is emitted for the first, and for the
second ``a1 = store a[0], 1.0``.
"""
