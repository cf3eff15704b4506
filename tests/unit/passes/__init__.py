"""`passes/`: `test_passes` has the text of a program before and after each pass on loops,
`test_pipeline` checks the tables of stages, `test_unchanged` what passes leave as it is,
`test_signatures` parameters that nobody needs; the folders `ad`, `loops`, `memory`, `remat`,
`scalar` and `target` are those of the passes.
"""
