"""`scipy.integrate`: `test_integrate` (samples), `test_quad`, `test_odes` (`solve_ivp`)."""
