"""The functions of `np.linalg`, by name, of matrices and of stacks of them."""

from adc.library.linear.factors import (
    eig,
    eigh,
    eigvals,
    eigvalsh,
    missing_eig,
    qr,
    regular_svd,
    svd,
    svdvals,
)
from adc.library.linear.norms import matrix_norm, multi_dot, norm, vector_norm
from adc.library.linear.ranks import cond, lstsq, matrix_rank, pinv
from adc.library.linear.solves import (
    cholesky,
    det,
    inv,
    regular_det,
    regular_slogdet,
    slogdet,
    solve,
    tensorinv,
    tensorsolve,
)

__all__ = [
    "cholesky",
    "cond",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matrix_norm",
    "matrix_rank",
    "missing_eig",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "regular_det",
    "regular_slogdet",
    "regular_svd",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vector_norm",
]
