"""The kernels as users of other tools write them: `autograd_ports`, `enzyme_ports` (loops in C++),
`jax_ports`, `torch_ports`.
"""
