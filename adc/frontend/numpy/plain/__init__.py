"""NumPy's functions that need no loops of their own.

==========  =====================================================================================
`composed`  functions that `adc.library.arrays` has in Python, lowered like user code
`kinds`     what NumPy says about types, shapes and memory: known when compiled
==========  =====================================================================================
"""
