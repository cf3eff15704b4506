"""Solvers of `scipy.optimize`.

============  ====================================================================================
`captures`    what a function has captured, as values that a derivative is taken by
`sessions`    SciPy's own solvers, which ask for the values of a function and are told
`roots`       roots of functions of one number, by loops that are SciPy's bit for bit
`scalars`     `root_scalar`, `fixed_point`
`solvers`     `root`, `minimize`, `minimize_scalar`, `least_squares`: SciPy's solver runs, and the
              implicit function theorem has the derivatives
============  ====================================================================================
"""
