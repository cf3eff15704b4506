"""`passes/`: `test_passes` has the text of a program before and after each pass on loops; the
folders are those of the passes.
"""
