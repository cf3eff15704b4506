"""`ir/`: `test_ir` (verifier, types, errors), `test_text`, `test_interpreter`, `test_walk`,
`test_ops` (the table of operations), `test_special`, `test_ufuncs` (rows that SciPy computes;
`ufunc_tables` says where they are sampled), `test_complex`, `test_traits`, `test_zero` (zero
cotangents), `test_schedule`; `analysis`.
"""
