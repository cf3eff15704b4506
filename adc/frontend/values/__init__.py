"""Values: what any binding can do, without control flow.

Arrays, array expressions, lists of any length, instances: their elements, attributes and operators.
In reading order:

================  ===============================================================================
`views`           windows onto arrays: what shares memory
`elementwise`     array expressions, broadcasting, loop nests, assignment
`arguments`       the arguments of library functions, matched and read as constants
`list_buffers`    the elements of lists whose length is known only at run time
`arrays`          arrays made of numbers, lists and ranges; new, copied and filled ones
`objects`         instances: how they are made, and what their attributes are
`special`         the methods that Python calls by itself
`sequences`       the elements of what has a length known at compile time
`operators`       operators and truth of any binding
`comparisons`     comparisons of any two bindings
`structures`      gradients, tangents and cotangents like arguments and results
`results`         what a function returns, and the Python object made of it
================  ===============================================================================

``2.0 * a + b`` is a `Lazy`, which computes an element on demand; who needs the array computes all
of them in one loop nest, without an array for ``2.0 * a``.
"""
