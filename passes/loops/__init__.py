"""Loops, and the arrays between them.

======================  ========================================================================
`fuse`                  neighbouring loops of equal trips, merged
`scalars`               small arrays whose elements are named one by one, made numbers
`contract`              arrays read only where they were written, made smaller, or numbers
`exchange`              loops in an order that memory and vectors like better: over parts of
                        arrays outside of over what is done to them (`interchange`), over
                        columns inside of down each (`distribute`)
`privatize`             scratch arrays that an iteration overwrites first, made in the iteration
`reduce`                cotangents of what all iterations read, summed in lanes
`overwrite`             stores that nobody reads, and filling what a nest overwrites, dropped
`gather`                additions of a nest to neighbouring elements, summed element by element
                        (`find`, `rewrite`)
`privatize_reductions`  where threads are to share loops: additions of groups of iterations,
                        apart
`fuse_reverse`          reverse code of an iteration that follows its forward code at once
`chosen`                cotangents of numbers that iterations replace, for the last of these
                        alone
`skip`                  reverse loops whose cotangents are zero, as a branch chose another value
`state`                 what an iteration needs of the ones before, if it is to be run again
======================  ========================================================================

For example, `contract` makes a number of an array that is read only where it was written::

    %t = full[f64] 0.0:f64 %n              for L0 %k in 0 to %n {
    for L0 %k in 0 to %n {                   …
      …                                      %v = sin %a
      %t.1 = store %t[%k] %v                 %w = mul %v %v
      %u = load %t.1[%k]                     …
      %w = mul %u %u                       }
      …
    }
"""
