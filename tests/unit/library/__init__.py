"""`adc/library/`: `test_library` (values and derivatives), `test_routines` (linear algebra)."""
