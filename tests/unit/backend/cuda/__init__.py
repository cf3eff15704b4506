"""`adc/backend/cuda/`, in Numba's simulator: `test_cuda` (the corpus), `test_threads` (iterations
as threads), `test_cuda_arrays`, `test_cuda_memory`, `test_cuda_budget`, `test_cuda_verbs`,
`test_simulator`.
"""
