"""`adc/inspect/`: `test_plan`, `test_graph`, `test_notebook`, `test_nonfinite` (of `check_nans`)."""
