"""Front end: Python source to value form.

`entry.lower` runs once per signature, so types are known while lowering. Names bind to *objects*
(`bindings`); arrays are objects with a current version, lists, dicts and objects have slots in the
state, so aliases, mutation and control flow are resolved here and no later pass sees them. Array
expressions are lazy: whoever needs their elements computes them in one loop nest. In reading order:

=================================  ==============================================================
`mangling` `source` `scope`        private names; the AST of a function object, with spans;
                                   syntactic questions: names assigned, exits
`trees` `places`                   arguments as trees of types; what is read from outside
`bindings`                         what a name may be bound to, and how two bindings join
`lower`                            the lowering state
`dispatch` `refusals`              the tables that handlers register in; what the language lacks
`classes` `closures` `advice`      what classes have; inner functions as data; hints
`numbers` `views` `elementwise`    arithmetic by NumPy's promotion; what shares memory; array
                                   expressions, broadcasting, loop nests
`arguments` `arrays`               the arguments of library functions; arrays of other objects
`list_buffers`                     the elements of lists whose length depends on data
`special` `sequences`              methods that Python calls by itself; what has a known length
`operators` `comparisons`          operators on any binding
`structures` `results`             gradients, tangents and cotangents like arguments;
                                   what a function returns, and the Python object of it
`forms` `control` `loops`          what names are on two paths; branches and how they join; loops
                                   and what they carry
`chains` `evaluation` `blocks`     long chains of decisions; conditions; statements in order, `if`
`marks` `inlining`                 what users say about values; functions inlined, or called
`indexing`                         what stands between brackets
`shaping` `moving` `joining`       shapes and axes, mostly views; elements repeated, moved, padded;
                                   arrays joined and split
`making` `choosing` `grids`        creation; elements found, chosen, written to
`reductions` `products` `ufuncs`   sums and extrema; contractions; ufuncs and their methods
`maths` `linear` `draws`           functions of `math`; those that `adc.library` has in Python;
                                   random generators and their draws
`library`                          the table of functions
`objects` `containers` `growing`   instances; lists and dicts; lists whose length depends on data
`attributes` `subscripts`          ``a.b`` and ``a[b]`` of anything
`assignment` `iterators`           targets of assignments; `map`, `filter`, `sorted`
`expressions` `statements`         one function per expression node, one per statement node
`iteration` `builtin`              `for` and `while`; Python's builtins
`outline` `nested` `custom`        code that is lowered for itself; derivatives within
                                   code; functions with derivatives of their own
`calls` `entry`                    calls of anything; the entry
=================================  ==============================================================

No two modules import each other (`tests.test_layers`): what lowers a part of the program calls
`dispatch` for the parts of that, and handlers register there.
"""
