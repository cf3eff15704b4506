"""Programs made of array expressions.

`array_programs` (indexing, views, functions), `array_programs_found` (what random programs found),
`function_programs` (NumPy's functions and types), `matmul_programs` (products of matrices),
`composed_programs` (functions in plain Python), `view_programs` (aliases), `size_programs` (axes of
size 1), `vector_programs` and `stack_programs` (small arrays), `linear_programs` (linear algebra in
loops), `complex_programs`, `fourier_programs`, `scipy_programs` (SciPy's functions),
`random_programs` (draws), `meaning_programs` (results that once were not NumPy's).
"""
