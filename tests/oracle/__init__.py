"""What must hold of a program, and how to find out without adc.

First the values to compare with: `oracle` (complex steps and differences), `steps` (its numbers),
`array_oracle` (complex steps of array code), `differences` (along a direction), `numpy_sweep`
(NumPy's functions on every kind of argument; `numpy_expressions` has calls), `against_jax`, `plans`
(for budgets and of loops, by other methods).

Then what is checked of a program: `chain` (every stage of the compiler), `threads` (loops that
threads share), `on_device` (code for GPUs), `cuda_ptx` (it compiles without a GPU), `meter` and
`carried_arrays` (memory).
"""
