"""`adc/backend/cpu/`: `test_kernel` and `test_runtime` (calls; `alarms` interrupts them),
`test_library` (functions that are compiled apart), `test_native` (machine code beside functions
outside), `test_numba_versions`.
"""
