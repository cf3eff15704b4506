"""`scipy.interpolate`: classes with the names, arguments and attributes of SciPy's.

=============  ===============================================================================
`piecewise`    polynomials between breakpoints, and cubic interpolants that are such
`bsplines`     splines as sums of B-splines
`tables`       interpolation along one axis, and on grids
=============  ===============================================================================

An object of SciPy's from outside of a program is one of these there, with its public attributes.
"""
