"""How large things are: of integers, arrays and floats.

==============  ================================================================================
`formulas`      polynomials of sizes and numbers of iterations
`loops`         what loops make of these: totals, most, bounds
`symbols`       integers, sizes of arrays and trips of loops, as such polynomials
`extents`       their numbers, for known arguments or guesses
`shapes`        the sizes of arrays, as values of the function
`affine`        integers as affine forms of sizes and counters, and what checks prove about them
`ranges`        bounds of floats, and whether they may be infinite, NaN or masked
==============  ================================================================================

`symbols` answers "which integer is this, and which sizes has this array"; who needs something else
evaluates it, or asks it of one statement. The users differ in what they do with what is not known:

- plans of what is kept (`remat`) show its name;
- what decides without sizes (`remat`, `reuse`) evaluates with a guess for it, what predicts seconds
  (`analysis.costs`) with none;
- the peak of memory (`passes.memory.peak`) walks in the order of the program, as it follows calls,
  tapes and both arms of branches, and shares what an operation makes of formulas.

Three questions are others. `shapes` returns operands that the code already computes, and must be
right on every path, where a formula takes a branch to return arrays of one size: no formula leads
back to an operand. `affine` proves inequalities, also of counters and of integers that may be
negative; its forms are linear and of values, not of names, since proofs add and compare them all
the time. `dependence.threads` bounds what an iteration needs by numbers that are there before its
loop begins, or finds that it is known only at run time.
"""
