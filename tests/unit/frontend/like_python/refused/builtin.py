"""Python's builtin functions with arguments that do not fit, or that are not supported."""

REFUSED: dict[str, str] = {
    "x=1.5": r"""
return str(FieldLater())
# ADC010: formatting an object without `a` is not supported

return callable(zip([1]))
# ADC010: `callable` of a zip is not supported

return callable(range(3))
# ADC010: `callable` of a range is not supported

return sum(v async for v in X)
# ADC010: an asynchronous comprehension is not supported

return ord(x)
# ADC010: `ord` of a number (float) is not supported

return max(Plain(), Plain())
# ADC014: comparison of a Plain with a Plain

return sum([x], [1.0])
# ADC014: this operator on a list and a number (float)

return list(3)
# ADC014: cannot loop over a number (int)

return zip(3)
# ADC010: returning an iterator is not supported

return enumerate(x)
# ADC010: returning an iterator is not supported

return len(x)
# ADC014: len() of a number (float)

return abs("a")
# ADC014: `abs` is not defined for str 'a'

return divmod(x, "a")
# ADC014: `divmod` is not defined for str 'a'

return pow(x, 2, 3)
# ADC010: `pow` with these arguments is not supported

return int([1])
# ADC014: `int` needs a number, not a list

return float([1])
# ADC014: `float` needs a number, not a list

return complex([1])
# ADC014: `complex` is not defined for a list

return id(x)
# ADC010: `id` is not supported

return exec("a = 1")
# ADC010: `exec` is not supported

return eval("x")
# ADC010: `eval` is not supported

return globals()
# ADC010: `globals` is not supported

return next(x)
# ADC010: `next` of a number (float) is not supported

return reversed(x)
# ADC010: returning a reversed is not supported

return isinstance(x, 3)
# ADC010: `isinstance` with `3` is not supported

return issubclass(x, float)
# ADC014: `issubclass` of a number (float)

return getattr(x, "nope")
# ADC014: a number (float) has no attribute 'nope'

return type("C", (), {})
# ADC010: `type` with these arguments is not supported

return list(map(3, [1]))
# ADC014: a number (int) is not a function

return print(x, sep=3)
# ADC014: `sep` must be a string, not a number (int)

return sorted([1], nope=3)
# ADC010: the argument 'nope' of `sorted` is not supported

return round(x, 1.5)
# ADC014: an integer is needed here

return slice(x)
# ADC010: returning a slice is not supported

return chr(x)
# ADC010: a number of a letter known only at run time is not supported

return bin(x)
# ADC010: `bin` is not supported

return hex(x)
# ADC010: `hex` is not supported

return ascii(x)
# ADC010: `ascii` is not supported

return repr(Plain())
# ADC010: formatting a Plain is not supported

return bytes(3)
# ADC010: `bytes` is not supported

return bytearray(3)
# ADC010: `bytearray` is not supported

return memoryview(3)
# ADC010: `memoryview` is not supported

return object()
# ADC010: `object` is not supported

return property(3)
# ADC010: `property` is not supported

return staticmethod(3)
# ADC010: `staticmethod` is not supported

return dir(x)
# ADC010: `dir` of a number (float) is not supported
""",
}
