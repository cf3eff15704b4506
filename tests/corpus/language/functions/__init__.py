"""Programs that define and call functions.

`call_programs` (functions, closures, arguments), `layer_programs` (functions called again and
again), `generator_programs` (`yield` and `itertools`), `standard_programs` (`functools`,
`operator`, `nonlocal`), `external_programs` (functions that are called as they are),
`framework_programs` (graphs of operations, optimisers, event queues, written as classes).
"""
