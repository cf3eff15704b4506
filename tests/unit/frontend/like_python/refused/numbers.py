"""Numbers of Python's and NumPy's: operators, `round`, `math`, complex ones."""

REFUSED: dict[str, str] = {
    "x=1.5": r"""
return Mode.HEAT | 3
# ADC014: `|` is not defined for a Mode

return (1.0, x).__add__((1.0,))
# ADC010: `.__add__` of a tuple of 2 is not supported

x.real = 3
return x
# ADC010: assignment to an attribute of a number (float) is not supported

return -"a"
# ADC014: this operator is not defined for str 'a'

return -[1]
# ADC014: this operator is not defined for a list

return "a" < 1
# ADC014: comparison of str 'a' with a number (int)

return None < x
# ADC014: comparison of None with a number (float)

return x < None
# ADC014: comparison of a number (float) with None

return x + [1]
# ADC014: this operator on a number (float) and a list

return ~x
# ADC014: `~` on a float

return divmod([x], 2)
# ADC014: `divmod` is not defined for a list

return x in 3
# ADC014: `in` a number (int)

return None + x
# ADC014: `+` is not defined for None

return x.hex()
# ADC010: `.hex` of a number (float) is not supported

return (x + 1j).conjugate(3).imag
# ADC010: `(x + 1j).conjugate` with these arguments is not supported

return x << 2
# ADC014: `<<` on float and int

return divmod(x)
# ADC010: `divmod` with these arguments is not supported

return int[0]
# ADC014: indexing type 'int'

return True - np.True_ + x
# ADC014: NumPy does not subtract booleans

return 1.0 if 1j < x else x
# ADC014: complex numbers have no order

y = math.pi * x
math = y
return math
# ADC011: 'math' may be unbound here: nothing before assigns it
""",
    "x=3.0": r"""
return math.gcd(x, 2)
# ADC014: `math.gcd` needs integers

return math.lcm(4, 2.0)
# ADC014: `math.lcm` needs integers

return math.comb(5, 2.0) * x
# ADC014: 'float' object cannot be interpreted as an integer
""",
}
