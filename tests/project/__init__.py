"""What is promised of the project as a whole.

`test_layers` (who imports whom), `test_emission` (who reads emitted text), `test_types`,
`test_docstrings`, `test_readme` (and the guides), `test_examples`, `test_startup` (what is loaded),
`test_wheel`, `test_sampling` (the short run), `test_mutation` (mutants, `tests/mutation/`),
`test_coverage` (what `tests.coverage` notes and prints).
"""
