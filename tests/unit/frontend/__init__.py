"""`adc/frontend/`: `test_frontend` (what programs mean), `test_kinds` (kinds of values by path),
`test_containers`, `test_iterators`, `test_strings`, `test_objects`, `test_distributions`
(SciPy's, as objects), `test_views`, `test_sizes` (which become constants), `test_small`,
`test_effects` (prints, logs, clocks), `test_numpy_meaning` and `test_scipy_special` (results are
NumPy's and SciPy's); `test_diagnostics`, `test_advice` and `test_refused_calls`,
`test_unfitting_arguments` (what is refused, and how); `test_like_python` (small functions of all
kinds, in `snippets`); `test_typed` (functions without a file).
"""
