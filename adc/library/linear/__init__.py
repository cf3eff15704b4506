"""Linear algebra: factors of matrices by LAPACK's routines, with rules, and `np.linalg` with them.

==============  ====================================================================================
`routines`      triangular factors, and what they solve
`spectral`      orthogonal factors: eigenvectors, QR, singular values
`unitary`       unitary factors of complex matrices, likewise
`general`       eigenvectors of matrices of any kind
`complexes`     complex matrices as real ones twice as large; elimination with complete pivoting
`stacks`        stacks of matrices as loops over them
`solves`        solves, inverses, determinants, Cholesky factors
`factors`       eigenvectors, QR and singular values, of matrices and of stacks of them
`norms`         norms, and products of several matrices
`ranks`         pseudo-inverses, least squares, ranks, condition numbers
`linalg`        the functions of `np.linalg`, by name
==============  ====================================================================================

In ``np.linalg.eigh(a)``, `factors` mirrors the triangle that is read, lets `spectral.symmetric`
call LAPACK for a copy without derivatives, and gives `spectral.eigenvalues` and `eigenvectors` the
matrix and the result: these have the rules.
"""
