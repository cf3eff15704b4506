"""Lists, dicts, strings, iterators and objects: `test_containers`, `test_iterators`,
`test_strings`, `test_objects`, `test_distributions` (SciPy's, as objects), `test_long` (loops over
lists that stay loops), `test_filled` (lists of None that loops fill), `test_mappings` (subclasses
of `dict`), `test_pools` (objects and lists of which there is any number).
"""
