"""`adc/frontend/`: `test_frontend` (what programs mean), `test_kinds` (kinds of values by path),
`test_containers`, `test_objects`, `test_views`, `test_small`, `test_numpy_meaning` (results are
NumPy's); `test_diagnostics` and `test_advice` (what is refused, and how).
"""
