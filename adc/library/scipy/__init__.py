"""SciPy's algorithms as plain Python, one module for each of its packages.

===============  ===============================================================================
`odes`           initial value problems of `scipy.integrate`
`optimize`       roots of functions of one number
`integrate`      integrals of samples
`interpolate`    interpolants, which are objects
`ndimage`        filters of arrays, and splines through their elements
`signal`         convolutions, linear filters, windows, spectra
`linalg`         `scipy.linalg`, in modules by subject
`distance`       `scipy.spatial.distance`
`special`        `scipy.special`
`stats`          `scipy.stats`, a package for itself
===============  ===============================================================================

A function has the name and the arguments of SciPy's. SciPy is imported inside of functions, where
their code, which is lowered, calls others; by `stats`, which no other module imports, at once.
"""
