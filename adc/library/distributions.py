"""The distributions of NumPy's random generators, bit for bit: from standard draws (`random`).

A function takes a source of words, then the parameters. Parameters of draws by rejection go through
`by_rejection`: they have no derivative. The algorithms are NumPy's
(``numpy/random/src/distributions``, ``legacy``), in its order of operations; those of a
`RandomState` differ in a few places (`legacy`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adc.library.random import (
    by_rejection,
    libm_exp,
    libm_log,
    libm_log1p,
    libm_pow,
    random64,
)

# -- standard distributions: others are offset + scale * z -----------------------------------------


def laplace64(bits: Any) -> Any:
    """Draw from the standard Laplace distribution."""
    u = random64(bits)
    while u == 0.0:
        u = random64(bits)
    if u >= 0.5:
        return -libm_log(2.0 - u - u)
    return libm_log(u + u)


def logistic64(bits: Any) -> Any:
    """Draw from the standard logistic distribution."""
    u = random64(bits)
    while u == 0.0:
        u = random64(bits)
    return libm_log(u / (1.0 - u))


def gumbel64(bits: Any) -> Any:
    """Draw from the standard Gumbel distribution."""
    u = random64(bits)
    while u == 0.0:
        u = random64(bits)
    return -libm_log(-libm_log(1.0 - u))


def cauchy64(bits: Any) -> Any:
    """Draw from the standard Cauchy distribution."""
    x = bits.normal()
    y = bits.normal()
    return x / y


def rayleigh64(bits: Any) -> Any:
    """Draw from the standard Rayleigh distribution."""
    if bits.legacy:
        return np.sqrt(-2.0 * libm_log1p(-random64(bits)))
    return np.sqrt(2.0 * bits.exponential())


def weibull64(bits: Any, a: Any) -> Any:
    """Draw from the Weibull distribution; nothing is drawn for the shape 0."""
    if a == 0.0:
        return np.float64(0.0)
    x = bits.exponential()
    return libm_pow(x, 1.0 / a)


# -- by rejection ----------------------------------------------------------------------------------


def gamma64(bits: Any, given: Any) -> Any:
    """Draw from the standard gamma distribution (Marsaglia and Tsang, 2000)."""
    shape = by_rejection(given)
    if shape == 1.0:
        return bits.exponential()
    if shape == 0.0:
        return np.float64(0.0)
    if shape < 1.0:
        while True:
            u = random64(bits)
            v = bits.exponential()
            if u <= 1.0 - shape:
                x = libm_pow(u, 1.0 / shape)
                if x <= v:
                    return x
            else:
                y = -libm_log((1.0 - u) / shape)
                x = libm_pow(1.0 - shape + shape * y, 1.0 / shape)
                if x <= v + y:
                    return x
    b = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * b)
    while True:
        x = bits.normal()
        v = 1.0 + c * x
        while v <= 0.0:
            x = bits.normal()
            v = 1.0 + c * x
        v = v * v * v
        u = random64(bits)
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return b * v
        if libm_log(u) < 0.5 * x * x + b * (1.0 - v + libm_log(v)):
            return b * v


def beta64(bits: Any, first: Any, second: Any) -> Any:
    """Draw from the beta distribution (Johnk, 1964, if both parameters are at most 1)."""
    a, b = by_rejection(first), by_rejection(second)
    if a <= 1.0 and b <= 1.0:
        while True:
            u = random64(bits)
            v = random64(bits)
            x, y = libm_pow(u, 1.0 / a), libm_pow(v, 1.0 / b)
            both = x + y
            if both <= 1.0 and (bits.legacy or u + v > 0.0):
                if both > 0.0 if bits.legacy else x > 0.0 and y > 0.0:
                    return x / both
                p, q = libm_log(u) / a, libm_log(v) / b
                most = p if p > q else q
                p -= most
                q -= most
                return libm_exp(p - libm_log(libm_exp(p) + libm_exp(q)))
    x = gamma64(bits, a)
    y = gamma64(bits, b)
    return x / (x + y)


def student64(bits: Any, freedom: Any) -> Any:
    """Draw from Student's t distribution."""
    df = by_rejection(freedom)
    z = bits.normal()
    w = gamma64(bits, df / 2.0)
    return np.sqrt(df / 2.0) * z / np.sqrt(w)


def f64(bits: Any, first: Any, second: Any) -> Any:
    """Draw from the F distribution."""
    p, q = by_rejection(first), by_rejection(second)
    x = gamma64(bits, p / 2.0)
    y = gamma64(bits, q / 2.0)
    return (2.0 * x * q) / (2.0 * y * p)


def dirichlet(bits: Any, found: Any, given: Any) -> Any:
    """Fill the rows of `found` with draws from the Dirichlet distribution."""
    n = len(given)
    for k in range(len(found)):
        if not bits.legacy and np.max(given) < 0.1:
            # Parts of what is left: sums of small gamma draws may be zero.
            left = 1.0
            rest = np.sum(given)
            for j in range(n - 1):
                rest = np.sum(given[j + 1 :])
                x = beta64(bits, given[j], rest)
                found[k, j] = left * x
                left *= 1.0 - x
            found[k, n - 1] = left
        else:
            total = 0.0
            for j in range(n):
                x = gamma64(bits, given[j])
                found[k, j] = x
                total = total + x
            part = 1.0 / total
            for j in range(n):
                found[k, j] = found[k, j] * part
    return np.float64(0.0)


# -- integers --------------------------------------------------------------------------------------


def _log_gamma(x: Any) -> Any:
    """Return the logarithm of the gamma function (Zhang and Jin, 1996)."""
    if x == 1.0 or x == 2.0:
        return 0.0
    n = int(7 - x) if x < 7.0 else 0
    at = x + n
    inverse = (1.0 / at) * (1.0 / at)
    total = -1.39243221690590e00
    for a in (
        1.796443723688307e-01, -2.955065359477124e-02, 6.410256410256410e-03,
        -1.917526917526918e-03, 8.417508417508418e-04, -5.952380952380952e-04,
        7.936507936507937e-04, -2.777777777777778e-03, 8.333333333333333e-02,
    ):  # fmt: skip
        total *= inverse
        total += a
    found = total / at + 0.5 * 1.8378770664093453 + (at - 0.5) * libm_log(at) - at
    if x < 7.0:
        for _k in range(n):
            found -= libm_log(at - 1.0)
            at -= 1.0
    return found


def poisson64(bits: Any, lam: Any) -> Any:
    """Draw from the Poisson distribution (Hoermann, 1993, for 10 and more)."""
    if lam == 0.0:
        return np.int64(0)
    if lam < 10.0:
        least = libm_exp(-lam)
        count = np.int64(0)
        product = np.float64(1.0)
        while True:
            u = random64(bits)
            product = product * u
            if not product > least:
                return count
            count = count + np.int64(1)
    logarithm = libm_log(lam)
    b = 0.931 + 2.53 * np.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    rare = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = random64(bits)
        u = u - 0.5
        v = random64(bits)
        near = 0.5 - np.abs(u)
        k = np.floor((2.0 * a / near + b) * u + lam + 0.43)
        if near >= 0.07 and v <= rare:
            return np.int64(k)
        if k < 0.0 or (near < 0.013 and v > near):
            continue
        left = libm_log(v) + libm_log(inverse) - libm_log(a / (near * near) + b)
        if left <= -lam + k * logarithm - _log_gamma(k + 1.0):
            return np.int64(k)


def geometric64(bits: Any, p: Any) -> Any:
    """Draw from the geometric distribution."""
    if p >= 0.333333333333333333333333:
        count = np.int64(1)
        total, product = p, p
        u = random64(bits)
        while u > total:
            product = product * (1.0 - p)
            total = total + product
            count = count + np.int64(1)
        return count
    if bits.legacy:
        return np.int64(np.ceil(libm_log1p(-random64(bits)) / libm_log(1.0 - p)))
    x = bits.exponential()
    z = np.ceil(-x / libm_log1p(-p))
    if z >= 9.223372036854776e18:
        return np.int64(9223372036854775807)
    return np.int64(z)


def binomial64(bits: Any, n: Any, p: Any) -> Any:
    """Draw from the binomial distribution."""
    if not bits.legacy and (n == 0 or p == 0.0):
        return np.int64(0)
    q = p if p <= 0.5 else 1.0 - p
    if q * n <= 30.0:
        count = _by_inversion(bits, n, q)
    else:
        count = _by_transformed_rejection(bits, n, q)
    return count if p <= 0.5 else n - count


def _by_inversion(bits: Any, n: Any, p: Any) -> Any:
    q = 1.0 - p
    none = libm_exp(n * libm_log1p(-p))
    mean = n * p
    bound = np.int64(min(np.float64(n), mean + 10.0 * np.sqrt(mean * q + 1.0)))
    count = np.int64(0)
    part = none
    u = random64(bits)
    while u > part:
        count = count + np.int64(1)
        if count > bound:
            count = np.int64(0)
            part = none
            u = random64(bits)
        else:
            u = u - part
            part = ((n - count + 1) * p * part) / (count * q)
    return count


def _correction(x: Any) -> Any:
    y = x * x
    found = 13680.0 - (462.0 - (132.0 - (99.0 - 140.0 / y) / y) / y) / y
    return found / x / 166320.0


def _by_transformed_rejection(bits: Any, n: Any, p: Any) -> Any:
    """Draw by BTPE (Kachitvichyanukul and Schmeiser, 1988)."""
    r = min(p, 1.0 - p)
    q = 1.0 - r
    mode = n * r + r
    m = np.floor(mode)
    p1 = np.floor(2.195 * np.sqrt(n * r * q) - 4.6 * q) + 0.5
    middle = m + 0.5
    left, right = middle - p1, middle + p1
    c = 0.134 + 20.5 / (15.3 + m)
    a = (mode - left) / (mode - left * r)
    slope_left = a * (1.0 + a / 2.0)
    a = (right - mode) / (right * q)
    slope_right = a * (1.0 + a / 2.0)
    p2 = p1 * (1.0 + 2.0 * c)
    p3 = p2 + c / slope_left
    p4 = p3 + c / slope_right
    spread = n * r * q
    while True:
        u = random64(bits)
        u = u * p4
        v = random64(bits)
        if u <= p1:
            return np.int64(np.floor(middle - p1 * v + u))
        if u <= p2:
            x = left + (u - p1) / c
            v = v * c + 1.0 - np.abs(m - x + 0.5) / p1
            if v > 1.0:
                continue
            y = np.floor(x)
        elif u <= p3:
            y = np.floor(left + libm_log(v) / slope_left)
            if y < 0.0 or v == 0.0:
                continue
            v = v * (u - p2) * slope_left
        else:
            y = np.floor(right - libm_log(v) / slope_right)
            if y > n or v == 0.0:
                continue
            v = v * (u - p3) * slope_right
        if _is_accepted(n, m, y, v, r, q, spread, middle):
            return np.int64(y)


def _is_accepted(n: Any, m: Any, y: Any, v: Any, r: Any, q: Any, spread: Any, middle: Any) -> Any:
    k = np.abs(y - m)
    if not (k > 20.0 and k < spread / 2.0 - 1.0):
        s = r / q
        a = s * (n + 1)
        f = np.float64(1.0)
        if m < y:
            for i in range(int(m) + 1, int(y) + 1):
                f *= a / i - s
        elif m > y:
            for i in range(int(y) + 1, int(m) + 1):
                f /= a / i - s
        return v <= f
    rho = (k / spread) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / spread + 0.5)
    t = -k * k / (2.0 * spread)
    logarithm = libm_log(v)
    if logarithm < t - rho:
        return True
    if logarithm > t + rho:
        return False
    x1, f1, z, w = y + 1.0, m + 1.0, n + 1.0 - m, n - y + 1.0
    limit = (
        middle * libm_log(f1 / x1) + (n - m + 0.5) * libm_log(z / w)
        + (y - m) * libm_log(w * r / (x1 * q))
        + _correction(f1) + _correction(z) + _correction(x1) + _correction(w)
    )  # fmt: skip
    return logarithm <= limit


# -- checks of parameters --------------------------------------------------------------------------


def require_positive(x: Any, name: str) -> None:
    """Raise the error of a parameter that must be positive."""
    if np.any(np.logical_not(np.isnan(x)) & (x <= 0.0)):
        raise ValueError(f"{name} <= 0")


def require_not_negative(x: Any, name: str) -> None:
    """Raise the error of a parameter that must not be negative."""
    if np.any(np.signbit(x) & np.logical_not(np.isnan(x))):
        raise ValueError(f"{name} < 0")


def require_probability(x: Any, name: str) -> None:
    """Raise the error of a parameter that must be a probability."""
    if not np.all((x >= 0.0) & (x <= 1.0)):
        raise ValueError(f"{name} < 0, {name} > 1 or {name} is NaN")


def require_possible(x: Any, name: str) -> None:
    """Raise the error of a parameter that must be a positive probability."""
    if not np.all((x > 0.0) & (x <= 1.0)):
        raise ValueError(f"{name} <= 0, {name} > 1 or {name} contains NaNs")


def require_rate(x: Any, name: str) -> None:
    """Raise the error of a parameter of the Poisson distribution."""
    if not np.all(x >= 0.0):
        raise ValueError(f"{name} < 0 or {name} is NaN")
    if np.any(x > 9.223372006484771e18):
        raise ValueError(f"{name} value too large")


def require_count(x: Any, name: str) -> None:
    """Raise the error of a number of trials that is negative."""
    if np.any(x < 0):
        raise ValueError(f"{name} < 0")


def require_order(left: Any, mode: Any, right: Any) -> None:
    """Raise the errors of the parameters of a triangular distribution."""
    if np.any(left > mode):
        raise ValueError("left > mode")
    if np.any(mode > right):
        raise ValueError("mode > right")
    if np.any(left == right):
        raise ValueError("left == right")


def normals(mean: Any, cov: Any, z: Any) -> Any:
    """Return draws from the normal distribution of vectors from standard ones."""
    if mean.ndim != 1:
        raise ValueError("mean must be 1 dimensional")
    if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
        raise ValueError("cov must be 2 dimensional and square")
    if mean.shape[0] != cov.shape[0]:
        raise ValueError("mean and cov must have same length")
    return mean + z @ np.linalg.cholesky(cov).T
