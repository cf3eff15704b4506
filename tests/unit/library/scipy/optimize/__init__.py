"""`scipy.optimize`: `test_optimize` (roots), `test_curve_fit`, `test_solvers` (the others)."""
