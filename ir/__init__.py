"""The IR: types, values, both forms, the op table, text, verifier, interpreter.

In reading order:

===========  =======================================================================================
`types`      scalars and arrays
`core`       statements, values, functions
`opdef`      what a row of the op table is
`ops`        the rows, by family: meaning, spelling, derivative rule, cost
`rules`      derivative rules, traced to statements
`text`       the text form: `printer` and `parser`
`verifier`   whether a function is well-formed
`interp`     the reference interpreter of both forms
`builder`    statements are appended, names chosen, types inferred
`walk`       statements are walked and rebuilt
`functions`  whole functions: callees, functions made from others
`analysis`   analyses: they answer questions and rewrite nothing
`sums`       the lanes in which a loop adds, which are the meaning of `sum`
`tape`       which pop takes what which push left
`schedule`   schedules of checkpointed loops, as functions of integers
`library`    these, as functions of the IR that passes call
`errors`     an error class for each kind of trouble, with a code, a line and a hint
`foreign`    objects of other libraries: arrays on a GPU, and classes that others stand in for
===========  =======================================================================================

Grammar, on one page (the text form of both forms; `parse(print(fn)) == fn`)::

    function  ::= "fn" NAME "(" (VALUE ":" type),* ")" "->" types ["mirrors" NAME]
                      ["routine" NAME] ["rule" ["exact"] ["always"] WORD
                      "(" (NAME | NUMBER),* ")"] "{" stmt* "return" operand* "}"
    operand   ::= VALUE | NUMBER [":" type] | "true" | "false"
    type      ::= "bool" | "int" | "float"                  weak: Python's numbers
                | "b1" | "i8" … "u64" | "f32" | "f64"       NumPy's
                | "f16" | "h16"                             16 bits: front end, arrays (`types`)
                | dtype "[" (":"),* "]" ["A"]               array; "A": any strides

    stmt      ::= values "=" OP ["[" static,* "]"] operand*                     Apply
                | VALUE "=" "load" VALUE "[" operand,* "]"                      Load
                | VALUE "=" ("store" | "accumulate") VALUE "[" … "]" operand    Store
                | VALUE "=" gemm VALUE VALUE VALUE                              Gemm
                | values "=" "if" operand block ["else" block]                  If
                | values "=" "for" LABEL VALUE "in 0 to" operand carrying block For
                | values "=" "for" LABEL VALUE "down from" operand carrying block
                | values "=" "while" LABEL carrying block                       While
                | values "=" "call" LABEL NAME "(" operand,* ")" ["mirrors" LABEL]
                | "check" operand ERROR "message" operand*                      Check
                | "print" ("to" "effect")? "message" operand*                   Print
    reverse   ::= values "=" "reverse" LABEL VALUE carrying block               Reverse
                | VALUE "=" "recall" VALUE                                      Recall
    tape      ::= "push" operand* | (VALUE ":" type),* "=" "pop"                Push, Pop
    buffer    ::= ("write" | "increase") VALUE "[" operand,* "]" operand        Write
                | gemm VALUE VALUE VALUE                                        Gemm
    gemm      ::= "gemm" "[" ("nn" | "nt" | "tn" | "tt") ["," "add"] "]"        "t": transposed
    carrying  ::= ["carrying" "(" (VALUE [":" type] "=" operand),* ")"]
    values    ::= (VALUE [":" type]),*
    block     ::= "{" stmt* [("yield" | "again") operand*] "}"

From ``#`` to the end of a line is a comment. A message is a template for `str.format`, in JSON's
spelling.

*Value form*: arrays are values; `store` makes a new version. The body of a `while` runs at least
once and its first yield says whether to continue. `for` counts 0, 1, …, trips - 1. `sum` adds, in
loops in an order of its own (`sums`).
*Reverse code* refers to the forward values it needs by `recall` and mirrors loops with `reverse`;
the `remat` pass replaces both by `push`, `pop`, recomputation and ordinary loops.
*Buffer form* (after `storage`): array values are references, `write` changes them in place, and
`push` copies the current contents of an array.
"""

import adc.ir.ops  # (fills the op table)
import adc.ir.text.printer  # noqa: F401  (lets functions be written as text)
