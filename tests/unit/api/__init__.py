"""What users import from `adc`.

`test_api` (ways to make them), `test_calls` (where they are called from), `test_modes` (every
verb), `test_arguments`, `test_argument_errors` and `test_captured` (values from outside),
`test_nested` and `test_composed` (derivatives of derivatives), `test_identity` (which function is
meant), `test_source_files` (of which file), `test_recreated` (functions that are made anew),
`test_sizes`, `test_random`, `test_tracebacks`, `test_cache`, `test_latency`, `test_differences` (of
`adc.testing`).
"""
