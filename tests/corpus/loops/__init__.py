"""Programs made of loops over elements.

`control_programs` (branches, `while`, exits), `element_programs` (reads and writes one by one),
`numeric_programs` (small methods), `kernel_programs` (kernels, with slices and as loops),
`carried_programs` (kernels that hand values to the next iteration), `stencil_programs`
(neighbours), `product_programs` (products of a matrix and many vectors),
`nest_programs` (expressions that become nests), `thread_programs` (iterations that become threads),
`undo_programs` and `invert_programs` (values that are restored), `pass_programs` (one per pass),
`activity_programs` (what depends on no parameter), `found_programs` (what was wrong once).
"""
