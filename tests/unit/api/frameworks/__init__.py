"""Functions of other frameworks' arrays: `test_torch` (`adc.torch`), `test_jax` (`adc.jax`).

Derivatives are compared with those that the framework has of the same function in its own terms,
and with finite differences. `test_numba` has derivatives in code that users compile with Numba.
"""
