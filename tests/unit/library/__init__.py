"""`adc/library/`: `test_library` (values and derivatives), `test_routines` (linear algebra on
GPUs), `test_spectral`, `test_unitary` and `test_general` (factors of real, of complex, and
eigenvalues of general matrices), `test_fourier`, `test_stats`, `test_mathematics`, `test_orders`
(derivatives of derivatives); `scipy/` for SciPy's packages.
"""
