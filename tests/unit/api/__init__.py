"""What users import from `adc`.

`test_api` (ways to make derivatives), `test_calls` (where they are called from), `test_modes`
(every verb), `test_nested` and `test_composed` (derivatives of derivatives), `test_batches`
(`vmap`), `test_sparse` (sparse Jacobians), `test_solvers` (`adc.scipy`), `test_external` (functions
that are called as they are), `test_nonfinite` and `test_digits` (`check_nans`), `test_tracebacks`,
`test_elsewhere` (notebooks, pytest, pools), `test_differences` (of `adc.testing`), `test_refusals`
(what is refused before anything is compiled).

`arguments` has what is passed and captured: containers, complex numbers, generators. `identity` has
which code a call runs: of which function it is, and where it is found again. `frameworks` has
`adc.torch` and `adc.jax`.
"""
