"""How large things are: of integers, arrays and floats.

==============  ================================================================================
`affine`        integers as affine forms of sizes and counters, and what checks prove about them
`shapes`        the sizes of arrays, as values of the function
`extents`       the sizes of arrays for known arguments, as numbers
`symbols`       the same, as formulas
`formulas`      polynomials of sizes and numbers of iterations
`ranges`        bounds of floats, and whether they may be infinite, NaN or masked
==============  ================================================================================
"""
