"""What writes random programs, a statement after the other. Each adds to the one before.

=============  ===================================================================================
`scalars`      statements about numbers and elements of arrays
`functions`    the functions that such programs call
`expressions`  expressions of arrays
`statements`   statements about arrays and views
`containers`   statements about lists, dicts, named tuples and objects of arrays
`libraries`    functions and classes that programs of arrays and containers use
`calls`        expressions with functions of SciPy
=============  ===================================================================================
"""
