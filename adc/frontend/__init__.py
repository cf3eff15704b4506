"""Front end: Python source to value form.

`entry.lower` runs once per signature, so types are known while lowering. Names are bound to
*objects* (`core.bindings`). Arrays are objects with a current version; lists, dicts and instances
have slots in the lowering state. So aliases, mutation and control flow are resolved here, and later
passes do not see them. Array expressions are lazy: their elements are computed in one loop nest
where they are needed.

============  ===================================================================================
`entry`       a function and the types of its arguments to value form
`attempts`    what attempts to lower a program have found, for the next one
`syntax`      the AST of a function, and the names that it assigns
`inputs`      arguments and captured values: their types, keys and leaves
`core`        the lowering state, bindings, the tables of handlers
`values`      operations on bindings: arrays, instances, operators, comparisons
`control`     branches, loops and inlined functions; joins of two paths
`numpy`       indexing and the functions of NumPy
`language`    Python's containers, expressions and statements
`loops`       `for` and `while`
`transforms`  derivatives and other transformations inside code
`calls`       calls: functions, methods, builtins
`scipy`       the functions of SciPy
============  ===================================================================================

No package imports one further down, and no two modules import each other
(`tests.project.test_layers`). A handler lowers one kind of syntax node, and calls `core.dispatch`
for the nodes inside. Handlers register there::

    @handles(ast.IfExp)
    def _if_expression(lo: Lowerer, node: ast.IfExp) -> Binding: ...
"""
