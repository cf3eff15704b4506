"""Small programs for every tool that is installed: `python -m tests.bench.peers`.

`battery` has the programs, `warp_ports` those for Warp; `peer` is run by the interpreter of a tool.
"""
