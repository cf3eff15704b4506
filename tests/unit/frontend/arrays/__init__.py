"""Arrays: `test_views`, `test_sizes` (which become constants), `test_small`, `test_numpy_meaning`
and `test_scipy_special` (results are NumPy's and SciPy's).
"""
