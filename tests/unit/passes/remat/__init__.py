"""`passes/remat/`: `test_remat`, `test_remat_cut` (the minimum cut), `test_policy` and
`test_mutation_plans` (what plans keep), `test_marks` (`adc.save` and others), `test_checkpoint`,
`test_record` (checkpointed loops that call functions outside), `test_undo` and `test_invert`
(values that are restored), `test_budget` (the integer program), `test_budget_plans` (plans within a
budget) and `test_uneven_loops` (those of loops whose iterations differ).
"""
