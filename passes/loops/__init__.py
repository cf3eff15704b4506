"""Loops, and the arrays between them.

======================  ========================================================================
`counted`               `while` loops that count, turned into `for` loops
`fuse`                  adjacent loops of equal trip count, merged
`scalars`               small arrays with constant indices, replaced by scalars
`contract`              arrays whose elements are read only where written, shrunk or made scalars
`exchange`              loop order for locality and vectors: loops over parts of arrays moved out
                        of loops over steps (`interchange`), loops over columns moved into loops
                        down each column (`distribute`)
`privatize`             scratch arrays that each iteration overwrites, allocated in the iteration
`products`              products of a matrix with a vector of each iteration, as products of
                        matrices for blocks of iterations (`sums`, `find`, `split`)
`reduce`                cotangents of values that all iterations read, summed in lanes
`overwrite`             dead stores, and initialisations that a nest overwrites, removed
`gather`                scattered additions of a nest, turned into sums for each element (`find`,
                        `rewrite`)
`privatize_reductions`  where threads share loops: a private accumulator for each group of
                        iterations
`fuse_reverse`          reverse code of an iteration, directly after its forward code
`chosen`                cotangents of numbers that iterations replace, only for the last
                        replacement
`skip`                  reverse loops whose cotangents are zero, as a branch chose another value
`state`                 the state that an iteration needs in order to be recomputed
======================  ========================================================================

For example, `contract` replaces an array by a scalar that is read only where it was written::

    %t = full[f64] 0.0:f64 %n              for L0 %k in 0 to %n {
    for L0 %k in 0 to %n {                   …
      …                                      %v = sin %a
      %t.1 = store %t[%k] %v                 %w = mul %v %v
      %u = load %t.1[%k]                     …
      %w = mul %u %u                       }
      …
    }
"""
