"""Tests of adc; `tests.bench` holds the benchmarks."""
