"""`scipy.sparse`: arrays with a pattern, in reading order.

===============  ===============================================================================
`patterns`       loops over the entries of rows: products, conversions, sums of equal entries
`tables`         entries that are put at positions one by one
`arrays`         the classes of SciPy's, which code uses as these
`construction`   matrices of diagonals, of blocks, Kronecker products
`host`           SuperLU, ARPACK and iterative solvers of SciPy's, which run as they are
`systems`        linear systems, factors
`iterative`      iterative solvers, linear operators
`spectra`        eigenvalues, norms
===============  ===============================================================================

A pattern (`indices`, `indptr`, `row`, `col`, `offsets`) is a constant of every derivative. So what
an operation returns has the pattern that those of its operands imply: entries that happen to be
zero are kept, where SciPy drops some of them.
"""
