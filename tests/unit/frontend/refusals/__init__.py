"""What is refused, and how.

`test_diagnostics` (every code and its text), `test_advice` (hints), `test_refused_calls` and
`test_unfitting_arguments` (functions that there are, with arguments that do not fit).
"""
