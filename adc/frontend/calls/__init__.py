"""Calls: of anything, with Python's builtins and derivatives within code.

In reading order:

=============  ==================================================================================
`calls`        what is called decides: a known function, a method, an instance, an inner function
`builtin`      Python's builtin functions
`outline`      code that is lowered for itself, as a function of its own
`derivatives`  functions that are differentiated: lowered for themselves, called by a derivative
`jacobians`    `jacfwd`, `jacrev`, `hessian`: loops that call a derivative along unit directions
`nested`       `grad`, `jvp` and their relatives, and calls of what they return
`custom`       functions with derivatives of their own
=============  ==================================================================================

``adc.grad(f)(x)`` is a call of a call: the first gives a `Transformed`, of which the second emits
``dx = derived reverse f(x)`` and lowers `f` once, for itself.
"""
