"""Dependences between the iterations of a loop.

=================  =============================================================================
`accesses`         the elements of an array that a loop reads and writes
`dependence_test`  whether two accesses touch different elements in different iterations
`forwarding`       which array version still has a loaded element in reverse code
`combinations`     loops that are reductions: sums, products, extrema
`threads`          what each thread needs, if iterations are threads
=================  =============================================================================
"""
