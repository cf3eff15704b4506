"""Bodies of functions that have Python's results, or raise its exceptions, by their arguments.

Blank lines are between them. By subject:

=============  ================================================================================
`numbers`      numbers of Python's and NumPy's: operators, `round`, `math`, complex ones
`constants`    dates, fractions and decimals, which are constants
`texts`        formats, texts that paths choose between, what is printed and logged
`arrays`       functions and methods of NumPy and SciPy, indices, views
`polynomials`  `np.poly1d`, `np.polynomial.Polynomial`
`containers`   lists, tuples, dicts, sets, deques, heaps: their methods, order, copies
`mappings`     subclasses of `dict`, `UserDict` and `Mapping`
`objects`      objects and their classes: attributes, operators, named tuples, dataclasses
`functions`    arguments, closures, recursion, decorators, derivatives inside of code
`iterators`    generators and iterators
`branches`     values of several kinds, `None`, names that may be unbound, `match`
`loops`        how they are left, and what differs from one iteration to the next
`errors`       exceptions that are raised and caught, `assert`, `with`
=============  ================================================================================
"""

from tests.unit.frontend.like_python.like import (
    arrays,
    branches,
    constants,
    containers,
    errors,
    functions,
    iterators,
    loops,
    mappings,
    numbers,
    objects,
    polynomials,
    texts,
)

TABLES = [
    each.LIKE for each in (
        numbers, constants, texts, arrays, polynomials, containers, mappings,
        objects, functions, iterators, branches, loops, errors,
    )
]  # fmt: skip
