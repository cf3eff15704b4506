"""`scipy.sparse`: `test_sparse` (arrays of a fixed pattern), `test_assembled` (`lil`, `dok`)."""
