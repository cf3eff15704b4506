"""`adc/backend/`: `test_emit` (every statement), `test_syntax` (the tree of emitted code),
`test_repeated` (loops), `test_numerics` (mathematical functions), `test_gemm` and `test_tables`
(products of matrices), `test_results`, `test_memory`, `test_offload`, `test_python`
(`target="python"`), `test_streaming` (large results); `cpu/` for machine code, `cuda/` for GPUs.
"""
