"""From the arguments of a call to compiled code.

============  ====================================================================================
`signature`   parameters of a function, and the types of the arguments of a call
`dispatch`    the code for these types: found, or compiled
`reader`      code that reads arguments like those of the last call
`compiled`    that code: hidden arguments, checks of the arguments, the call
`results`     results as users get them, and whether they can be differentiated
`cache`       what was compiled, kept in memory and on disk
`driver`      front end, passes and back end, one after the other
`memory`      amounts of memory, as users write and read them
`transfers`   arrays on a GPU, and copies of them, outside of compiled code
`profile`     where the time and the memory of calls go, by line
`nonfinite`   where the NaNs and infinities of a call arise; `digits`: where it loses digits
`progress`    the line on standard error while compilation takes long
============  ====================================================================================

For example, the first ``adc.grad(f)(x)`` with an `x` of type ``f64[:]`` compiles the derivative;
the second finds it by the types of its arguments.
"""
