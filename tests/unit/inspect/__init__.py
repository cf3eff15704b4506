"""`adc/inspect/`: `test_plan`, `test_profile`, `test_graph`, `test_notebook`."""
