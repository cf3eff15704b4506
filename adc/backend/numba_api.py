"""The parts of Numba that adc generates code with, as `Any`: Numba's own types cover some of it."""

from __future__ import annotations

from typing import Any

import numba.core.cgutils
import numba.core.types
import numba.core.typing.templates
import numba.extending
import numba.np.arrayobj
import numba.np.linalg

cgutils: Any = numba.core.cgutils
types: Any = numba.core.types
signature: Any = numba.core.typing.templates.signature
intrinsic: Any = numba.extending.intrinsic
register_jitable: Any = numba.extending.register_jitable
make_array: Any = numba.np.arrayobj.make_array
check_blas_return: Any = numba.np.linalg.check_blas_return
empty_array: Any = numba.np.arrayobj._empty_nd_impl
