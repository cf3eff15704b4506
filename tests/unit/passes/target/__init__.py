"""`passes/target/`: `test_vectorizable` (marked loops), `test_parallel` (shared loops),
`test_outline`.
"""
