"""`tests/bench/`: `test_bench` (CPU), `test_bench_cuda`, `test_bench_gradbench`."""
