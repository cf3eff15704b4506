"""Initial value problems of `scipy.integrate`, with SciPy's choice of the steps.

==========  ======================================================================================
`tableaus`  the coefficients of the methods
`bdf`       the steps of the backward differentiation formulas, for stiff equations
`steps`     a step of a method, its error, and the polynomial that interpolates it
`events`    when a function of time and state changes its sign
`ivp`       `solve_ivp`: the loop over the steps
`outside`   `odeint`, and `solve_ivp` by Radau and LSODA: SciPy's code, which runs as it is
==========  ======================================================================================

The derivatives are those of the steps as they were taken (the discrete adjoint), and of the choice
of their sizes: those of the program, which differences of it confirm. Those of `outside` are of the
exact solution, to the tolerance.
"""
