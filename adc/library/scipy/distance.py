"""Distances of `scipy.spatial.distance`: of two vectors, and of all pairs of rows.

The distance of a point to itself is zero wherever it is, so it has derivatives of zero. That is
also adc's choice, one of the possible ones, for different points at one place, where a length has a
kink.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _root(x: Any) -> Any:
    return np.sqrt(x) if x > 0 else 0.0 * x


# --- of two vectors: weights are None or a vector, `more` is what some metrics depend on ----------


def sqeuclidean(u: Any, v: Any, w: Any = None, more: Any = None) -> Any:
    d = u - v
    return np.sum(d * d) if w is None else np.sum(w * d * d)


def euclidean(u: Any, v: Any, w: Any = None, more: Any = None) -> Any:
    return _root(sqeuclidean(u, v, w))


def cityblock(u: Any, v: Any, w: Any = None, more: Any = None) -> Any:
    d = np.abs(u - v)
    return np.sum(d) if w is None else np.sum(w * d)


def chebyshev(u: Any, v: Any, w: Any = None, more: Any = None) -> Any:
    d = np.abs(u - v)
    return np.max(d, initial=0.0) if w is None else np.max(np.where(w > 0, d, 0.0), initial=0.0)


def minkowski(u: Any, v: Any, w: Any = None, more: Any = 2.0) -> Any:
    if more <= 0:
        raise ValueError("p must be greater than 0")
    if more == np.inf:
        return chebyshev(u, v, w)
    d = np.abs(u - v) ** more
    s = np.sum(d) if w is None else np.sum(w * d)
    return s ** (1.0 / more) if s > 0 else 0.0 * s


def cosine(u: Any, v: Any, w: Any = None, more: Any = None) -> Any:
    x, y = (u, v) if w is None else (w * u, w * v)
    found = 1.0 - np.sum(u * y) / np.sqrt(np.sum(u * x) * np.sum(v * y))
    return np.clip(found, 0.0, 2.0)


def correlation(u: Any, v: Any, w: Any = None, more: Any = None) -> Any:
    if w is None:
        return cosine(u - np.mean(u), v - np.mean(v))
    w = w / np.sum(w)
    return cosine(u - np.sum(w * u), v - np.sum(w * v), w)


def uncentered(u: Any, v: Any, w: Any = None, more: Any = None) -> Any:
    """`scipy.spatial.distance.correlation` with `centered=False`."""
    return cosine(u, v, w)


def canberra(u: Any, v: Any, w: Any = None, more: Any = None) -> Any:
    found = 0.0
    for k in range(u.shape[0]):
        size = abs(u[k]) + abs(v[k])
        if size > 0:
            part = abs(u[k] - v[k]) / size
            found += part if w is None else w[k] * part
    return found


def braycurtis(u: Any, v: Any, w: Any = None, more: Any = None) -> Any:
    near, far = np.abs(u - v), np.abs(u + v)
    if w is None:
        return np.sum(near) / np.sum(far)
    return np.sum(w * near) / np.sum(w * far)


def seuclidean(u: Any, v: Any, w: Any = None, more: Any = None) -> Any:
    d = u - v
    return _root(np.sum(d * d / more))


def mahalanobis(u: Any, v: Any, w: Any = None, more: Any = None) -> Any:
    d = u - v
    return _root(np.sum(d * (more @ d)))


# --- of rows --------------------------------------------------------------------------------------


def _of_rows(x: Any) -> Any:
    if np.iscomplexobj(x):
        raise TypeError("distances of complex points are not defined")
    return x.astype(np.float64)


def _weights(w: Any, size: Any) -> None:
    if w is not None:
        if w.shape[0] != size:
            raise ValueError("Weights must have same size as input vector")
        if np.any(w < 0):
            raise ValueError("Input weights should be all non-negative")


def _both(xa: Any, xb: Any) -> Any:
    if xa.shape[1] != xb.shape[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    return _of_rows(xa), _of_rows(xb)


def of_vectors(u: Any, v: Any, metric: Any, w: Any = None, more: Any = None) -> Any:
    """Return the distance of two vectors, in their precision."""
    if np.iscomplexobj(u) or np.iscomplexobj(v):
        raise TypeError("distances of complex points are not defined")
    u = u if u.dtype.kind == "f" else u.astype(np.float64)
    v = v if v.dtype.kind == "f" else v.astype(np.float64)
    if u.shape[0] != v.shape[0]:
        raise ValueError("the vectors have different lengths")
    _weights(w, u.shape[0])
    return metric(u, v, w, more)


def length(u: Any, v: Any, metric: Any, w: Any = None, more: Any = None) -> Any:
    """Return a distance that is a norm of SciPy's, a number of Python."""
    return float(of_vectors(u, v, metric, w, more))


def cdist(
    xa: Any, xb: Any, metric: Any, w: Any = None, more: Any = None, default: Any = None
) -> Any:
    """`scipy.spatial.distance.cdist` with one of the functions above.

    `default` returns from all rows what the metric depends on, where that is not given.
    """
    xa, xb = _both(xa, xb)
    _weights(w, xa.shape[1])
    if default is not None:
        more = default(np.concatenate((xa, xb)))
    found = np.empty((xa.shape[0], xb.shape[0]))
    for i in range(xa.shape[0]):
        for j in range(xb.shape[0]):
            found[i, j] = metric(xa[i], xb[j], w, more)
    return found


def pdist(x: Any, metric: Any, w: Any = None, more: Any = None, default: Any = None) -> Any:
    """`scipy.spatial.distance.pdist`, likewise."""
    x = _of_rows(x)
    _weights(w, x.shape[1])
    if default is not None:
        more = default(x)
    n = x.shape[0]
    found = np.empty(n * (n - 1) // 2)
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            found[k] = metric(x[i], x[j], w, more)
            k += 1
    return found


def cdist_of(xa: Any, xb: Any, metric: Any) -> Any:
    """`scipy.spatial.distance.cdist` with a function of the program."""
    xa, xb = _both(xa, xb)
    found = np.empty((xa.shape[0], xb.shape[0]))
    for i in range(xa.shape[0]):
        for j in range(xb.shape[0]):
            found[i, j] = metric(xa[i], xb[j])
    return found


def pdist_of(x: Any, metric: Any) -> Any:
    """`scipy.spatial.distance.pdist`, likewise."""
    x = _of_rows(x)
    n = x.shape[0]
    found = np.empty(n * (n - 1) // 2)
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            found[k] = metric(x[i], x[j])
            k += 1
    return found


def variances(rows: Any) -> Any:
    """Return by what `seuclidean` divides squares, unless it is told."""
    return np.var(rows, axis=0, ddof=1)


def precisions(rows: Any) -> Any:
    """Return the inverse covariance matrix that `mahalanobis` uses, unless it is told."""
    return np.linalg.inv(np.cov(rows.T)).T.copy()


def squareform_of_vector(x: Any) -> Any:
    """`scipy.spatial.distance.squareform` of the distances of pairs."""
    n = int(np.ceil(np.sqrt(x.shape[0] * 2)))
    if x.shape[0] > 0 and n * (n - 1) != x.shape[0] * 2:
        raise ValueError(
            "Incompatible vector size. It must be a binomial coefficient n choose 2 for some "
            "integer n >= 2."
        )
    n = max(n, 1)
    found = np.zeros((n, n), x.dtype)
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            found[i, j] = x[k]
            found[j, i] = x[k]
            k += 1
    return found


def squareform_of_matrix(x: Any, checks: Any = True) -> Any:
    """`scipy.spatial.distance.squareform` of a matrix of distances: its upper triangle."""
    n = x.shape[0]
    if n != x.shape[1]:
        raise ValueError("The matrix argument must be square.")
    if checks:
        if not np.all(x == x.T):
            raise ValueError("Distance matrix 'X' must be symmetric.")
        if np.any(np.diagonal(x) != 0):
            raise ValueError("Distance matrix 'X' diagonal must be zero.")
    found = np.zeros(n * (n - 1) // 2, x.dtype)
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            found[k] = x[i, j]
            k += 1
    return found
