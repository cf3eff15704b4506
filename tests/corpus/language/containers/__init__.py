"""Programs with lists, dicts and other data structures.

`language_programs` (what holds arrays and numbers), `kept_programs` (what reverse code keeps of
them), `list_programs` (lists of any length),
`keyed_programs` (sets that change, dicts whose keys depend on the run), `stack_programs` (lists of
elements that are alike), `zip_programs` (several iterables), `pool_programs` (objects, dicts and
lists of which the run decides how many there are), `history_programs` (lists that grow by such),
`filled_programs` (lists of None that loops fill with arrays),
`mapping_programs` (subclasses of `dict`, and other mappings).
"""
