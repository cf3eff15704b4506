"""The array kernels for HIPS autograd: what its users write where NumPy's program does not do."""

from typing import Any

import autograd
import autograd.numpy as np
from autograd.scipy.special import logsumexp

from tests.bench.kernels import KERNELS, array_kernels

array_kernels.np = np


def jacobi(steps: Any, A: Any, B: Any, w: Any) -> Any:
    """Rings of old values around new ones: arrays cannot be changed."""

    def sweep(old: Any, new: Any) -> Any:
        inner = 0.2 * (
            old[1:-1, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:] + old[2:, 1:-1] + old[:-2, 1:-1]
        )
        rows = np.concatenate([new[1:-1, :1], inner, new[1:-1, -1:]], axis=1)
        return np.concatenate([new[:1], rows, new[-1:]])

    for _ in range(steps):
        B = sweep(A, B)
        A = sweep(B, A)
    return np.sum(w * A)


def mixture(alphas: Any, means: Any, icf: Any, x: Any, gamma: Any, m: Any) -> Any:
    """All points at once; the factors are gathered from `icf` and a column of zeros."""
    n, d = x.shape
    qdiags = np.exp(icf[:, :d])
    sum_qs = np.sum(icf[:, :d], 1)
    columns, rows = np.triu_indices(d, 1)
    at = np.full((d, d), icf.shape[1])
    at[rows, columns] = np.arange(d, icf.shape[1])
    lower = np.concatenate([icf, np.zeros((len(alphas), 1))], axis=1)[:, at]
    centred = x - means[:, None]
    scaled = qdiags[:, None] * centred + centred @ np.transpose(lower, (0, 2, 1))
    terms = (alphas + sum_qs)[:, None] - 0.5 * np.sum(scaled**2, 2)
    likelihood = np.sum(logsumexp(terms, 0)) - n * logsumexp(alphas)
    squares = np.sum(qdiags**2) + np.sum(icf[:, d:] ** 2)
    return likelihood + 0.5 * gamma**2 * squares - m * np.sum(sum_qs)


def heat(steps: Any, A: Any, B: Any, w: Any) -> Any:
    """Shells of old values around new ones: arrays cannot be changed."""

    def sweep(old: Any, new: Any) -> Any:
        middle = old[1:-1, 1:-1, 1:-1]
        inner = (
            0.125 * (old[2:, 1:-1, 1:-1] - 2.0 * middle + old[:-2, 1:-1, 1:-1])
            + 0.125 * (old[1:-1, 2:, 1:-1] - 2.0 * middle + old[1:-1, :-2, 1:-1])
            + 0.125 * (old[1:-1, 1:-1, 2:] - 2.0 * middle + old[1:-1, 1:-1, :-2])
            + middle
        )
        sides = new[1:-1, 1:-1]
        rows = np.concatenate([sides[:, :, :1], inner, sides[:, :, -1:]], axis=2)
        planes = np.concatenate([new[1:-1, :1], rows, new[1:-1, -1:]], axis=1)
        return np.concatenate([new[:1], planes, new[-1:]])

    for _ in range(steps):
        B = sweep(A, B)
        A = sweep(B, A)
    return np.sum(w * A)


def conv2d(images: Any, weights: Any, bias: Any, w: Any) -> Any:
    """A place in the window at a time, over all windows."""
    H, W = w.shape[1:3]
    output = bias
    for p in range(weights.shape[0]):
        for q in range(weights.shape[1]):
            output = output + images[:, p : p + H, q : q + W] @ weights[p, q]
    return np.sum(w * output)


PORTS: dict[str, Any] = {
    "jacobi": jacobi,
    "hdiff": array_kernels.hdiff_unassigned,
    "mixture": mixture,
    "heat": heat,
    "vadv": array_kernels.vadv_unassigned,
    "syrk": array_kernels.syrk_unassigned,
    "conv2d": conv2d,
    "gemm": array_kernels.gemm_unassigned,
    "lstm": array_kernels.lstm_unassigned,
}


def call(name: str) -> Any:
    """Return the call of a kernel or its port."""
    kernel = KERNELS[name]
    port = PORTS.get(kernel.loss.__name__, kernel.loss)
    return autograd.value_and_grad(port, kernel.wrt)
