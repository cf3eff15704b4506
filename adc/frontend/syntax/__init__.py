"""Syntax: the AST of a function, and questions that it alone answers. Imports no other package.

==========  =====================================================================================
`source`    the AST of a function object, with positions
`typed`     the texts of programs without a file: `python -c`, standard input, a prompt
`jumps`     blocks with a label, and jumps out of them
`mangling`  private names of classes (``__x``) in that AST
`steps`     generators as functions of one step, from one `yield` to the next
`yields`    the statements of a generator, with others in the place of each `yield`
`targets`   variables of comprehensions with the name of another one
`scope`     names assigned, exits contained
==========  =====================================================================================

``for i in range(n): s = s + x[i]`` assigns ``i`` and ``s``, so the loop carries ``s``.
"""
