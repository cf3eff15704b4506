"""SciPy's algorithms as plain Python, one module for each of its packages.

===============  ===============================================================================
`odes`           initial value problems of `scipy.integrate`
`sessions`       SciPy's own solvers, which ask compiled code for the values of a function
`captures`       what a function has captured, as values that a derivative is taken by
`optimize`       roots, minima, least squares
`integrate`      integrals of samples and of functions
`interpolate`    interpolants, which are objects
`ndimage`        filters of arrays, and splines through their elements
`fftpack`        `scipy.fftpack`, the older `scipy.fft`
`signal`         convolutions, linear filters, windows, spectra
`linalg`         `scipy.linalg`, in modules by subject
`sparse`         `scipy.sparse`, in modules by subject
`distance`       `scipy.spatial.distance`
`rotations`      `scipy.spatial.transform`
`special`        `scipy.special`
`stats`          `scipy.stats`, a package for itself
===============  ===============================================================================

A function has the name and the arguments of SciPy's. SciPy is imported inside of functions, where
their code, which is lowered, calls others; by `stats`, which no other module imports, at once.
"""
