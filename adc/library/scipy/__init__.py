"""SciPy's algorithms as plain Python, one module for each of its packages.

===============  ===============================================================================
`special`        `scipy.special`
===============  ===============================================================================

A function has the name and the arguments of SciPy's. SciPy is imported inside of functions, where
their code, which is lowered, calls others.
"""
