"""Functions of matrices: the exponential, the square root, the logarithm.

Sources: A. H. Al-Mohy, N. J. Higham, A new scaling and squaring algorithm for the matrix
exponential, SIAM J. Matrix Anal. Appl. 31, 2009, and Computing the Fréchet derivative of the matrix
exponential, with an application to condition number estimation, ibid. 30, 2009: derivatives of the
exponential are those of its algorithm. N. J. Higham, Functions of matrices, 2008: those of the root
solve a Sylvester equation, those of the logarithm are a block of that of [[a, e], [0, a]].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library import Unsupported, stop_gradient
from adc.library.linear import linalg
from adc.library.linear.complexes import halves, joined, real_form
from adc.library.linear.spectral import precision
from adc.library.linear.stacks import of_each
from adc.library.rules import exact
from adc.library.scipy.linalg.checks import alike, square, validated
from adc.library.scipy.linalg.equations import schur_parts, sylvester, triangles

# Of the Padé approximant of degree 13 to the exponential: coefficients, and the norm up to which it
# and its derivatives are as good as rounding.
_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
    129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0,
    960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
_LIMIT = 4.25
_ERROR = 8.8299750e-36  # the first coefficient of its backward error


def _norm(a: Any) -> Any:
    return np.max(np.sum(np.abs(a), axis=0), initial=0.0)


def _root_of_norm(a: Any, power: float) -> Any:
    return _norm(a) ** (1 / power)


def _halvings(a: Any, a4: Any, a6: Any) -> int:
    """Return how often to halve a matrix before it is small: its powers count, not its norm."""
    if _norm(a) <= _LIMIT:
        return 0
    d8 = _root_of_norm(a4 @ a4, 8.0)
    size = min(max(_root_of_norm(a6, 6.0), d8), max(d8, _root_of_norm(a4 @ a6, 10.0)))
    if not np.isfinite(size):
        return 0
    s = 0
    while size > _LIMIT:
        size *= 0.5
        s += 1
    return s + _more(a * 0.5**s)


def _more(a: Any) -> int:
    """Return how often to halve it in addition, where powers are small because of cancellation."""
    x = np.ones(a.shape[0])
    moduli = np.abs(a).T.astype(np.float64)
    for _ in range(27):
        x = moduli @ x
    ratio = _ERROR * np.max(x, initial=0.0) / _norm(moduli.T) / precision(a)
    more = 0
    while np.isfinite(ratio) and ratio > 1:
        ratio *= 0.5**26
        more += 1
    return more


def _exponential(a: Any) -> Any:
    unit = np.eye(a.shape[0], dtype=a.dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    s = _halvings(stop_gradient(a), stop_gradient(a4), stop_gradient(a6))
    c = 0.5**s
    p = _PADE
    b, b2, b4, b6 = a * c, a2 * c**2, a4 * c**4, a6 * c**6
    odd = b6 @ (p[13] * b6 + p[11] * b4 + p[9] * b2)
    u = b @ (odd + p[7] * b6 + p[5] * b4 + p[3] * b2 + p[1] * unit)
    even = b6 @ (p[12] * b6 + p[10] * b4 + p[8] * b2)
    v = even + p[6] * b6 + p[4] * b4 + p[2] * b2 + p[0] * unit
    x = linalg.solve(v - u, v + u)
    for _ in range(s):
        x = x @ x
    return x


def _expm(a: Any) -> Any:
    if np.iscomplexobj(a):
        return halves(_exponential(real_form(a))[:, : a.shape[0]])
    return _exponential(a)


def expm(A: Any) -> Any:
    """`scipy.linalg.expm`."""
    a = validated(A, False)
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return of_each(_expm, a)


def _block(a: Any, e: Any) -> Any:
    """Return [[a, e], [0, a]]."""
    n = a.shape[0]
    found = np.zeros((2 * n, 2 * n), a.dtype)
    found[:n, :n] = a
    found[n:, n:] = a
    found[:n, n:] = e
    return found


def _scale(e: Any) -> Any:
    """Return by what to divide a direction, whose length should not matter."""
    size = np.max(np.abs(stop_gradient(e)), initial=0.0)
    return size if size > 0 and np.isfinite(size) else e.real.dtype.type(1)


def expm_frechet(A: Any, E: Any, compute_expm: Any = True, check_finite: Any = True) -> Any:
    """`scipy.linalg.expm_frechet`."""
    a, e = alike(validated(A, check_finite), validated(E, check_finite))
    if a.shape[0] != a.shape[1]:
        raise ValueError("expected A to be a square matrix")
    if e.shape[0] != a.shape[0] or e.shape[1] != a.shape[1]:
        raise ValueError("expected A and E to be the same shape")
    n, scale = a.shape[0], _scale(e)
    found = _expm(_block(a, e / scale))
    moved = found[:n, n:] * scale
    return (found[:n, :n].copy(), moved) if compute_expm else moved


def expm_cond(A: Any, check_finite: Any = True) -> Any:
    """`scipy.linalg.expm_cond`."""
    a = validated(A, check_finite)
    if a.shape[0] != a.shape[1]:
        raise ValueError("expected a square matrix")
    n = a.shape[0]
    form = np.empty((n * n, n * n), a.dtype)
    for k in range(n * n):
        e = np.zeros((n, n), a.dtype)
        e[k // n, k % n] = 1
        form[:, k] = _expm(_block(a, e))[:n, n:].ravel()
    return linalg.norm(form, 2) * linalg.norm(a) / linalg.norm(_expm(a))


def cosm(A: Any) -> Any:
    """`scipy.linalg.cosm`."""
    a = validated(A, False)
    square(a)
    if np.iscomplexobj(a):
        return 0.5 * (_expm(1j * a) + _expm(-1j * a))
    return _expm(1j * a).real.copy()


def sinm(A: Any) -> Any:
    """`scipy.linalg.sinm`."""
    a = validated(A, False)
    square(a)
    if np.iscomplexobj(a):
        return -0.5j * (_expm(1j * a) - _expm(-1j * a))
    return _expm(1j * a).imag.copy()


def coshm(A: Any) -> Any:
    """`scipy.linalg.coshm`."""
    a = validated(A, False)
    square(a)
    return 0.5 * (_expm(a) + _expm(-a))


def sinhm(A: Any) -> Any:
    """`scipy.linalg.sinhm`."""
    a = validated(A, False)
    square(a)
    return 0.5 * (_expm(a) - _expm(-a))


# --- square root ----------------------------------------------------------------------------------


def _root_of_triangle(t: Any) -> Any:
    """Return the root of an upper triangle, by columns (Å. Björck, S. Hammarling, 1983)."""
    columns = np.triu(t).T.copy()
    for j in range(columns.shape[0]):
        columns[j, j] = np.sqrt(columns[j, j])
        for r in range(j):
            i = j - 1 - r
            x = columns[j, i]
            if x != 0:
                x /= columns[i, i] + columns[j, j]
            columns[j, i] = x
            columns[j, :i] -= x * columns[i, :i]
    return columns.T.copy()


def _is_real(x: Any) -> Any:
    size = np.max(np.abs(x), initial=0.0)
    return not np.max(np.abs(x.imag), initial=0.0) > size * np.sqrt(precision(x.real))


@exact()
def root(a: Any, x: Any, tx: Any, ty: Any, ux: Any, uy: Any) -> Any:
    """Return the root `x` of a real matrix; it has the triangle and vectors that follow."""
    return x.copy()


def _root_record(a: Any, x: Any, tx: Any, ty: Any, ux: Any, uy: Any) -> Any:
    return root(a, x, tx, ty, ux, uy), (a, x, tx, ty, ux, uy)


def _root_reverse(kept: Any, ct: Any) -> Any:
    a, x, tx, ty, ux, uy = kept
    y = root(a, x, tx, ty, ux, uy)
    found = sylvester(y, y, tx, ty, ux, uy, tx, ty, ux, uy, ct, True)
    return found, None, None, None, None, None


def _root_tangent(primals: Any, tangents: Any) -> Any:
    a, x, tx, ty, ux, uy = primals
    y = root(a, x, tx, ty, ux, uy)
    return y, sylvester(y, y, tx, ty, ux, uy, tx, ty, ux, uy, tangents[0], False)


root.define(_root_record, _root_reverse, _root_tangent)


def _sqrtm(a: Any) -> Any:
    tx, ty, ux, uy = triangles(a)
    t, u = _root_of_triangle(joined(tx, ty)), joined(ux, uy)
    x = u @ t @ u.conj().T
    if np.iscomplexobj(a):
        form = real_form(x)
        rx, ry, vx, vy = triangles(form)
        return halves(root(real_form(a), form, rx, ry, vx, vy)[:, : a.shape[0]])
    if not _is_real(x):
        raise Unsupported(
            "the complex `scipy.linalg.sqrtm` of a real matrix (with negative eigenvalues)",
            "pass `a.astype(complex)`",
        )
    return root(a, x.real.copy(), t.real.copy(), t.imag.copy(), ux, uy)


def sqrtm(A: Any) -> Any:
    """`scipy.linalg.sqrtm`."""
    a = validated(A, False)
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return of_each(_sqrtm, a)


# --- logarithm ------------------------------------------------------------------------------------

# Gauss's nodes on [0, 1], which the partial fractions of the Padé approximant have.
_NODES = (
    0.0254460438286207, 0.12923440720030277, 0.2970774243113014,
    0.5, 0.7029225756886985, 0.8707655927996972,
    0.9745539561713793,
)  # fmt: skip
_WEIGHTS = (
    0.06474248308443487, 0.13985269574463843, 0.19091502525255935,
    0.20897959183673465, 0.19091502525255935, 0.13985269574463843,
    0.06474248308443487,
)  # fmt: skip


def _divided(t: Any, node: float) -> Any:
    """Return the product of the inverse of ``1 + node * t`` and `t`, an upper triangle."""
    given = t.T.copy()
    columns = given.copy()
    for j in range(columns.shape[0]):
        for r in range(j + 1):
            i = j - r
            x = columns[j, i] / (1 + node * given[i, i])
            columns[j, i] = x
            columns[j, :i] -= node * x * given[i, :i]
    return columns.T.copy()


def _log_of_triangle(t: Any) -> Any:
    n = t.shape[0]
    unit = np.eye(n, dtype=t.dtype)
    x = t
    s = 0
    while s < 100 and _norm(x - unit) > 0.25:
        x = _root_of_triangle(x)
        s += 1
    found = np.zeros((n, n), t.dtype)
    for k in range(7):
        found += _WEIGHTS[k] * _divided(x - unit, _NODES[k])
    found *= 2.0**s
    for i in range(n):
        found[i, i] = np.log(t[i, i])
    return found


@exact()
def logarithm(re: Any, im: Any) -> Any:
    """Return both parts of the logarithm, and 1 if it failed, else 0."""
    tx, ty, ux, uy, failed = schur_parts(re, im)
    u = joined(ux, uy)
    found = u @ _log_of_triangle(joined(tx, ty)) @ u.conj().T
    return found.real.copy(), found.imag.copy(), failed


def _logarithm_record(re: Any, im: Any) -> Any:
    return logarithm(re, im), (re, im)


def _moved(re: Any, im: Any, x: Any, y: Any) -> Any:
    """Return the derivative of the logarithm in a direction."""
    n = re.shape[0]
    scale = max(_scale(x), _scale(y))
    found = logarithm(_block(re, x / scale), _block(im, y / scale))
    return (found[0][:n, n:] * scale).copy(), (found[1][:n, n:] * scale).copy()


def _logarithm_reverse(kept: Any, cts: Any) -> Any:
    return _moved(kept[0].T.copy(), -kept[1].T, cts[0], cts[1])


def _logarithm_tangent(primals: Any, tangents: Any) -> Any:
    re, im = primals
    x, y = _moved(re, im, tangents[0], tangents[1])
    return logarithm(re, im), (x, y, None)


logarithm.define(_logarithm_record, _logarithm_reverse, _logarithm_tangent)


def _logm(a: Any) -> Any:
    if np.iscomplexobj(a):
        x, y, failed = logarithm(a.real.copy(), a.imag.copy())
    else:
        x, y, failed = logarithm(a, np.zeros(a.shape, a.dtype))
    if failed != 0:
        raise np.linalg.LinAlgError("Schur form not found. Possibly ill-conditioned.")
    if np.iscomplexobj(a):
        return joined(x, y)
    if not _is_real(joined(stop_gradient(x), stop_gradient(y))):
        raise Unsupported(
            "the complex `scipy.linalg.logm` of a real matrix (with negative eigenvalues)",
            "pass `a.astype(complex)`",
        )
    return x


def logm(A: Any) -> Any:
    """`scipy.linalg.logm`, in double precision like SciPy's."""
    a = validated(A, False)
    if a.shape[0] != a.shape[1]:
        raise ValueError("expected a square matrix")
    return _logm(a.astype(np.complex128 if np.iscomplexobj(a) else np.float64))


# --- powers ---------------------------------------------------------------------------------------


def _require_real_power(a: Any) -> None:
    """Refuse a real matrix whose fractional powers are complex in SciPy."""
    tx, ty, _, _ = triangles(a)
    x, y = np.diagonal(tx), np.diagonal(ty)
    size = np.max(np.abs(x), initial=0.0)
    if np.any(x <= 0.0) or np.any(np.abs(y) > 1e-13 * size):
        raise Unsupported(
            "a fractional power of a real matrix whose eigenvalues are not all real and positive",
            "pass `a.astype(complex)`",
        )


def fractional_matrix_power(A: Any, t: Any) -> Any:
    """`scipy.linalg.fractional_matrix_power`, by the logarithm.

    The whole part of a power is a product. SciPy's results are in double precision.
    """
    if A.shape[0] != A.shape[1]:
        raise ValueError("expected square array_like input")
    if A.shape[0] == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    if isinstance(t, int):
        return np.linalg.matrix_power(A, t)
    if A.dtype.kind != "f" and not np.iscomplexobj(A):
        raise Unsupported(
            "a power of a matrix of integers, whose type depends on the exponent,",
            "convert it with `.astype(float)`",
        )
    a = validated(A).astype(np.complex128 if np.iscomplexobj(A) else np.float64)
    if not np.iscomplexobj(a):
        _require_real_power(a)
    elif np.any(np.abs(np.diagonal(_triangle(a))) == 0.0):
        raise Unsupported("a fractional power of a singular matrix", "add a small multiple of one")
    whole = int(stop_gradient(t))
    rest = expm((t - whole) * _logm(a))
    return np.linalg.matrix_power(a, whole) @ rest


def _triangle(a: Any) -> Any:
    tx, ty, _, _ = triangles(a)
    return joined(tx, ty)
