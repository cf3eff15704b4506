"""`scipy.interpolate`: classes with the names, arguments and attributes of SciPy's.

=============  ===============================================================================
`piecewise`    polynomials between breakpoints
`cubic`        cubic interpolants, which are such polynomials
`bsplines`     splines as sums of B-splines
`univariate`   FITPACK's splines of one variable
`bivariate`    those of two
`tables`       interpolation along one axis, and on grids
=============  ===============================================================================

An object of SciPy's from outside of a program is one of these there, with its public attributes.
"""
