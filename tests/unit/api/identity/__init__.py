"""Which code a call runs.

`test_identity` (which function is meant), `test_source_files` (of which file), `test_recreated`
(functions that are made anew), `test_latency` (calls like the last one), `test_cache` (code on
disk). `replaced` has the functions that tests replace.
"""
