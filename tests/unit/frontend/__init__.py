"""`adc/frontend/`: `test_frontend` (what programs mean), `test_kinds` (kinds of values by path),
`test_effects` (prints, logs, clocks), `test_changes` (what lies outside is changed; `module_state`
has variables that are), `test_typed` (functions without a file); `containers` (lists, dicts,
strings, objects); `arrays` (views, sizes, what NumPy's functions mean); `refusals` (what is
refused, and how); `like_python` (small functions of all kinds).
"""
