"""`passes/memory/`: `test_storage` (buffer form), `test_coalesce`, `test_stacked`, `test_in_place`,
`test_reserve` (room for lists), `test_peak`.
"""
