"""GradBench's objectives (`programs`), beside C++ by hand: `python -m tests.bench.gradbench`."""
