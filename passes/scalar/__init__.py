"""Statements: what they compute, whether they are needed, and whether their checks can fail.

===============  ================================================================================
`simplify`       constants, neutral elements, known and empty branches; bit-exact
`cse`            equal operations, loads of one version, recalls of one value
`dce`            dead operations, carried values, arms and loops
`induction`      carried integers of constant step, computed from the loop counter
`bounds`         checks and wrap-arounds that are proven unnecessary
`hoist_checks`   index checks of a loop, hoisted out of it; and the equal sizes that they prove
`hoist`          loop-invariant code, moved in front of the loop
`unswitch`       loop-invariant branches, moved out of the loop
`predicates`     conditions of reverse code, evaluated in forward code
`recalled`       values that forward code computed already, recalled in reverse code
`once`           loops of which at most one iteration has an effect, replaced by that iteration
`relax`          products of derivatives without a test for zero, where it cannot matter
`inline`         cheap elements of temporary arrays, recomputed where they are read
`calls`          small functions, and those called in one place, inlined
`signatures`     parameters and results of functions that nobody needs, dropped
===============  ================================================================================

For example, `bounds` drops the check, and `wrap`, of an index that a loop counts::

    for L0 %k in 0 to %n {                 for L0 %k in 0 to %n {
      %i = wrap %k %n                        %v = load %x[%k]
      %t = inside %i %n                      …
      check %t IndexError "…" %k %n        }
      %v = load %x[%i]
      …
    }
"""
