"""`passes/target/`: `test_apart` (marked loops), `test_parallel` (shared loops), `test_outline`."""
