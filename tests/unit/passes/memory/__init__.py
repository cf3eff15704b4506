"""`passes/memory/`: `test_storage` (buffer form), `test_coalesce`, `test_stacked`, `test_peak`."""
