"""`adc/frontend/`: `test_frontend` (what programs mean), `test_kinds` (kinds of values by path),
`test_containers`, `test_iterators`, `test_strings`, `test_objects`, `test_distributions`
(SciPy's, as objects), `test_views`, `test_sizes` (which become constants),
`test_small`, `test_long` (loops over lists that stay loops),
`test_pools` (objects and lists of which there is any number),
`test_effects` (prints, logs, clocks), `test_changes` (what lies outside is changed; `module_state`
has variables that are), `test_numpy_meaning` and `test_scipy_special` (results are NumPy's and
SciPy's), `test_typed` (functions without a file); `refusals` (what is refused, and how);
`like_python` (small functions of all kinds).
"""
