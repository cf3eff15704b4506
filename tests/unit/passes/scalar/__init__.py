"""`passes/scalar/`: `test_inline` (which arrays are recomputed where they are read)."""
