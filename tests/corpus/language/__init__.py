"""Programs made of Python's constructs.

`frontend_programs` (one rule of Python each), `call_programs` (functions, closures, arguments),
`language_programs` (data structures), `choice_programs` (branches in loops), `layer_programs`
(functions called again and again), `list_programs` (lists of any length), `optional_programs` (one
of two arrays or lists, or None), `varied_programs` (one of several numbers, arrays or texts),
`zip_programs` (several iterables), `object_programs` (methods
that Python calls), `exception_programs` (`try` and `with`), `generator_programs` (`yield` and
`itertools`), `standard_programs` (`functools`, `operator`, `nonlocal`), `keyed_programs` (sets that
change, dicts whose keys depend on the run), `small_programs` (`map`, ranges, `:=`),
`nested_programs` (derivatives within), `composed_programs` (derivatives of derivatives),
`stack_programs` (lists of elements that are alike), `external_programs` (functions that are called
as they are).
"""
