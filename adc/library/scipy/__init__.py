"""SciPy's algorithms as plain Python, one module for each of its packages.

===============  ===============================================================================
`odes`           initial value problems of `scipy.integrate`
`optimize`       roots of functions of one number
===============  ===============================================================================

A function has the name and the arguments of SciPy's. Nothing here imports SciPy.
"""
