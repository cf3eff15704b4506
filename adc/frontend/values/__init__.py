"""Values: operations on bindings, without control flow.

Elements, attributes and operators of arrays, array expressions, lists and instances.
In reading order:

================  ===============================================================================
`views`           views: windows onto arrays that share memory
`elementwise`     array expressions, broadcasting, loop nests, assignment
`arguments`       matching the arguments of library functions; constant arguments
`growing/`        lists whose length is known only at run time, and the pools of what they hold
`keyed`           what dicts and sets hold, and which keys are there
`arrays`          arrays from numbers, lists and ranges; new, copied and filled arrays
`contents`        what objects of subclasses of `dict` hold; new objects
`objects`         instances: construction and attributes
`special`         the special methods that Python calls implicitly
`sequences`       the elements of containers whose length is known at compile time
`constants`       strings, dates, fractions: what Python computes with when code is compiled
`operators`       operators, truth and identity of bindings
`optional`        what may be None: what conditions say about it
`comparisons`     comparisons of bindings
`structures`      gradients, tangents and cotangents with the structure of values
================  ===============================================================================

``2.0 * a + b`` is a `Lazy`, which computes an element on demand. Where the array is needed, one
loop nest computes all elements, without an array for ``2.0 * a``.
"""
