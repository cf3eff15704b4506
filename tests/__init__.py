"""Tests of adc, from what is tested to how.

===================  ============================================================================
`corpus/`            programs as users write them, with sample arguments
`oracle/`            what must hold of a program, and how that is found out without adc
`fuzz/`              random programs: `python -m tests.fuzz`
`mutation/`          small changes of adc, and who notices: `python -m tests.mutation`
`unit/`              tests of one part each, in folders that mirror the sources
`system/`            the corpus through the whole chain, and whether planted bugs are noticed
`against_autograd/`  every gradient that autograd has, beside adc's
`project/`           what is promised about the project: layers, README, wheel, examples
`golden/`            texts that tests compare with; `pytest --update-golden` rewrites them
`bench/`             benchmarks: `python -m tests.bench`
===================  ============================================================================

`conftest.py` has the options of pytest, `sampling.py` says what a run without `--full` leaves out,
`forks.py` makes children that end, whatever happens in them. `python -m tests.coverage` measures
which lines and branches of adc the tests run.
"""
