"""The array kernels for PyTorch, eagerly: what its users write where NumPy's program does not do.

`arrays` is the same program; `library` calls PyTorch's own routine where there is one.
"""

from typing import Any

import numpy as np
import torch

from tests.bench.kernels import KERNELS, Arguments, Kernel, array_kernels

array_kernels.np = torch
torch.set_num_threads(1)


def softmax_ce(logits: Any, labels: Any) -> Any:
    shifted = logits - torch.amax(logits, dim=1, keepdim=True)
    log_p = shifted - torch.log(torch.sum(torch.exp(shifted), dim=1, keepdim=True))
    return -torch.mean(log_p[torch.arange(logits.shape[0]), labels])


def softmax_ce_library(logits: Any, labels: Any) -> Any:
    return torch.nn.functional.cross_entropy(logits, labels)


def layernorm(x: Any, g: Any, b: Any, w: Any) -> Any:
    mean = torch.mean(x, dim=1, keepdim=True)
    var = torch.var(x, dim=1, keepdim=True, correction=0)
    y = (x - mean) / torch.sqrt(var + 1e-5) * g + b
    return torch.sum(y * w)


def layernorm_library(x: Any, g: Any, b: Any, w: Any) -> Any:
    return torch.sum(torch.nn.functional.layer_norm(x, (x.shape[1],), g, b, 1e-5) * w)


def jacobi(steps: Any, A: Any, B: Any, w: Any) -> Any:
    """Leaves of the graph must not be changed."""
    return array_kernels.jacobi(steps, A.clone(), B.clone(), w)


def mixture(alphas: Any, means: Any, icf: Any, x: Any, gamma: Any, m: Any) -> Any:
    """As in ADBench: all points at once, the product with the factors a batched one."""
    n, d = x.shape
    qdiags = torch.exp(icf[:, :d])
    sum_qs = torch.sum(icf[:, :d], 1)
    columns, rows = torch.triu_indices(d, d, 1)
    lower = torch.zeros(len(alphas), d, d, dtype=icf.dtype)
    lower[:, rows, columns] = icf[:, d:]
    centred = x - means[:, None]
    scaled = qdiags[:, None] * centred + centred @ lower.transpose(1, 2)
    terms = (alphas + sum_qs)[:, None] - 0.5 * torch.sum(scaled**2, 2)
    likelihood = torch.sum(torch.logsumexp(terms, 0)) - n * torch.logsumexp(alphas, 0)
    squares = torch.sum(qdiags**2) + torch.sum(icf[:, d:] ** 2)
    return likelihood + 0.5 * gamma**2 * squares - m * torch.sum(sum_qs)


def heat(steps: Any, A: Any, B: Any, w: Any) -> Any:
    """Leaves of the graph must not be changed."""
    return array_kernels.heat(steps, A.clone(), B.clone(), w)


def nbody(steps: Any, pos: Any, vel: Any, mass: Any, w: Any) -> Any:
    """All pairs at once."""
    for _ in range(steps):
        d = pos - pos[:, None]
        square = torch.sum(d * d, 2) + 0.01
        pull = mass / (square * torch.sqrt(square))
        vel = vel + 0.02 * torch.sum(pull[:, :, None] * d, 1)
        pos = pos + 0.02 * vel
    return torch.sum(w[0] * pos + w[1] * vel)


def batched_ode(end: Any, y: Any, rates: Any, w: Any) -> Any:
    """All pairs at once, until the last is there; those that are change no more."""
    a, b, c, d = rates.T

    def slopes(u: Any, v: Any) -> Any:
        return u * (a - b * v), v * (c * u - d)

    u, v = y.T
    u1, v1 = slopes(u, v)
    t, h = torch.zeros_like(u), torch.full_like(u, 0.05)
    while bool(torch.any(active := t < end)):
        h = torch.minimum(h, end - t)
        u2, v2 = slopes(u + h * (0.5 * u1), v + h * (0.5 * v1))
        u3, v3 = slopes(u + h * (0.75 * u2), v + h * (0.75 * v2))
        p = u + h * (2.0 / 9.0 * u1 + 1.0 / 3.0 * u2 + 4.0 / 9.0 * u3)
        q = v + h * (2.0 / 9.0 * v1 + 1.0 / 3.0 * v2 + 4.0 / 9.0 * v3)
        u4, v4 = slopes(p, q)
        first = h * (-5.0 / 72.0 * u1 + u2 / 12.0 + u3 / 9.0 - u4 / 8.0) / (1e-5 * (1.0 + u))
        other = h * (-5.0 / 72.0 * v1 + v2 / 12.0 + v3 / 9.0 - v4 / 8.0) / (1e-5 * (1.0 + v))
        square = 0.5 * (first * first + other * other)
        norm = torch.sqrt(torch.where(active, square, 1.0))
        accepted = active & (norm <= 1.0)
        factor = torch.clamp(0.9 * norm ** (-1.0 / 3.0), 0.2, 5.0)
        pairs = ((p, u), (q, v), (u4, u1), (v4, v1), (t + h, t))
        u, v, u1, v1, t = (torch.where(accepted, new, old) for new, old in pairs)
        h = torch.where(active, h * factor, h)
    return torch.sum(w[:, 0] * u + w[:, 1] * v)


def conv2d(images: Any, weights: Any, bias: Any, w: Any) -> Any:
    """The library's convolution, to which channels come first."""
    output = torch.nn.functional.conv2d(
        images.permute(0, 3, 1, 2), weights.permute(3, 2, 0, 1), bias
    )
    return torch.sum(w * output.permute(0, 2, 3, 1))


PORTS: dict[str, dict[str, Any]] = {
    "softmax_ce": {"arrays": softmax_ce, "library": softmax_ce_library},
    "layernorm": {"arrays": layernorm, "library": layernorm_library},
    "jacobi": {"arrays": jacobi},
    "hdiff": {"arrays": array_kernels.hdiff_unassigned},
    "mixture": {"arrays": mixture},
    "heat": {"arrays": heat},
    "nbody": {"arrays": nbody},
    "batched_ode": {"arrays": batched_ode},
    "vadv": {"arrays": array_kernels.vadv_unassigned},
    "syrk": {"arrays": array_kernels.syrk_unassigned},
    "conv2d": {"arrays": conv2d},
    "gemm": {"arrays": array_kernels.gemm_unassigned},
    "lstm": {"arrays": array_kernels.lstm_unassigned},
}


def take(name: str, args: Arguments) -> Arguments:
    """Return tensors for the arguments of a kernel, leaves where they are differentiated."""
    return leaves(KERNELS[name], args)


def leaves(kernel: Kernel, args: Arguments) -> Arguments:
    own = [torch.tensor(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    for k in kernel.wrt:
        own[k].requires_grad_()
    return tuple(own)


def call(name: str, variant: str) -> Any:
    """Return the call of a port, tensors in and out."""
    return eager(KERNELS[name], variant)


def eager(kernel: Kernel, variant: str) -> Any:
    port = PORTS.get(kernel.loss.__name__, {}).get(variant, kernel.loss)

    def value_and_grad(*args: Any) -> Any:
        value = port(*args)
        return value.detach(), torch.autograd.grad(value, [args[k] for k in kernel.wrt])

    return value_and_grad
