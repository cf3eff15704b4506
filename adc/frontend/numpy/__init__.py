"""NumPy: its indexing, and a handler for each of its functions, in tables by name.

In reading order:

===============  ===============================================================================
`indexing`       basic and advanced indexing, read and written
`reductions`     sums, extrema and their relatives
`products`       contractions, ``@`` included
`shaping`        shapes and axes, mostly views
`concatenation`  arrays joined and split
`rearrangement`  elements repeated, moved, padded
`ufuncs`         functions of scalars, element by element, and their methods
`creation`       creation: ranges, diagonals
`selection`      elements found, chosen, written to
`grids`          ``np.mgrid`` and ``np.ogrid``
`maths`          the functions of `math`
`linear`         functions that `adc.library` has as plain Python: sorting, linear algebra
`random`         random generators and their draws
`library`        the table of all functions, and the methods of arrays
===============  ===============================================================================

``np.transpose(a)`` finds its handler under `np.transpose` in `library`: one of `shaping`, which
returns a view and emits nothing.
"""
