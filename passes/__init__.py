"""Passes: pure functions ``Function -> Function``, one a file, and how they run (`pipeline`).

In the order of the chain; `simplify`, `cse` and `dce` run again after passes that leave work:

==============  ================================================================================
`simplify`      constants, neutral elements, known and empty branches; bit-exact
`cse`           equal operations, loads of one version, recalls of one value
`induction`     integers that grow evenly, computed from the loop's counter
`bounds`        checks and wrap-arounds that are proven unnecessary (`affine`)
`hoist`         what every iteration computes alike, in front of the loop
`private`       scratch arrays that an iteration overwrites first, made in the iteration
`guard`         index checks of a loop, tested in front of it, and what that says of sizes
`dce`           dead operations, carried values, arms and loops
`scalars`       small arrays whose elements are all named, as numbers; loops over them unrolled
`fuse`          neighbouring loops of equal trips, merged (`accesses`)
`contract`      arrays read only where they were written, made smaller, or numbers (`accesses`)
`exchange`      loops in an order that memory and vectors like better: over parts of arrays outside
                of over what is done to them (`interchange`), over columns inside of down each
                (`distribute`); `separate`: whether iterations touch different elements
`adjoint`       reverse code behind the forward code, with Recalls (`activity`, `shapes`;
                `adjoint_body`: straight lines, `adjoint_control`: branches, loops, calls)
`tangent`       forward mode, on reverse code, too (`tangent_body`)
`directions`    Jacobians: several tangents or cotangents at once, in a last axis
                (`directions_loop`: numbers; `directions_arrays`: arrays, products)
`relax`         products of derivatives without a test for zero, where what they multiply by is
                finite (`ranges`: bounds of floats, and whether they may be infinite or NaN)
`derive`        derivatives that the code itself calls: declared (`ir.core.Derived`) until `remat`
                is done, differentiated by what they are (`opaque`; `linearity`: only linear rules
                have a transpose), then linked in as callees
`recalled`      dear operations that forward code has computed, too, recalled
`accumulate`    clearing a cotangent merged with the next addition to it
`reduce`        cotangents of what all iterations read, summed in lanes (`ir.sums`)
`overwrite`     stores that nobody reads, and filling what a nest overwrites, dropped
`gather`        additions of a nest to neighbouring elements, summed element by element
                (`gather_find`, `gather_rewrite`)
`partials`      where threads are to share loops: additions of groups of iterations, apart
`local`         reverse code of an iteration that follows its forward code at once
`chosen`        reverse code of the last iteration that replaced a number, as in a least one
`skip`          reverse loops whose cotangents are zero, as a branch chose another value
`remat`         every Recall decided: kept, recomputed, reloaded (`remat_choose`, `forwarding`; the
                fastest plan is a minimum cut, `remat_cut`, `flow`), carried out
                (`remat_rewrite`), and proven (`availability`, `tape`); the `plan`
`checkpoint`    within `remat`: loops in sweeps, which keep a few states and run again from them
                (`state`: what that takes; `online`: loops that end when they are done)
`undo`          within `remat`, before it is decided: reverse code that restores what stores
                overwrite and what numbers were (`history`: the steps that are taken back; proven
                by `versions`; `drift`: rounding is bounded at run time)
`remat_budget`  what to tell `remat` so that a call holds so many bytes (`budget_model`, with
                `budget_loops`: an integer program, solved by `budget`; `extents`: how large things
                are, `symbols`: as formulas)
`costs`         what operations, memory and loops cost, and what a function then takes: an
                analysis for whatever decides by price
`calls`         small functions, and those called in one place, in place of their calls
`unswitch`      branches that a loop takes in every iteration or in none, outside of it
`once`          loops of which one iteration does something: that iteration
`inline`        elements of temporary arrays made again where that is cheaper
`storage`       value form to buffer form: stores in place, copies where two versions are needed
                (`sharing`)
`rows`          copies of rows that only products read: the rows themselves
`parallel`      loops whose iterations may run side by side (`independent`), marked
`ordered`       sums in the program's order: blocks of dear terms first, as vectors
`registers`     elements that the next iteration reads again, handed on in registers
`coalesce`      arrays that a loop makes anew and hands on, written over the old ones
`lift`          arrays of inner loops made once, before the loop
`reuse`         arrays that are never alive together share memory (`lifetimes`, `liveness`)
`apart`         innermost loops whose iterations touch nothing that others change, marked
                (`aliases`: which arrays may be one)
`in_place`      arrays that callees were passed and return
`increments`    for a GPU: elements that are read to be increased only, increased in place
`whole`         for a GPU: loops with independent iterations, whatever they do, become launches
                (`unfold`: without calls and products; `ir.threads`: what threads need)
`frames`        for a GPU: what loops push becomes arrays with a place for each iteration
`fission`       for a GPU: loops that do several things become several nests
`kernels`       for a GPU: nests of independent loops become launches, their sums parts
`schedules`     at last, what checkpointed loops ask about their schedule: calls (`ir.schedule`)
==============  ================================================================================

What a pass owes the next: `adjoint` leaves only Recalls and Reverses as references to forward
values, and decides nothing about them; `remat` leaves none, and a balanced tape; `storage` leaves
no Store; `reuse` leaves every array that is read as it was. Every pass keeps the bits of every
result, but for signs of zeros in `accumulate`, `overwrite` and `relax`, and the order in which
contributions to a cotangent are added in `reduce`, `gather`, `local` and, where it is asked for,
`partials`.

`budget` finds the fastest plan within so many bytes, of what to keep and which options of loops and
calls to take: numbers only, for a planner of programs, regions and whole functions to state.

`peak` computes from the last form how much memory a call uses (`peak_formula`: the result as data),
in `formulas` of sizes and iterations: it runs the code on symbols (`peak_values`) and adds up what
stretches of it need (`peak_needs`), arrays that loops hand on included (`owners`).
"""
