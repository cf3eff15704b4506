"""Analyses: they answer a question about a function and rewrite nothing.

==============  ================================================================================
`activity`      which values carry derivatives
`linearity`     whether a function is linear in some of its arguments
`inexact`       what must not depend on values that are restored inexactly
`target`        the machine that code is made for, and the options that users choose
`costs`         what operations, memory and loops cost, and the time of a function
`routines`      functions that libraries compute, and the memory that they need for that
`sizes`         sizes as polynomials in array sizes and counters, bounds, shapes
`memory`        which arrays are accessed, alive, aliases of each other, or escape
`dependence`    whether iterations of a loop are independent; what threads need
==============  ================================================================================
"""
