"""What a function returns and changes; `grad`, `vjp`, `vmap` and the others inside code.

In reading order:

=============  ===================================================================================
`results`      the result of a function, and the Python object built from it
`changes`      what a call changes outside of the function: objects, lists, arrays and variables
`outline`      code that is lowered as a separate IR function
`derivatives`  differentiated functions: lowered separately, and called by a derivative
`jacobians`    `jacfwd`, `jacrev`, `hessian`: loops that call a derivative along unit directions
`batches`      structures in `vmap`: elements of arguments, and room for results
`nested`       `grad`, `jvp` and the other transformations, and calls of their results
=============  ===================================================================================

``adc.grad(f)(x)`` is a call of a call: the first returns a `Transformed`; the second lowers `f`
once, as a separate function, and emits ``dx = derived reverse f(x)``.
"""
