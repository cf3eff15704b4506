"""`adc/backend/`: `test_emit` (every statement), `test_repeated` (loops), `test_numerics`
(mathematical functions), `test_gemm`, `test_kernel` and `test_runtime` (calls), `test_results`,
`test_memory`, `test_offload`; `cuda/` for GPUs.
"""
