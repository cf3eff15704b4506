"""`ir/analysis/`: `test_affine`, `test_costs`, `test_extents`, `test_lifetimes`, `test_target`."""
