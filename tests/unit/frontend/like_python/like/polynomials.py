"""Polynomials: `np.poly1d`, `np.polynomial.Polynomial`."""

LIKE: dict[str, str] = {
    "x=np.array([1.5, -0.5, 2.0])": r"""
p = np.poly1d(x)
return p(2.0), p[1], p[7], p[-1], len(p), p.order, p.o, p.c, p.coef

# long
p = np.poly1d([0.0, 0.0, 1.0, -2.0])
return p.coeffs, p.roots, p.r, p(x), p == np.poly1d([1.0, -2.0]), p != np.poly1d(x)

p, q = np.poly1d(x), np.poly1d([1, -3])
return (p + q).c, (p - q).c, (p * q).c, (p + 2.0).c, (2.0 - p).c, (3 * p).c, (-p).c, (+p).c

# long
p, q = np.poly1d(x), np.poly1d([1, -3])
quotient, rest = p / q
return quotient.c, rest.c, (p / 2.0).c, (p**3).c, (p**0).c, p(q).c, (p - p).c

p = np.poly1d(x)
return x[0] * p, x + p, x - p, (p * x[0]).c, (p + x).c, x[1] / p

p = np.poly1d(x)
return p.deriv().c, p.deriv(2)(0.5), p.integ().c, p.integ(2, [1.0, 3.0]).c, p.integ(k=4.0)(1.5)

p = np.poly1d(x)
p[1] = 7.0
return p.c, p(1.0), x

p = np.poly1d([1.0, 2.0, 3.0], True)
return p.c, np.polyval(p, x), np.roots(p), list(p)

return np.poly1d(x) ** -1

return np.poly1d([x, x])(1.0)

p = np.poly1d(np.polyfit(np.arange(3.0), x, 1))
return p(np.linspace(0.0, 1.0, 4)), p(3), p(np.array([[1, 2]]))

p = Polynomial(x)
return p(0.5), p(x), p([1, 2]), p.coef, p.degree(), len(p), list(p), p.domain, p.window

# long
p, q = Polynomial(x), Polynomial([1, 2])
return (p + q).coef, (p - q).coef, (p * q).coef, (2.0 * p + 1).coef, (x - p).coef, (p**2).coef

# long
p, q = Polynomial(x), Polynomial([1, 2])
return (p // q).coef, (p % q).coef, (p / 2.0).coef, (q // p).coef, [r.coef for r in divmod(p, q)]

# long
p = Polynomial(x, domain=[0.0, 4.0])
return p(1.0), p.deriv()(1.0), p.integ()(1.0), p.integ(2, [1.0], 0.5).coef, p.roots()

# long
p = Polynomial.fit(np.arange(3.0), x, 1)
return p(0.5), p.domain, p.convert().coef, p.mapparms(), p.linspace(3)[1]

# long
p = Polynomial.fromroots([1.0, 2.0, -3.0])
return p.coef, p.roots(), p.deriv(2).coef, p.deriv(7).coef, p.trim(5.0).coef, p.cutdeg(1).coef

# long
p = Polynomial(x)
return p == Polynomial(x), p == Polynomial([1.0]), p(p).coef, p.copy().coef, p.truncate(2).coef

return Polynomial(x, [0.0, 1.0]) + Polynomial(x)

return Polynomial([])(1.0)

return Polynomial(x) // 0.0

# long
return np.roots(x), np.roots([1, 0, 1]), np.roots([0, 2.0, x[0], 0]), np.roots([x, x])
""",
}
