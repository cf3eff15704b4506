"""The corpus: programs as users write them, which all oracles and tests of the whole chain run.

`program.py` says what a program is. `scalar_programs.py` has those of numbers; the folders have the
others by subject: `language/` those of Python's constructs, `arrays/` those of NumPy's, `loops/`
those of branches and loops, of kernels and of the passes that turn loops around. `programs.py` puts
together those that most tests run. Every program on which adc was wrong is one of them. Two files
stand apart: `ir_cases/` has programs in the text form of the IR, `typed_program.py` is one that
uses the whole API, for `mypy`.

For example, in `scalar_programs.py`::

    @program(0.7, 1.9, argnums=(0, 1))
    def add_sub_mul_div(x, y):
        return (x + y) * (x - y) / (x * y + 3.0)
"""
