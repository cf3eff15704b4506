"""Passes: pure functions ``Function -> Function``, one a file, verified after each (`pipeline`).

In the order of the chain:

==============  ================================================================================
`simplify`      constants, neutral elements, known and empty branches; bit-exact
`cse`           equal operations, loads of one version, recalls of one value
`bounds`        index checks and wrap-arounds that are proven unnecessary (`affine`)
`dce`           dead operations, carried values, arms and loops
`adjoint`       reverse code behind the forward code, with Recalls (`activity`, `shapes`;
                `adjoint_body`: straight lines, `adjoint_control`: branches, loops, calls)
`tangent`       forward mode, on reverse code, too (`tangent_body`)
`derive`        derivatives that the code itself calls: declared (`ir.core.Derived`) until `remat`
                is done, differentiated by what they are (`opaque`), then linked in as callees
`accumulate`    clearing a cotangent merged with the next addition to it
`overwrite`     stores that nobody reads, and filling what a nest overwrites, dropped
`gather`        additions of a nest to neighbouring elements, summed element by element
`remat`         every Recall decided: kept, recomputed, reloaded (`remat_choose`, `forwarding`),
                carried out (`remat_rewrite`), and proven (`availability`, `tape`); the `plan`
`costs`         what operations, memory and loops cost, and what a function then takes: an
                analysis for whatever decides by price
`storage`       value form to buffer form: stores in place, copies where two versions are needed
                (`sharing`)
`reuse`         arrays that are never alive together share memory (`lifetimes`)
==============  ================================================================================

What a pass owes the next: `adjoint` leaves only Recalls and Reverses as references to forward
values, and decides nothing about them; `remat` leaves none, and a balanced tape; `storage` leaves
no Store; `reuse` leaves every array that is read as it was. Every pass keeps the bits of every
result, but for signs of zeros in `accumulate` and `overwrite`, and the order in which contributions
to a cotangent are added in `reduce`, `gather` and `local`.

`peak` computes from the last form how much memory a call uses.
"""
