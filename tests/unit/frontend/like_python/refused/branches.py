"""Branches: values of several kinds, `None`, names that may be unbound, `match`."""

REFUSED: dict[str, str] = {
    "x=1.5": r"""
y = z * x
z = 2.0
return y
# ADC011: 'z' may be unbound here: nothing before assigns it

del x
return x
# ADC011: 'x' may be unbound here: it was deleted at line 2

match [x]:
    case [a, b]:
        return a
    case {'a': 1}:
        return a
    case [a] as q:
        return a * len(q)
# ADC010: this pattern is not supported
""",
    "x=X, n=2": r"""
a, b = x.copy(), x * 2.0
y = a if x[0] > 0.0 else b
if x[1] < 0.0:
    y[0] = 5.0
return a[0] * n
# ADC013: 'a' and 'y' may or may not be the same array here, and 'y' was changed
""",
}
