"""SciPy's algorithms as plain Python, one module for each of its packages.

===============  ===============================================================================
`special`        `scipy.special`
`stats`          `scipy.stats`, a package for itself
===============  ===============================================================================

A function has the name and the arguments of SciPy's. SciPy is imported inside of functions, where
their code, which is lowered, calls others; by `stats`, which no other module imports, at once.
"""
