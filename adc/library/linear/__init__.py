"""Linear algebra: factors of matrices by LAPACK's routines, with rules, and `np.linalg` with them.

==============  ====================================================================================
`routines`      triangular factors, and what they solve
`spectral`      orthogonal factors: eigenvectors, QR, singular values
`unitary`       unitary factors of complex matrices, likewise
`general`       eigenvectors of any complex matrices
`complexes`     complex matrices as real ones twice as large; elimination with complete pivoting
`linalg`        the functions of `np.linalg`, of matrices and of stacks of them
==============  ====================================================================================

In ``np.linalg.eigh(a)``, `linalg` mirrors the triangle that is read, lets `spectral.symmetric` call
LAPACK for a copy without derivatives, and gives `spectral.eigenvalues` and `eigenvectors` the
matrix and the result: these have the rules.
"""
