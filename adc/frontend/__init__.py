"""Front end: Python source to value form.

`lower.lower` runs once per signature, so types are known while lowering. Names bind to *objects*
(`bindings`); arrays are objects with a current version, so aliases, mutation and control flow are
resolved here and no later pass sees them. In the order of a program's way through:

========================  =======================================================================
`signature`               types of call arguments; what is static
`source`                  the AST of a function object, with spans
`scope`                   syntactic questions: names assigned, exits contained
`bindings`                what a name may be bound to, and how two bindings join
`lower`                   the lowering state, and the entry
`statements`              one function per statement node
`control` `loops`         branches and how they join; loops and what they carry
`expressions` `numbers`   one function per expression node; arithmetic by NumPy's promotion
`arrays`                  creation, shape, element access
`calls` `library`         calls: inlining, recursion, Python's and NumPy's functions
========================  =======================================================================
"""
