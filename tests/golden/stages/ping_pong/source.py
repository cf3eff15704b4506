"""Two buffers that change places in every step; the loop carries both."""

import numpy as np


def fn(x, nt, nu):
    a = x.copy()
    b = x.copy()
    for _ in range(nt):
        for i in range(1, len(a) - 1):
            b[i] = np.sin(a[i]) + nu * (a[i - 1] - 2.0 * a[i] + a[i + 1])
        a, b = b, a
    s = 0.0
    for z in range(len(a)):
        s += a[z] * a[z]
    return s


args = (np.array([0.3, 1.2, -0.4, 0.9, 0.5]), 3, 0.2)
wrt = (0, 2)
