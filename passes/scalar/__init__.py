"""Statements: what they compute, whether they are needed, and whether their checks can fail.

==============  ================================================================================
`simplify`      constants, neutral elements, known and empty branches; bit-exact
`cse`           equal operations, loads of one version, recalls of one value
`dce`           dead operations, carried values, arms and loops
`induction`     integers that grow evenly, computed from the loop's counter
`bounds`        checks and wrap-arounds that are proven unnecessary
`hoist_checks`  index checks of a loop, tested in front of it, and what that says of sizes
`hoist`         what every iteration computes alike, in front of the loop
`unswitch`      branches that a loop takes in every iteration or in none, outside of it
`predicates`    what reverse code decides by, decided in forward code
`recalled`      what forward code computed of the same values, recalled in reverse code
`once`          loops of which one iteration does something, replaced by that iteration
`relax`         products of derivatives without a test for zero, where that cannot matter
`inline`        elements of temporary arrays made again where that is cheaper
`calls`         small functions, and those called in one place, in place of their calls
==============  ================================================================================

For example, `bounds` drops the check, and `wrap`, of an index that a loop counts::

    for L0 %k in 0 to %n {                 for L0 %k in 0 to %n {
      %i = wrap %k %n                        %v = load %x[%k]
      %t = inside %i %n                      …
      check %t IndexError "…" %k %n        }
      %v = load %x[%i]
      …
    }
"""
