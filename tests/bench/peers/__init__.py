"""Small programs for every tool that is installed: `python -m tests.bench.peers`."""
