"""Two buffers that change places in every step; the loop carries both."""

import numpy as np
from numpy.typing import NDArray


def fn(x: NDArray[np.float64], nt: int, nu: float) -> float:
    a = x.copy()
    b = x.copy()
    for _ in range(nt):
        for i in range(1, len(a) - 1):
            b[i] = np.sin(a[i]) + nu * (a[i - 1] - 2.0 * a[i] + a[i + 1])
        a, b = b, a
    s: float = 0.0
    for z in range(len(a)):
        s += a[z] * a[z]
    return s


args = (np.array([0.3, 1.2, -0.4, 0.9, 0.5]), 3, 0.2)
wrt = (0, 2)
