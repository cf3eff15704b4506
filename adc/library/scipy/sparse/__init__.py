"""`scipy.sparse`: arrays with a pattern, in reading order.

Code uses the classes of `formats` and `assembled` as SciPy's of the same names.

===============  ===============================================================================
`patterns`       loops over the entries of rows: products, conversions, sums of equal entries
`tables`         entries that are put at positions one by one
`families`       the classes by format: how one makes an array of another
`entrywise`      functions of each entry
`base`           what arrays of all formats have
`formats`        the formats of a fixed pattern: `csr`, `csc`, `coo`, `dia`
`positions`      which elements an index of an assembled array selects
`assembled`      the formats that are assembled: `lil`, `dok`
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
