"""NumPy: its indexing, and a handler for each of its functions, in tables by name.

In reading order:

===============  ===============================================================================
`indexing`       basic and advanced indexing, read and written
`reductions`     sums, extrema and other reductions
`products`       contractions, ``@`` included
`shaping`        shapes and axes, mostly as views
`concatenation`  concatenating and splitting arrays
`rearrangement`  repeating, rolling, padding elements
`ufuncs`         functions of scalars, element by element, and their methods
`creation`       new arrays: ranges, diagonals, grids of indices
`selection`      finding, selecting and writing elements
`grids`          ``np.mgrid`` and ``np.ogrid``
`maths`          the functions of `math`
`complexes`      parts of complex numbers, and the functions of `cmath`
`linear`         functions that `adc.library` implements in Python: sorting, linear algebra
`random`         random generators and their draws, a package
`plain`          functions in plain Python, and those that say what is known when compiled
`library`        the table of all functions, and the methods of arrays
===============  ===============================================================================

Functions of `np.fft` are in `calls.fourier`, beside those of `scipy.fft`.

The handler of ``np.transpose(a)`` is found under `np.transpose` in `library`. It is in `shaping`;
it returns a view and emits nothing.
"""
