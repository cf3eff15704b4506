"""Numbers of Python's and NumPy's: operators, `round`, `math`, complex ones."""

LIKE: dict[str, str] = {
    "x=1.5": r"""
return x.is_integer(), (2.0 * x).is_integer(), np.float64(x).is_integer()

return (x * math.inf).is_integer(), np.int64(x).is_integer()

n = int(4 * x)
return n.bit_length(), (-n).bit_length(), (5).bit_length(), True.bit_length(), (n - n).bit_length()

return math.modf(x), math.modf(-2.0 * x), math.modf(math.inf * x), math.modf(-0.25)

return math.frexp(x), math.frexp(-x * 2.0**-1073), math.frexp(0.0 * x), math.frexp(-math.inf * x)

return math.ulp(x), math.ulp(-0.0 * x), math.ulp(1.7e308), math.ulp(-math.inf * x), math.ulp(4)

return math.remainder(x, 1), math.remainder(-x, 1.0), math.remainder(0.4, math.inf * x)

return math.remainder(2.0 * x, x), math.copysign(1.0, math.remainder(-3.0, x))

return math.remainder(x, 0.0)

return math.remainder(math.inf * x, 2.0)

return math.isclose(x, 1.5 + 1e-10), math.isclose(x, 1.5 + 1e-8)

return math.isclose(math.inf, math.inf * x), math.isclose(x, -math.inf)

return math.isclose(x, 1.6, rel_tol=0.1), math.isclose(x, 1.6, rel_tol=0.0, abs_tol=0.11)

return math.isclose(x, 1.6, rel_tol=-0.1)

return cmath.isclose(x + 1j, 1.5 + (1.0 + 1e-10) * 1j), cmath.isclose(x + 1j, x, rel_tol=1.0)

return cmath.isclose(1e308 * (x + 1j), 1e308 * x * 1j, abs_tol=x), cmath.isclose(math.inf * x, 1j)

return cmath.isclose(x, 1.6j, abs_tol=-0.1)

# long
return math.fsum([0.1] * 10), math.fsum([1e16, x, -1e16]), math.fsum(v * x for v in (0.1, 0.2))

return math.fsum([]), math.fsum((1.0, 2.0**-53, 2.0**-106 * x)), math.fsum([math.inf, x])

return math.fsum([math.inf * x, -math.inf])

return math.fsum([1e308, 1e308 * x, -1e308])

return math.fsum('12')

return round(x, 1), round(x, -1), round(x, None), round(-x, ndigits=0), round(number=x, ndigits=2)

return round(np.float64(x), 1), round(np.float32(x)), round(12345, -2), round(True, 1), round(7, -1)

raise ValueError(f"{round(x / 3.0, 4)} {round(2.5)} {round(1e300 * x, 2)}")

return math.lcm(4, 6, 10), math.lcm(), math.lcm(0, 3), math.lcm(-4, 6), math.gcd(), math.gcd(-4)

return math.gcd(12, 18, 8), math.gcd(True, 4), math.lcm(int(x), 7)

return abs((x + 1j) ** (x * 1j)), (0j * x) ** (x + 0j), (x * 1j) ** (x - 3.0)

return (0j * x) ** (x * 1j)

return B[0].real, B[1].imag, True.real, True.imag

return abs(-5) * x

return operator.lt(x, 2.0)

z = complex(-4 * x, 0)
return (z ** 0.5).real

return math.lgamma(-math.inf) + x

return math.gamma(-math.inf) + x

return x * np.finfo(np.float64).eps
""",
    "x=X": r"""
z = 1j * x[0]
w = x[0] * 1j
found = z, w, 2j + x[1], 1j * np.float32(2.0), 1j * np.sum(x), 2j ** x[0], z * np.float32(2.0)
return found, 1j * x, [type(v) is complex for v in found], type(x[0][...]) is np.ndarray

return np.float64(x), np.float32(x), np.int64(x), np.bool_(x > 0), np.float64([1, 2])
""",
    "x=1.5, n=3": r"""
return cmath.isnan(x * 1j), cmath.isinf(x * 1j), cmath.isfinite(complex(x, math.inf))

y = np.int32(0)
for k in range(n):
    y = np.int16(y) if k < 2 else np.int64(y)
return y
""",
    "x=1.5, q=np.array([-128, 3], np.int8)": r"""
return x * np.arange(200.0)[abs(q[0])]

y = np.arange(300.0)
s = x
for i in range(100):
    s += y[np.int8(100) + i]
return s

y = np.arange(256.0)
s = x
k = np.int8(123)
for i in range(9):
    s += y[k]
    k += 1
return s
""",
    "x=1.5, n=2": r"""
big = n > 1
kinds = (big, not big, n, 1, x, True, np.bool_(True), np.float64(x) > 1.0, [x], None, np.ones(2))
return [v is True for v in kinds]

return n > 1 is True, (n > 1) is not False, (n > 5) is False, x if (n == 2) is True else 0.0

k = 100
for _ in range(n):
    k = k // 3
return k * x

k = 5
for _ in range(n):
    k = k ^ 3
return k * x
""",
    "x=X, m=5": r"""
a, b, p, q = x[0] > 0.0, x[1] > 0.0, m > 1, m > 5
return (
    a + b, a * b, a**b, a // a, a + p, p * a, a << p, a % p,
    p + q, p * q, p - q, -p, p**q, p // p, p % p, p / p, p << q,
)

p, q = m > 1, m > 5
return p // q
""",
    "z=Z": r"""
w = z[:, None]
return z < w, z <= w, z > w, z >= w

top, low = np.maximum(z, z[::-1]), np.minimum(z, z[::-1])
return top.real, top.imag, low.real, low.imag

return z[0] < z[3], z[3] <= z[0], z[3] > z[4], z[6] >= z[2], z[2] < z[4], np.less(z[0], z[3])

# long
y = np.sort(z)
return y.real, y.imag, np.argsort(z, kind="stable"), len(np.unique(z)), np.median(z).imag

# long
y = np.sort(z)
return np.searchsorted(y, z), np.searchsorted(y, z, side="right")
""",
}
