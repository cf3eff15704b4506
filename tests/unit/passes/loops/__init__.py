"""`passes/loops/`: `test_nests` (fusion), `test_fuse` (directions), `test_fuse_reverse`,
`test_gather`, `test_overwrite`, `test_sums`, `test_products`, `test_counted` (`while` loops).
"""
