"""From the arguments of a call to compiled code.

============  ====================================================================================
`signature`   parameters of a function, and the types of the arguments of a call
`dispatch`    the code for these types: found, or compiled
`family`      the compiled code that derivatives of one kind share
`prepare`     the input of the compiler: the function lowered, and what is done with it
`planning`    stages and plans for the arguments of a call, without machine code
`reader`      code that reads arguments like those of the last call
`compiled`    that code: hidden arguments, checks of the arguments, the call
`results`     results as users get them, and whether they can be differentiated
`cache`       what was compiled, kept in memory and on disk
`driver`      front end, passes and back end, one after the other
`memory`      amounts of memory, as users write and read them; errors of budgets
`transfers`   arrays on a GPU, and copies of them, outside of compiled code
`watch/`      where time and memory of calls go, and where NaNs arise and digits are lost
`progress`    the line on standard error while compilation takes long
============  ====================================================================================

For example, the first ``adc.grad(f)(x)`` with an `x` of type ``f64[:]`` compiles the derivative;
the second finds it by the types of its arguments.
"""
