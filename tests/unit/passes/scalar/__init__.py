"""`passes/scalar/`: `test_inline` (which arrays are recomputed where they are read),
`test_bounds` (integers that wrap around), `test_predicates` (conditions of reverse code),
`test_dce` (what reverse code recalls).
"""
