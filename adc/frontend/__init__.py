"""Front end: Python source to value form.

`entry.lower` runs once per signature, so types are known while lowering. Names bind to *objects*
(`core.bindings`); arrays are objects with a current version, lists, dicts and objects have slots in
the state, so aliases, mutation and control flow are resolved here and no later pass sees them.
Array expressions are lazy: whoever needs their elements computes them in one loop nest.

==========  =====================================================================================
`entry`     a function and the types of its arguments to value form
`core`      the lowering state, bindings, the tables of handlers
`values`    what any binding can do: arrays, instances, operators, comparisons
`control`   branches, loops and inlined functions; how two paths join
`numpy`     indexing and the functions of NumPy
`language`  Python's containers, expressions and statements
`calls`     calls of anything, builtins, derivatives within code
==========  =====================================================================================

A room imports none further down, and no two modules import each other
(`tests.project.test_layers`). What lowers a part of the program asks `core.dispatch` for the parts
of that; handlers register there::

    @handles(ast.IfExp)
    def _if_expression(lo: Lowerer, node: ast.IfExp) -> Binding: ...
"""
