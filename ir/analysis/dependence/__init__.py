"""Whether iterations touch what others change.

=================  =============================================================================
`accesses`         the elements of an array that a loop reads and writes
`dependence_test`  whether two elements are different ones in all iterations
`iterations`       whether iterations of a loop may run in any order
`forwarding`       which store a load reads
`combinations`     what loops combine: sums, extrema
`threads`          what each thread needs, if iterations are threads
=================  =============================================================================
"""
