"""What users import from `adc`: `test_api`, `test_modes` (every verb), `test_arguments`,
`test_nested` and `test_composed` (derivatives of derivatives), `test_identity` (which function is
meant), `test_sizes`, `test_random`, `test_tracebacks`, `test_cache`, `test_differences` (of
`adc.testing`).
"""
