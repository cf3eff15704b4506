"""`scipy.interpolate`: `test_interpolate` (objects), `test_fitpack` (FITPACK's splines)."""
