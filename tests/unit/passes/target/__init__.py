"""`passes/target/`: `test_vectorizable` (marked loops), `test_parallel` (shared loops),
`test_strip_mine` (ordered sums), `test_math_in_blocks` (functions between loops), `test_outline`,
`test_elide_copies` (matrices of a stack), `test_accumulate_in_place` (additions to elements),
`test_fission` (loops split by a comparison).
"""
