"""SciPy's algorithms as plain Python, one module for each of its packages.

===============  ===============================================================================
`linalg`         `scipy.linalg`, in modules by subject
`distance`       `scipy.spatial.distance`
===============  ===============================================================================

A function has the name and the arguments of SciPy's. Nothing here imports SciPy.
"""
