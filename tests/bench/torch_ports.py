"""The array kernels for PyTorch, eagerly: what its users write where NumPy's program does not do.

`arrays` is the same program; `library` calls PyTorch's own routine where there is one.
"""

from typing import Any

import numpy as np
import torch

from tests.bench import array_kernels
from tests.bench.kernels import KERNELS, Arguments

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
    "vadv": {"arrays": array_kernels.vadv_unassigned},
    "syrk": {"arrays": array_kernels.syrk_unassigned},
    "conv2d": {"arrays": conv2d},
    "gemm": {"arrays": array_kernels.gemm_unassigned},
    "lstm": {"arrays": array_kernels.lstm_unassigned},
}


def take(name: str, args: Arguments) -> Arguments:
    """Return tensors for the arguments of a kernel, leaves where they are differentiated."""
    own = [torch.tensor(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    for k in KERNELS[name].wrt:
        own[k].requires_grad_()
    return tuple(own)


def call(name: str, variant: str) -> Any:
    """Return the call of a port, tensors in and out."""
    kernel = KERNELS[name]
    port = PORTS.get(kernel.loss.__name__, {}).get(variant, kernel.loss)

    def value_and_grad(*args: Any) -> Any:
        value = port(*args)
        return value.detach(), torch.autograd.grad(value, [args[k] for k in kernel.wrt])

    return value_and_grad
