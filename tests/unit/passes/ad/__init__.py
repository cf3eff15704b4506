"""`passes/ad/`: `test_tangent` (forward mode), `test_adjoint` (reverse mode), `test_directions`,
`test_dependence` (patterns), `test_linearity` (of tangent rules of users)."""
