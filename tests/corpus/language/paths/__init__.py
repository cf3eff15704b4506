"""Programs whose values depend on the path that a run takes.

`choice_programs` (branches in loops), `optional_programs` (one of two arrays or lists, or None),
`varied_programs` (one of several numbers, arrays or texts), `exception_programs` (`try` and
`with`).
"""
