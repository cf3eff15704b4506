"""Functions of NumPy and SciPy, beside those of other libraries: each tool is a process.

============  ====================================================================================
`linalg`      functions of `np.linalg`, beside JAX and NumPy
`fft`         functions of `np.fft`, beside JAX and SciPy
`scientific`  programs that call SciPy, beside JAX with its libraries, autograd and SciPy
`batches`     gradients of every example, beside JAX
`sparse`      Jacobians and Hessians of 100,000 unknowns, beside asdex
`turns`       the processes of the tools, which take turns
============  ====================================================================================
"""
