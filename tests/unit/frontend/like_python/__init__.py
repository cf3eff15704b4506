"""Small functions of all kinds: they do what Python does (`like`), or are refused (`refused`).

Both have a file for each subject. `names` has what they use. `test_like_python` runs them.
"""
