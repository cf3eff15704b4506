"""Programs that use functions of NumPy which `adc.library.arrays` has in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.arrays.array_programs import I4, M33, M34, P33, weighted
from tests.corpus.program import P4, X3, X6, Program, recorder

COMPOSED_PROGRAMS: list[Program] = []
program = recorder(COMPOSED_PROGRAMS)

Y6 = np.array([0.2, 0.9, -1.1, 0.35, 1.4, -0.6])
WITH_NAN = np.array([[0.5, np.nan, 2.0], [np.nan, np.nan, -1.5], [0.25, 3.0, 1.0]])


@program(WITH_NAN, X6, argnums=(1,))
def reductions_without_nan(m: Any, x: Any) -> Any:
    a = m + x[:3]
    total = np.nansum(a) * np.nanmean(a) + weighted(np.nanmean(a, axis=1))
    total += np.nanprod(a) + weighted(np.nanmax(a, axis=0)) - np.nanmin(a) * np.nanstd(a)
    total += weighted(np.nanvar(a, axis=1, keepdims=True)[::2]) + np.nanmedian(a)
    return total + weighted(np.nancumsum(a, axis=0)) + weighted(np.nancumprod(x + 0.0 * x))


@program(WITH_NAN, X3, argnums=(1,))
def quantiles_without_nan(m: Any, x: Any) -> Any:
    a = np.sin(x) + m
    total = np.nanquantile(a, 0.3) + weighted(np.nanpercentile(a, 60.0, axis=1))
    total += weighted(np.nanpercentile(a, [20.0, 85.0], axis=0, method="hazen")[1])
    return total * a[np.nanargmax(a, axis=0)[1], 1] + np.nanmedian(a, axis=0)[2]


@program(X6, np.array([0.15, 0.62]), argnums=(0, 1))
def several_quantiles(x: Any, q: Any) -> Any:
    spread = np.percentile(x, [25, 75])
    total = weighted(np.quantile(x * x, q, method="weibull")) + spread[1] - spread[0]
    return total + np.quantile(x, q, method="midpoint")[0]


@program(P4, X3, argnums=(0, 1))
def polynomials(p: Any, x: Any) -> Any:
    total = np.polyval(p, x[0]) + weighted(np.polyval(p, x))
    total += weighted(np.polyadd(p, x)) + weighted(np.polysub(x, p)) + weighted(np.polymul(p, x))
    quotient, rest = np.polydiv(p, x)
    total += weighted(quotient) + weighted(rest) + weighted(np.poly(x))
    return total + weighted(np.polyder(p, 2)) + weighted(np.polyint(p, 2, x))


@program(X3, P4, argnums=(0, 1))
def polynomials_as_objects(x: Any, p: Any) -> Any:
    q = np.poly1d(p)
    slope = q.deriv()
    product = (q * slope + 2.0 * q) ** 2 - q
    total = weighted(product(x)) + q.integ(2, 0.5)(x[0]) + slope[1] * q.order
    return total + np.max(np.abs(q.r)) + np.polyval(q, x[1])


@program(X3, P4, argnums=(0, 1))
def series_as_objects(x: Any, p: Any) -> Any:
    q = np.polynomial.Polynomial(p, [0.0, 3.0])
    fitted = np.polynomial.Polynomial.fit(x, np.sin(x), 2)
    rest = divmod(q * q, np.polynomial.Polynomial([x[0], 2.0], [0.0, 3.0]))[1]
    total = weighted(q(x)) + q.deriv()(x[1]) + q.integ(lbnd=0.5)(x[2]) + rest.coef[0]
    return total + fitted(0.3) + np.sum(fitted.convert().coef) + weighted(np.abs(q.roots()))


@program(X6, Y6, argnums=(0, 1))
def fitted_polynomial(x: Any, y: Any) -> Any:
    c = np.polyfit(x, y, 2)
    return weighted(c) + np.polyval(np.polyfit(x, y, 1, w=np.cos(y)), 0.3)


@program(X6, M33, argnums=(0, 1))
def edited_arrays(x: Any, m: Any) -> Any:
    total = weighted(np.delete(x, [0, 3])) + weighted(np.delete(m, 1, axis=1))
    total += weighted(np.insert(x, 2, m[0])) + weighted(np.insert(m, 1, x[:3], axis=0))
    total += weighted(np.insert(x, [1, 4], m[1, :2])) + weighted(np.resize(x, (4, 4)))
    total += weighted(np.ediff1d(x, to_begin=m[0, 0])) + weighted(np.diagflat(x[:2], 1))
    total += weighted(np.trim_zeros(np.concatenate((np.zeros(2), x, np.zeros(1)))))
    a, b = np.broadcast_arrays(x[:3], m)
    return total + weighted(a * b) + weighted(np.block([[m, m * 2.0], [m[:1], x[None, :3]]]))


@program(X6, M33, argnums=(0, 1))
def chosen_elements(x: Any, m: Any) -> Any:
    y = x.copy()
    np.place(y, y > 0.5, m[0])
    total = weighted(y) + weighted(np.choose([0, 1, 1], [x[:3], m[2]]))
    total += weighted(np.choose(np.array([2, 0, 1]), m)) + np.partition(x, 2)[2] * x[1]
    z = m.copy()
    z.partition(1)
    y.flat[2] = x[0] * x[1]
    return total + weighted(z[:, 1]) + weighted(x[np.argpartition(x, 1)[:1]]) + weighted(y)


@program(M33)
def places_of_elements(m: Any) -> Any:
    total = weighted(m[np.tril_indices(3)]) + weighted(m[np.triu_indices_from(m, 1)])
    total += weighted(m[np.diag_indices(3)] ** 2) + weighted(m[np.mask_indices(3, np.tril, -1)])
    largest = m[np.unravel_index(np.argmax(m), m.shape)]
    flat = m.ravel()[np.ravel_multi_index(([0, 1], [1, 2]), m.shape)]
    for i, j in np.ndindex(2, 3):
        total += m[i, j] * (i + j)
    for at, u in np.ndenumerate(m):
        total += u * u * at[1]
    return total + largest**2 + weighted(flat) + weighted(m[0][np.lexsort((m[0], m[1]))])


@program(X6, I4)
def sets_of_elements(x: Any, k: Any) -> Any:
    values, first, inverse, counts = np.unique(x * x, True, True, True)
    total = weighted(values) + weighted(x[first]) + weighted(values[inverse]) + np.sum(counts)
    total += weighted(np.union1d(x, x[:2] + 0.37)) + weighted(np.setdiff1d(x, x[1:3]))
    total += weighted(np.intersect1d(x, x[2:5]))
    return total + weighted(x[np.isin(np.arange(6), k)])


@program(X6, M34, argnums=(0, 1))
def samples(x: Any, m: Any) -> Any:
    total = weighted(np.unwrap(3.0 * x)) + weighted(np.unwrap(4.0 * m, axis=0, period=2.0))
    total += weighted(np.correlate(x, m[0])) + weighted(np.correlate(m[1], x, "same"))
    total += weighted(np.correlate(x, m[0], "full")) + weighted(np.geomspace(x[0], x[2], 4))
    total += weighted(np.cumulative_sum(m, axis=1, include_initial=True))
    total += weighted(np.cumulative_prod(x)) + weighted(np.histogram_bin_edges(x, 3))
    counts, _ = np.histogram(np.arange(6.0), 3, weights=x)
    return total + weighted(counts * counts)


@program(M33, P33, argnums=(0, 1))
def products_of_vectors(a: Any, b: Any) -> Any:
    total = weighted(np.vecdot(a, b)) + weighted(np.matvec(a, b[0])) + weighted(np.vecmat(a, b))
    total += weighted(np.matvec(np.stack((a, b)), a[1]))
    return total + weighted(np.kaiser(5, b[0, 0])) + weighted(np.r_[a[0], 1.0, b[1]])


@program(X6)
def parts_of_numbers(x: Any) -> Any:
    rest, whole = np.modf(3.0 * x)
    part, power = np.frexp(x)
    total = weighted(rest) + np.sum(whole) + weighted(part) * np.sum(power)
    total += weighted(np.ldexp(x, 3)) + weighted(np.conj(x)) + np.sum(np.angle(x)) * x[0]
    total += weighted(np.real(x)) + weighted(np.imag(x)) + np.sum(np.spacing(x))
    scale = np.finfo(x.dtype).eps * 1e16 if np.issubdtype(x.dtype, np.floating) else 0.0
    return total * scale + weighted(np.c_[x[:3], x[3:]])


def _norm(v: Any) -> Any:
    return np.sqrt(np.sum(v * v))


@program(M34, X3, argnums=(0, 1))
def applied_functions(m: Any, x: Any) -> Any:
    total = weighted(np.apply_along_axis(_norm, 0, m))
    total += weighted(np.apply_along_axis(lambda u: np.outer(u, u), 1, m))
    total += weighted(np.apply_over_axes(np.sum, m, [0]))
    soft = np.vectorize(lambda u, t: u * t if u > t else t * t * u)
    total += weighted(soft(m, x[:, None])) + weighted(np.fromiter((u * u for u in x), float))
    total += weighted(np.piecewise(m, [m < 0.0, m > 0.5], [lambda u: -u * u, np.sin, 0.25]))
    return total + weighted(np.fromfunction(lambda i, j: i * x[0] + j * x[1], (2, 3)))


@program(M34, X6, argnums=(0, 1))
def methods_of_functions(m: Any, x: Any) -> Any:
    total = weighted(np.subtract.reduce(m)) + weighted(np.logaddexp.reduce(m, axis=1))
    total += weighted(np.maximum.accumulate(x)) + weighted(np.hypot.accumulate(m, axis=1))
    total += weighted(np.add.reduceat(x, [0, 2, 5])) + weighted(np.multiply.reduceat(m, [0, 1]))
    total += weighted(np.divide.outer(x, m[0] + 3.0)) + np.divide.reduce(x)
    return total + np.fmin.reduce(x, initial=2.0) + weighted(np.power.outer(x * x, m[1]))


@program(X6, Y6, argnums=(0, 1))
def functions_with_keywords(x: Any, y: Any) -> Any:
    out = np.zeros(6)
    np.divide(x, y - y[0], out=out, where=y > y[0])
    total = weighted(out)
    np.sqrt(x, out=out, where=x > 0.0)
    total += weighted(out) + weighted(np.log(x, where=x > 1.0, out=x * y))
    np.multiply(x, y, out=out)
    out = np.add(out, x, out=out, dtype=np.float64)
    return total + weighted(out) + np.sum(x, where=[True, False] * 3) * np.max(y, initial=1.0)


@program(P4, X3, argnums=(0, 1))
def series(c: Any, x: Any) -> Any:
    basis = np.polynomial
    total = weighted(basis.polynomial.polyval(x, c)) + weighted(basis.chebyshev.chebval(x, c))
    total += weighted(basis.legendre.legval(x, c)) + weighted(basis.hermite.hermval(x, c))
    total += weighted(basis.hermite_e.hermeval(x, c)) + weighted(basis.laguerre.lagval(x, c))
    m = c.reshape(2, 2) * 0.5
    total += weighted(basis.chebyshev.chebgrid2d(x, c[:2], m))
    return total + weighted(basis.polynomial.polyval2d(x, x * x, m))
