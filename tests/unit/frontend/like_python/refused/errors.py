"""Exceptions that are raised and caught, `assert`, `with`."""

REFUSED: dict[str, str] = {
    "x=1.5": r"""
with np.printoptions(precision=2):
    print(X)
return x
# ADC010: formatting an array inside `with np.printoptions` is not supported

try:
    y = x
finally:
    return 2.0
# ADC030: leaving `finally` by `return`, `break` or `continue` is not supported

for i in range(3):
    try:
        y = x
    finally:
        break
return x
# ADC030: leaving `finally` by `return`, `break` or `continue` is not supported

LOG.setLevel(3)
return x
# ADC010: `Logger.setLevel` is not supported

LOG.info(3, x)
return x
# ADC010: logging a number (int) with arguments is not supported

LOG.addHandler(3)
return x
# ADC010: `Logger.addHandler` is not supported

import warnings
warnings.warn()
return x
# ADC010: `warnings.warn` with these arguments is not supported

import warnings
warnings.warn("a", stacklevel=2, foo=3)
return x
# ADC010: `warnings.warn` with these arguments is not supported

return LOG.level * x
# ADC010: the attribute `level` of a logger is not supported

return LOG.handlers
# ADC010: the attribute `handlers` of a logger is not supported

return LOG.disabled * x
# ADC010: the attribute `disabled` of a logger is not supported

raise Stopped('late', [x])
# ADC010: an exception with a list is not supported

raise Stopped()
# ADC014: Stopped(): missing a required argument: 'message'

raise Diverged('a', k=x)
# ADC014: Diverged(): Diverged() takes no keyword arguments

raise Diverged(*[x])
# ADC010: an exception with starred arguments is not supported

try:
    raise Counted(2)
except Counted as error:
    return x * error.count
# ADC012: 'error' is an exception of `Counted`, whose methods do more than to set its attributes

with BadOperators() as o:
    return x
# ADC014: a BadOperators does not support the context manager protocol

with cm3(x) as y:
    pass
return x
# ADC033: a context manager with more than one `yield` is not supported

try:
    if x > 1:
        raise ValueError('a')
    return x
except 3:
    return 2 * x
# ADC014: catching classes that do not inherit from BaseException is not allowed

import warnings
with warnings.catch_warnings():
    warnings.warn("caught")
return x
# ADC010: `warnings.warn` inside `warnings.catch_warnings` is not supported

import warnings
warnings.simplefilter("ignore")
return x
# ADC010: `warnings.simplefilter` outside `warnings.catch_warnings` is not supported

try:
    if x > 1.0:
        raise ValueError(f"{x} {x} {x} {x} {x} {x} {x}")
except ValueError:
    raise
return x
# ADC030: raising this `ValueError` again is not supported: its message has too many numbers

try:
    if x > 1.0:
        raise ValueError((x, 2.0))
except ValueError as error:
    return str(error)
return x
# ADC012: 'error' has an argument that is neither a number nor a text
""",
    "x=X": r"""
try:
    if x[1] < 0:
        raise ValueError(f"bad {x}")
except ValueError as error:
    print(error)
return x[0]
# ADC010: an array or one of several texts in an exception that is caught and kept is not supported

try:
    if x[1] < 0:
        raise ValueError(f"bad {x}")
finally:
    print("done")
return x[0]
# ADC010: an array or one of several texts in an exception that is caught and kept is not supported
""",
}
