"""The product of the Hessian of `relax` with a direction: the tangent of its adjoint."""

import numpy as np
from numpy.typing import NDArray


def fn(x: NDArray[np.float64], nt: int, tol: float, limit: float) -> float:
    a = x.copy()
    e: float = 0.0
    for _ in range(nt):
        for i in range(1, len(a)):
            a[i] = np.sin(a[i - 1]) * a[i] + 0.1
        s = a[0] * a[len(a) - 1]
        while s > tol:
            s = s * np.cos(s)
        e = e + s * s
        if e > limit:
            break
    return e


# The inner loop runs 2, 1, 0 and 0 times; the fourth of six steps breaks.
args = (np.array([0.8, 1.2, 0.7, 1.5]), 6, 0.5, 0.55)
wrt = (0,)
