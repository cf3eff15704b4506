"""Every function that autograd differentiates, in the forms in which it is called, beside adc.

`cases` has the calls, `scipy_cases` those of SciPy; `test_against_autograd` compares values, both
modes and second derivatives.
"""
