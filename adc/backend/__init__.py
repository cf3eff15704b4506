"""Back ends: buffer form to readable Python source, compiled by Numba; the only user of numba.

================  ==============================================================================
`emit`            whole functions, control flow and sums in lanes; `writer` (names, pending
                  expressions), `straight` (operations), `traffic` (tape), `expressions` (spelling)
`outline`         long functions in parts, so that they compile in time
`tapes`           where frames of the tape lie: blocks for counted loops, a stack otherwise
`prelude`         NumPy's meaning of scalar operations, as compiled functions
`vector_math`     one implementation of each elementary function per machine
`gemm`            products of matrices: BLAS, or loops for small ones
`runtime`         what generated code calls: workspace, tapes, prints, signals
`side_by_side`    loops that threads share
`memory`          workspaces and tapes, kept between calls; pages for arrays that are returned
`offload`         tapes in files, which last for one call
`lowering`        emitted source to LLVM's language, with Numba's types (`inference`) and
                  LLVM's instructions (`instructions`); `numba_api`: the parts of Numba in use;
                  `target`: Numba's compiler without what emitted code does not use
`cpu`             source to machine code to a `Kernel` that is called with care
`cuda`            launches on a GPU, and what runs around them on the host
================  ==============================================================================
"""
