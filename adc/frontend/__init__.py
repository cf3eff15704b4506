"""Front end: Python source to value form.

`lower.lower` runs once per signature, so types are known while lowering. Names bind to *objects*
(`bindings`); arrays are objects with a current version, lists, dicts and objects have slots in the
state, so aliases, mutation and control flow are resolved here and no later pass sees them. Array
expressions are lazy: whoever needs their elements computes them in one loop nest. In the order of a
program's way through:

=================================  ==============================================================
`trees` `places`                   arguments as trees of types; what a function reads from outside
`source`                           the AST of a function object, with spans
`scope`                            syntactic questions: names assigned, exits contained
`bindings`                         what a name may be bound to, and how two bindings join
`lower`                            the lowering state, and the entry
`statements` `iteration`           one function per statement node; `for` and `while`
`control` `loops`                  branches and how they join; loops and what they carry
`chains`                           long chains of decisions, which are not nested
`forms`                            what names are on two paths, brought to one form
`expressions` `operators`          one function per expression node; operators on any binding
`numbers`                          arithmetic on scalars by NumPy's promotion
`views` `indexing`                 what shares memory; what stands between brackets
`elementwise`                      array expressions, broadcasting, loop nests, assignment
`arrays` `making`                  creation, attributes; arrays of objects, ranges and diagonals
`shaping` `moving`                 shapes and axes, mostly views; elements repeated, moved, padded
`joining` `choosing`               arrays joined and split; elements found, chosen, written to
`reductions` `products` `ufuncs`   sums and extrema; contractions; ufuncs and their methods
`containers` `growing`             lists and dicts; lists whose length depends on data
`objects` `special` `mangling`     instances and attributes; methods that Python calls by itself;
                                   private names
`calls`                            calls: inlining, recursion
`library` `builtin` `maths`        the table of functions; Python's builtins; those of `math`
`linear`                           functions of NumPy that `adc.library` has in Python
`draws`                            random generators and their draws
`outline` `closures`               code that is lowered for itself; inner functions as data
`nested` `custom`                  derivatives within code; functions with derivatives of their own
`structures`                       gradients, tangents and cotangents like arguments and results
`results`                          what a function returns, and the Python object made of it
`arguments`                        the arguments of library functions
`refusals`                         the table of what the language does not have
=================================  ==============================================================
"""
