"""Analyses: they answer a question about a function and rewrite nothing.

==============  ================================================================================
`activity`      which values carry derivatives
`linearity`     whether a function is linear in some of its arguments
`inexact`       what may not be computed from values that are found again up to rounding
`target`        what code is made for, as users choose it
`costs`         what operations, memory and loops cost, and what a function then takes
`sizes`         how large things are: polynomials of sizes and counters, bounds, shapes
`memory`        which arrays are accessed, alive, aliases of each other, or leave the function
`dependence`    whether iterations touch what others change; what threads need
==============  ================================================================================
"""
