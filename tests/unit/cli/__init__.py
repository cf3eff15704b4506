"""`adc/cli/`: `test_cli` (each command), `test_explain`, `test_supported`, `test_calibrate`,
`test_progress`, `test_selftest`.
"""
