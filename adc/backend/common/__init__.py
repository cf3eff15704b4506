"""Buffer form to Python source.

=============  =================================================================================
`emit`         whole functions, and what they have in common
`writer`       names, lines, expressions that wait to be written
`straight`     operations, elements, whole arrays, checks and prints
`loops`        loops, sums in lanes, and when to look for signals
`tape_io`      pushes and pops
`tapes`        where frames of the tape lie: blocks for counted loops, a stack otherwise
`expressions`  how operations are spelled
`outline`      long functions in parts, so that they compile in time
`prelude`      NumPy's meaning of scalar operations, as functions that emitted code calls
`vector_math`  one implementation of each elementary function per machine
=============  =================================================================================

::

    write %y[%k] %v        →        y[unsigned(k)] = v
"""
