"""Bodies of functions that are refused, by their arguments; blank lines are between them.

The last line of each has the code and the message. By subject:

============  ================================================================================
`numbers`     numbers of Python's and NumPy's: operators, `round`, `math`, complex ones
`constants`   dates, fractions and decimals, which are constants
`texts`       formats, texts that paths choose between, what is printed and logged
`arrays`      functions and methods of NumPy and SciPy, indices, views
`builtin`     Python's builtin functions, with arguments that do not fit
`calls`       of NumPy's and SciPy's functions, with arguments that do not fit
`containers`  lists, tuples, dicts, sets, deques, heaps: their methods, order, copies
`objects`     objects and their classes: attributes, operators, named tuples, dataclasses
`functions`   arguments, closures, recursion, decorators, derivatives inside of code
`iterators`   generators and iterators
`branches`    values of several kinds, `None`, names that may be unbound, `match`
`errors`      exceptions that are raised and caught, `assert`, `with`
============  ================================================================================
"""

from tests.unit.frontend.like_python.refused import (
    arrays,
    branches,
    builtin,
    calls,
    constants,
    containers,
    errors,
    functions,
    iterators,
    numbers,
    objects,
    texts,
)

TABLES = [
    each.REFUSED for each in (
        numbers, constants, texts, arrays, builtin, calls, containers, objects, functions,
        iterators, branches, errors,
    )
]  # fmt: skip
