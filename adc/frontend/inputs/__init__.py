"""Inputs: arguments and captured values, as Python objects and as what code takes.

In reading order:

============  ===================================================================================
`instances`   what Python objects are: plain, frozen, unchanging
`bases`       what code has in place of builtin base classes: `dict`
`trees`       arguments as trees of types
`keys`        keys of arguments: equal keys run the same code
`flatten`     the numbers and arrays in an argument, or in a tangent of it
`complexes`   complex numbers, taken apart and put together
`unflatten`   results that are arranged like an argument
`places`      where captured values are found, and read at every call
`stacks`      lists of elements that are alike, as arrays with one axis more
============  ===================================================================================

``{"w": np.ones(3), "n": 4}`` has the type tree ``{"w": f64[:], "n": int}`` and the leaves
``[np.ones(3), 4]``; the gradient ``[g]`` is arranged as ``{"w": g, "n": None}``.
"""
