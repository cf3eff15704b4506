"""Gradients on a GPU, beside the CPU and other tools: `python -m tests.bench.cuda`.

`programs` (what is timed), `hand` (kernels written by hand), `worker` (the process of one tool),
`registers` (what compiled kernels need), `report` (`CUDA.md`).
"""
