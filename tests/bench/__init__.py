"""Benchmarks, each a command; none of them is part of the tests.

===========  =====================================================================================
`__main__`   ``python -m tests.bench``: value and gradient of kernels, beside other tools. Programs
             are in `kernels`, with adjoints by hand, those of other tools in `ports`; `worker` is
             the process of one tool, `report` makes the tables and the picture
`compile`    how long compilation takes
`latency`    how long a call takes, from no leaf to hundreds
`libraries`  functions of NumPy and SciPy, beside those of other libraries
`layers`     a model of many layers, as people write it
`memory`     time and memory within budgets
`peers`      small programs, given unchanged to every tool
`gradbench`  GradBench's objectives, beside C++ by hand
`cuda`       the same on a GPU; `cuda.registers` needs none
`frameworks` what a call of adc's code costs within PyTorch and JAX
`callers`    calls of derivatives from code that users compile with Numba
`scale`      sums over shards: what a step is made of, and what follows for more workers
`halo`       programs of several ranks that exchange halos
`profiles`   what marks in code cost, and whether the times of lines add up
`screenshot` the README's picture of `adc view`; it measures nothing
===========  =====================================================================================
"""
