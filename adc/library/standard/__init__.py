"""Functions of Python's standard library as plain Python.

=============  =====================================================================================
`mathematics`  functions of `math`
`iteration`    the iterators of `itertools`
`heaps`        `heapq`
`lists`        methods of lists whose length is known only at run time
`tables`       dicts and sets whose keys are known only at run time
`bases`        `dict` as a base class, `hasattr` and `getattr` of objects with `__getattr__`
`pooled`       lists of which the run decides how many there are
=============  =====================================================================================

Those of a module there have its names and parameters.
"""
