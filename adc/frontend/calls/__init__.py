"""Calls: functions, methods, Python's builtins, and derivatives inside code.

In reading order:

===============  =================================================================================
`calls`          dispatch on the callee: a known function, a method, an instance, an inner function
`definitions`    `class` inside a function
`standard`       `functools`, `operator`, `copy`
`builtin`        Python's builtin functions
`sets`           sets: construction, methods and operators
`outline`        code that is lowered as a separate IR function
`derivatives`    differentiated functions: lowered separately, and called by a derivative
`jacobians`      `jacfwd`, `jacrev`, `hessian`: loops that call a derivative along unit directions
`nested`         `grad`, `jvp` and the other transformations, and calls of their results
`batches`        structures in `vmap`: elements of arguments, and room for results
`outside`        calls of Python functions that are not looked into
`custom`         functions with custom derivatives
`external`       those of `adc.external`, with their derivatives
`communication`  messages between the ranks of an MPI program
`effects`        what a program prints, logs and warns of, and clocks
`fourier`        `np.fft` and `scipy.fft`
===============  =================================================================================

``adc.grad(f)(x)`` is a call of a call: the first returns a `Transformed`; the second lowers `f`
once, as a separate function, and emits ``dx = derived reverse f(x)``.
"""
