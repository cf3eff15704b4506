"""A fused map and sum: nothing is carried but sums."""

import numpy as np
from numpy.typing import NDArray


def fn(x: NDArray[np.float64], w: NDArray[np.float64]) -> float:
    s: float = 0.0
    for i in range(len(x)):
        t = np.tanh(np.sin(x[i]) * w[i])
        s += t * t
    return s


args = (np.array([0.7, -1.3, 0.45, 2.1, 0.0]), np.array([1.2, 0.9, -1.6, 0.8, 1.1]))
wrt = (0, 1)
