"""Random draws: the methods of `np.random.Generator` and of `np.random.RandomState`.

A generator is bound to an array of words, its state, as an object with one attribute. A draw is
ordinary code that reads the words and stores new ones. So it is not a side effect: the order of
draws is the order of versions of an array, and no pass can drop, repeat or reorder draws without
changing values. Aliases, branches, loops, calls and exits work as for any array that a program
modifies, and reverse code that recomputes a part of the program starts from the state at that
point.

The state of a generator that is an argument or captured is a hidden argument, and the state after
all draws is a hidden result; these are the last results (`Lowered.drawn`). The caller of the code
stores it in the generator (`compiler.compiled`). If the program raises, there is no result, and the
generator does not change. The functions of `np.random` draw from a generator that is captured: the
one that NumPy has for them.

There were two alternatives: an operation with a side effect, which every pass would have to handle;
and calls of NumPy's own generators at run time, which could not be compiled in loops and could not
be repeated. The price of this design is that every bit generator must be implemented here. They are
PCG64, which `np.random.default_rng` returns (`adc.library.random`), and MT19937, which a
`RandomState` has (`adc.library.twister`); others are refused.

Numbers of other distributions are computed from standard ones by ordinary arithmetic, in NumPy's
order: ``loc + scale * z``. This makes them differentiable. Discrete decisions (``random() < p``,
`choice` with probabilities) have derivative zero.

===============  ===============================================================================
`draws`          draws, of both kinds of generators, and what is computed of them
`distributions`  floats and counts, by functions of `adc.library.distributions`
`integers`       integers, permutations and choices
`generators`     how generators are made and found; their methods
===============  ===============================================================================
"""
