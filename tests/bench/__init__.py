"""Benchmarks: value and gradient of loop kernels, by adc, by hand and by JAX."""
