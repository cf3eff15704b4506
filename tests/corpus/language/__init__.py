"""Programs made of Python's constructs.

`containers/` (lists, dicts and other data structures), `functions/` (functions that are defined and
called), `derivatives/` (derivatives within), `paths/` (values that depend on the path that a run
takes), `object_programs` (methods that Python calls), `class_programs` (dataclasses, inheritance),
`small_programs` (`map`, ranges, `:=`), `frontend_programs` (one rule of Python each).
"""
