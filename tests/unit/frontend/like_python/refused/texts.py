"""Texts: formats, texts that paths choose between, what is printed and logged."""

REFUSED: dict[str, str] = {
    "x=1.5": r"""
s = f"{x}"
return np.sin(s)
# ADC014: `np.sin` is not defined for a string with numbers known only at run time

return "a".encode()
# ADC010: `str.encode` is not supported

return f"{X:.2f}"
# ADC014: unsupported format string passed to numpy.ndarray.__format__

return ord(f"{x}")
# ADC010: `ord` of a string with numbers known only at run time is not supported

return ord("ab")
# ADC014: ord() expected a character, but string of length 2 found

return chr(-1)
# ADC014: chr() arg not in range(0x110000)

return str(x, 'a')
# ADC010: `str` with these arguments is not supported

return str(object='a')
# ADC010: this way of formatting is not supported

return f'{Operators(x)}'
# ADC010: `__format__` of a Operators is not supported

return repr(Operators(x))
# ADC010: formatting a Operators is not supported

assert x > 100, f'{(x,1)!a}'
return x
# ADC010: this format is not supported

assert x > 100, f'{(x,1):5}'
return x
# ADC010: a format of a tuple of 2 is not supported

assert x > 100, f'{x:{x}}'
return x
# ADC010: a computed format is not supported

assert x > 100, '%d' % x
return x
# ADC010: this format is not supported

assert x > 100, '%s %s' % x
return x
# ADC010: this format is not supported

assert x > 100, '%q' % x
return x
# ADC010: this format is not supported

assert x > 100, '{a}'.format(x)
return x
# ADC010: this format is not supported

assert x > 100, format(x, x)
return x
# ADC010: a computed format is not supported

assert x > 100, f'{math.sin}'
return x
# ADC010: formatting builtin_function_or_method 'sin' is not supported

assert x > 100, 'a'.startswith(x)
return x
# ADC010: `str.startswith` with these arguments is not supported

print('{} {0}'.format(x))
# ADC010: this format is not supported

print('%u' % x)
# ADC010: this format is not supported

print('%.3d' % int(x))
# ADC010: this format is not supported

print('{None}'.format(**{'a': x}))
# ADC010: this format is not supported

LOG.log()
# ADC014: log() is missing the argument 'level'

LOG.debug()
# ADC014: LOG.debug() is missing the argument 'msg'

print(x, file=x)
return x
# ADC010: `print` to this file is not supported

print(x, colour="red")
return x
# ADC010: `print` with these keywords is not supported

import warnings
warnings.warn("a", float)
return x
# ADC014: category must be a Warning subclass

import warnings
warnings.warn(x)
return x
# ADC010: `warnings.warn` of a number (float) is not supported

logging.getLogger("a").info("b", extra={"c": 1})
return x
# ADC010: logging with `extra` is not supported

logging.getLogger("a").info("%(b)s", {"b": x})
return x
# ADC010: logging a dict by its keys is not supported

logging.getLogger("a").info("%r", [x])
return x
# ADC010: logging a list with `%r` is not supported

logging.getLogger("a").info()
return x
# ADC014: logging.getLogger('a').info() is missing the argument 'msg'

logging.getLogger("a").propagate = x
return x
# ADC034: `propagate` of a Logger, outside the function, would be changed
""",
    "x=X": r"""
return f'{ {1, 2} }'
# ADC010: formatting a set is not supported

return sum(['a', 'b'], 'c')
# ADC014: sum() can't sum strings
""",
    "x=X, n=2": r"""
print(*[f"{v:.2f}" for v in x if v > 1.0])
# ADC010: joining or printing texts whose number is known only at run time is not supported

print("-".join(["a", str(x[0]), n]))
# ADC014: a join of a number (int)
""",
    "x=1.5, k=1": r"""
m = f"{x}"
return 1 if m == "1.5" else 2
# ADC010: comparing a string with numbers known only at run time is not supported

m = f"{x}"
return m in ("1.0", "1.5")
# ADC010: comparing a string with numbers known only at run time is not supported

m = f"{x}"
return m in {"1.5"}
# ADC010: comparing a string with numbers known only at run time is not supported

m = f"{x}"
return m is m
# ADC010: comparing a string with numbers known only at run time is not supported

m = f"{x}"
match m:
    case "1.5":
        return 1
return 2
# ADC010: comparing a string with numbers known only at run time is not supported

m = f"{x}"
return m == f"{x}", m != f"{k}"
# ADC010: comparing a string with numbers known only at run time is not supported

m = f"{x}"
return len(m)
# ADC014: len() of a string with numbers known only at run time

m = f"{x}"
return m[0]
# ADC014: indexing a string with numbers known only at run time

m = f"{x}"
return m.upper()
# ADC014: a string with numbers known only at run time has no attribute 'upper'

m = f"{x}"
return {m: 1}
# ADC010: a key known only at run time is not supported

m = f"{x}"
return {"1.5": 3}[m]
# ADC010: a key known only at run time is not supported

m = f"{x}"
return isinstance(m, str)
# ADC010: `isinstance` of a string with numbers known only at run time is not supported

m = f"{x}"
return sorted([m, "a"])
# ADC010: `sorted` by keys known only at run time is not supported

m = f"{x}"
return m * 2
# ADC010: this operator on a string with numbers known only at run time is not supported

m = f"{x}"
return [m].count(m)
# ADC010: comparing a string with numbers known only at run time is not supported

lines = [f"{i}" for i in range(int(x))]
return 1 if ",".join(lines) else 2
# ADC010: the truth of a string with numbers known only at run time is not supported
""",
}
