"""Array code: NumPy expressions as people write them, and a mixture of Gaussians as plain loops.

Each returns a number. What the arguments are, and which of them are differentiated, stands in
`tests.bench.kernels`. Other tools get the same programs where they can, with their own array module
as ``np``.
"""

import math
from typing import Any

import numpy

np: Any = numpy  # or another tool's module


def chain(x: Any, w: Any) -> Any:
    """Sum an elementwise expression."""
    return np.sum(np.tanh(np.sin(x) * w) ** 2)


def softmax_ce(logits: Any, labels: Any) -> Any:
    """Softmax cross-entropy with integer labels, mean over the rows."""
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(logits.shape[0]), labels])


def layernorm(x: Any, g: Any, b: Any, w: Any) -> Any:
    """Layer normalisation of the rows; `w` weighs the output."""
    mean = np.mean(x, axis=1, keepdims=True)
    var = np.var(x, axis=1, keepdims=True)
    y = (x - mean) / np.sqrt(var + 1e-5) * g + b
    return np.sum(y * w)


def mlp(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    """Mean squared error of two layers."""
    hidden = np.tanh(x @ w1 + b1)
    return np.mean((hidden @ w2 + b2 - y) ** 2)


def jacobi(steps: Any, A: Any, B: Any, w: Any) -> Any:
    """Jacobi 2-D of NPBench, which changes both arrays; `w` weighs the first."""
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (
            A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
        )
        A[1:-1, 1:-1] = 0.2 * (
            B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1]
        )
    return np.sum(w * A)


def hdiff(in_field: Any, coeff: Any, w: Any) -> Any:
    """Horizontal diffusion of NPBench, with its limiter; `w` weighs the output."""
    out_field = np.empty_like(coeff)
    out_field[:, :, :] = diffused(in_field, coeff)
    return np.sum(out_field * w)


def hdiff_unassigned(in_field: Any, coeff: Any, w: Any) -> Any:
    """For tools whose arrays cannot be changed."""
    return np.sum(diffused(in_field, coeff) * w)


def diffused(in_field: Any, coeff: Any) -> Any:
    I, J = coeff.shape[0], coeff.shape[1]  # noqa: E741
    lap_field = 4.0 * in_field[1 : I + 3, 1 : J + 3, :] - (
        in_field[2 : I + 4, 1 : J + 3, :]
        + in_field[0 : I + 2, 1 : J + 3, :]
        + in_field[1 : I + 3, 2 : J + 4, :]
        + in_field[1 : I + 3, 0 : J + 2, :]
    )

    res = lap_field[1:, 1 : J + 1, :] - lap_field[:-1, 1 : J + 1, :]
    flx_field = np.where(
        (res * (in_field[2 : I + 3, 2 : J + 2, :] - in_field[1 : I + 2, 2 : J + 2, :])) > 0,
        0,
        res,
    )

    res = lap_field[1 : I + 1, 1:, :] - lap_field[1 : I + 1, :-1, :]
    fly_field = np.where(
        (res * (in_field[2 : I + 2, 2 : J + 3, :] - in_field[2 : I + 2, 1 : J + 2, :])) > 0,
        0,
        res,
    )

    return in_field[2 : I + 2, 2 : J + 2, :] - coeff[:, :, :] * (
        flx_field[1:, :, :] - flx_field[:-1, :, :] + fly_field[:, 1:, :] - fly_field[:, :-1, :]
    )


def mixture(alphas: Any, means: Any, icf: Any, x: Any, gamma: Any, m: Any) -> Any:
    """Log-likelihood of a Gaussian mixture with a Wishart prior: GMM of ADBench, as loops.

    A row of `icf` has the logarithms of the diagonal of an inverse Cholesky factor and, column by
    column, what is below it. Terms that do not depend on the parameters are left out.
    """
    n, d = x.shape
    components = alphas.shape[0]
    qdiags = np.exp(icf[:, :d])
    sum_qs = np.sum(icf[:, :d], axis=1)
    centred = np.zeros(d)
    scaled = np.zeros(d)
    terms = np.zeros(components)

    total = 0.0
    for i in range(n):
        for k in range(components):
            for r in range(d):
                centred[r] = x[i, r] - means[k, r]
                scaled[r] = qdiags[k, r] * centred[r]
            at = d
            for c in range(d):
                for r in range(c + 1, d):
                    scaled[r] += icf[k, at] * centred[c]
                    at += 1
            square = 0.0
            for r in range(d):
                square += scaled[r] * scaled[r]
            terms[k] = alphas[k] + sum_qs[k] - 0.5 * square
        largest = terms[0]
        for k in range(1, components):
            if terms[k] > largest:
                largest = terms[k]
        share = 0.0
        for k in range(components):
            share += math.exp(terms[k] - largest)
        total += largest + math.log(share)

    largest = np.max(alphas)
    total -= n * (largest + math.log(np.sum(np.exp(alphas - largest))))

    for k in range(components):
        square = 0.0
        for r in range(d):
            square += qdiags[k, r] * qdiags[k, r]
        for at in range(d, icf.shape[1]):
            square += icf[k, at] * icf[k, at]
        total += 0.5 * gamma * gamma * square - m * sum_qs[k]
    return total
