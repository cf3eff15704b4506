"""GradBench's objectives, beside C++ by hand: `python -m tests.bench.gradbench`."""
