"""Buffer form to a tree, and the tree to Python source.

===============  ===============================================================================
`syntax`         what is emitted: a small part of Python, as a tree of expressions and statements
`printer`        the tree as text
`reader`         what rows of the op table say in Python, as a tree
`emit`           whole functions, and what they have in common
`writer`         names, blocks of statements, expressions that wait to be written
`straight`       operations, elements, whole arrays, checks and prints
`loops`          loops, sums in lanes, and when to look for signals
`tape_io`        pushes and pops
`tapes`          where frames of the tape lie: blocks for counted loops, a stack otherwise
`expressions`    constants, and the rows of the op table
`tables`         parameters that can be arrays in parts, as those of layers are
`outline`        long functions in parts, so that they compile in time
`repeated`       loops that a long file has repeatedly, written once
`prelude`        NumPy's meaning of scalar operations, as functions that emitted code calls
`vector_math`    one implementation of each elementary function per machine
===============  ===============================================================================

::

    write %y[%k] %v
    Store(Element(Name("y"), (Call("unsigned", (Name("k"),)),)), Name("v"))
    y[unsigned(k)] = v

Machine code for the CPU is made of the tree, CPython runs the text. What is to be known of emitted
code is read off the tree, or was written down with it. (Kernels of `cuda` are written as text.)
"""
