"""`adc/backend/`: `test_emit` (every statement), `test_syntax` (the tree of emitted code),
`test_repeated` (loops), `test_library` (functions that are compiled apart), `test_numerics`
(mathematical functions), `test_gemm` and `test_tables` (products of matrices), `test_kernel` and
`test_runtime` (calls; `alarms` interrupts them), `test_results`, `test_memory`, `test_offload`,
`test_python` (`target="python"`), `test_streaming` (large results), `test_native` (machine code
beside functions outside), `test_numba_versions`; `cuda/` for GPUs.
"""
