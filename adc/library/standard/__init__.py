"""Functions of Python's standard library as plain Python.

=============  =====================================================================================
`mathematics`  functions of `math`
`iteration`    the iterators of `itertools`
`heaps`        `heapq`
=============  =====================================================================================

A function has the name and the parameters that it has there.
"""
