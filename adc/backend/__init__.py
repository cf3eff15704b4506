"""Back ends: buffer form to readable Python source, compiled by Numba; the only user of Numba.

=============  =================================================================================
`common`       buffer form to a tree that is printed as Python source
`runtime`      what generated code calls: workspace, tapes, prints, signals, BLAS, threads
`cpu`          the tree to LLVM's language to machine code to a `Kernel` that is called with care
`cuda`         launches on a GPU, and what runs around them on the host
`python`       the source as CPython runs it, for `pdb`, with the same bits
`numba_api`    all that adc uses from inside of Numba, and whether it is there
=============  =================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adc.ir.analysis import routines


def _implementations() -> Mapping[str, Any]:
    from adc.backend.python import machine  # not before it is needed: it loads LAPACK

    return machine.NAMES


routines.IMPLEMENTATIONS = _implementations
