"""`ir/`: `test_ir` (text, verifier, interpreter), `test_ops` (the table of operations), `test_zero`
(zero cotangents), `test_schedule`; of its analyses `test_affine`, `test_costs`, `test_lifetimes`.
"""
