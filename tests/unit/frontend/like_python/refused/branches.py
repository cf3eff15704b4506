"""Branches: values of several kinds, `None`, names that may be unbound, `match`."""

REFUSED: dict[str, str] = {
    "x=1.5": r"""
a = np.array(x)
b = a if x > 1.0 else np.array(2.0)
b += 1.0
return a
# ADC013: 'a' and 'value' may or may not be the same array here, and 'value' was changed

y = 1.5
return x is y
# ADC010: `is` on numbers is not supported

y = z * x
z = 2.0
return y
# ADC011: 'z' may be unbound here: nothing before assigns it

del x
return x
# ADC011: 'x' may be unbound here: it was deleted at line 2

match Point(x, 2.0):
    case Point(a, b, c):
        return a
# ADC014: Point() accepts 2 positional sub-patterns (3 given)

match Point(x, 2.0):
    case thrice():
        return x
# ADC014: called match pattern must be a class

d = {}
for k in range(int(x * 2.0)):
    d[k] = x
match d:
    case {1: v}:
        return v
# ADC010: this pattern for a dict with keys known only at run time is not supported
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
