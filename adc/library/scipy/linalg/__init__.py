"""The functions of `scipy.linalg`, in terms of those of `adc.library.linear`.

===============  ===============================================================================
`checks`         what they require of their arguments
`triangles`      triangular systems, factors of Cholesky and LU
`banded`         banded and Toeplitz systems
`solves`         other systems, inverses, determinants, least squares, norms
`equations`      equations of Sylvester and Lyapunov
`functions`      exponentials, roots and logarithms of matrices
`factors`        eigenvectors, QR, singular values, polar factors
`special`        matrices made of vectors and of other matrices
===============  ===============================================================================

Arguments that change no result, such as `overwrite_a`, are left out here; a tuple of several
arguments, such as that of `cho_solve`, is several ones.
"""
