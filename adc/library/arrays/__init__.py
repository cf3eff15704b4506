"""NumPy's functions of arrays that are a few lines in terms of others.

============  ======================================================================================
`nan`         reductions that leave out NaN
`editing`     elements deleted, inserted, repeated, put together
`elements`    parts of numbers, steps between them, bits
`domains`     functions that are complex where no real number is the result (`np.emath`)
`places`      indices of triangles and diagonals, flat ones and several
`sets`        vectors as sets
`signals`     phases, correlations, histograms, sums and products along an axis
`matrices`    functions of `np.linalg`
`windows`     windows of signal processing
`polynomial`  polynomials given by their coefficients
`polynomials` polynomials as objects
`reducing`    methods of functions of two operands
`series`      values of polynomials in several bases (`np.polynomial`)
`checks`      checks that raise `AssertionError` (`np.testing`)
`mapping`     functions applied along axes, or to elements
============  ======================================================================================

``__all__`` of a module has the names that its functions have in NumPy: the front end lowers a call
of ``np.nansum`` as one of `nan.nansum`. The parameters are NumPy's. Arguments come as the program
has them, so a function begins with `np.asarray`.
"""
