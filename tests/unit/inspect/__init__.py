"""`adc/inspect/`: `test_plan`, `test_graph`, `test_notebook`."""
