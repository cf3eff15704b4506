"""Gradients on a GPU, beside the CPU and other tools: `python -m tests.bench.cuda`."""
