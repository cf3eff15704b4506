"""Solvers of `scipy.optimize`.

============  ====================================================================================
`roots`       roots of functions of one number, by loops that are SciPy's bit for bit
`solvers`     `root`, `fsolve`, `minimize`, `minimize_scalar`, `least_squares`: SciPy's solver runs,
              and the implicit function theorem has the derivatives
`scalars`     `root_scalar`, `fixed_point`
============  ====================================================================================
"""
