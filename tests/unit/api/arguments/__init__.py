"""What derivatives are given and what they capture.

`test_arguments` and `test_argument_errors` (containers and objects), `test_captured` (values from
outside), `test_array_classes`, `test_sizes` (axes of size 1), `test_half` and `test_complex`
(dtypes), `test_random` and `test_random_state` (generators; `draws` has
what they share).
"""
