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


def heat(steps: Any, A: Any, B: Any, w: Any) -> Any:
    """Heat equation in 3-D of NPBench, which changes both arrays; `w` weighs the first."""
    for _ in range(steps):
        B[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, :-2])
            + A[1:-1, 1:-1, 1:-1]
        )
        A[1:-1, 1:-1, 1:-1] = (
            0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[:-2, 1:-1, 1:-1])
            + 0.125 * (B[1:-1, 2:, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, :-2, 1:-1])
            + 0.125 * (B[1:-1, 1:-1, 2:] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, 1:-1, :-2])
            + B[1:-1, 1:-1, 1:-1]
        )
    return np.sum(w * A)


def vadv(
    utens_stage: Any, u_stage: Any, wcon: Any, u_pos: Any, utens: Any, dtr_stage: Any, w: Any
) -> Any:
    """Vertical advection of NPBench: tridiagonal systems along k, solved a level at a time."""
    I, J, K = utens_stage.shape  # noqa: E741
    ccol = np.zeros((I, J, K))
    dcol = np.zeros((I, J, K))

    gcv = 0.25 * (wcon[1:, :, 1] + wcon[:-1, :, 1])
    cs = gcv * 0.5
    ccol[:, :, 0] = gcv * 0.5
    bcol = dtr_stage - ccol[:, :, 0]
    correction = -cs * (u_stage[:, :, 1] - u_stage[:, :, 0])
    dcol[:, :, 0] = dtr_stage * u_pos[:, :, 0] + utens[:, :, 0] + utens_stage[:, :, 0] + correction
    divided = 1.0 / bcol
    ccol[:, :, 0] = ccol[:, :, 0] * divided
    dcol[:, :, 0] = dcol[:, :, 0] * divided

    for k in range(1, K - 1):
        gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
        gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
        as_ = gav * 0.5
        cs = gcv * 0.5
        acol = gav * 0.5
        ccol[:, :, k] = gcv * 0.5
        bcol = dtr_stage - acol - ccol[:, :, k]
        correction = -as_ * (u_stage[:, :, k - 1] - u_stage[:, :, k]) - cs * (
            u_stage[:, :, k + 1] - u_stage[:, :, k]
        )
        dcol[:, :, k] = (
            dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        )
        divided = 1.0 / (bcol - ccol[:, :, k - 1] * acol)
        ccol[:, :, k] = ccol[:, :, k] * divided
        dcol[:, :, k] = (dcol[:, :, k] - dcol[:, :, k - 1] * acol) * divided

    gav = -0.25 * (wcon[1:, :, K - 1] + wcon[:-1, :, K - 1])
    as_ = gav * 0.5
    acol = gav * 0.5
    bcol = dtr_stage - acol
    correction = -as_ * (u_stage[:, :, K - 2] - u_stage[:, :, K - 1])
    dcol[:, :, K - 1] = (
        dtr_stage * u_pos[:, :, K - 1] + utens[:, :, K - 1] + utens_stage[:, :, K - 1] + correction
    )
    divided = 1.0 / (bcol - ccol[:, :, K - 2] * acol)
    dcol[:, :, K - 1] = (dcol[:, :, K - 1] - dcol[:, :, K - 2] * acol) * divided

    data_col = np.empty((I, J))
    data_col[:] = dcol[:, :, K - 1]
    utens_stage[:, :, K - 1] = dtr_stage * (data_col - u_pos[:, :, K - 1])
    for k in range(K - 2, -1, -1):
        data_col[:] = dcol[:, :, k] - ccol[:, :, k] * data_col
        utens_stage[:, :, k] = dtr_stage * (data_col - u_pos[:, :, k])
    return np.sum(w * utens_stage)


def vadv_unassigned(
    utens_stage: Any, u_stage: Any, wcon: Any, u_pos: Any, utens: Any, dtr_stage: Any, w: Any
) -> Any:
    """What does not depend on other levels is done for all of them at once."""
    K = utens_stage.shape[2]
    gain = 0.125 * (wcon[1:, :, 1:] + wcon[:-1, :, 1:])
    flow = gain * (u_stage[:, :, 1:] - u_stage[:, :, :-1])
    rhs = dtr_stage * u_pos + utens + utens_stage

    divided = 1.0 / (dtr_stage - gain[:, :, 0])
    ccol = [gain[:, :, 0] * divided]
    dcol = [(rhs[:, :, 0] - flow[:, :, 0]) * divided]
    for k in range(1, K):
        acol = -gain[:, :, k - 1]
        pivot = dtr_stage - acol - ccol[-1] * acol
        right = rhs[:, :, k] - flow[:, :, k - 1] - dcol[-1] * acol
        if k < K - 1:
            pivot = pivot - gain[:, :, k]
            right = right - flow[:, :, k]
            ccol.append(gain[:, :, k] / pivot)
        dcol.append(right / pivot)

    columns = [dcol[-1]]
    for k in range(K - 2, -1, -1):
        columns.append(dcol[k] - ccol[k] * columns[-1])
    return np.sum(w * dtr_stage * (np.stack(columns[::-1], 2) - u_pos))


def syrk(alpha: Any, beta: Any, C: Any, A: Any, w: Any) -> Any:
    """Symmetric product of NPBench, which changes the lower triangle of `C`."""
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]
    return np.sum(w * C)


def syrk_unassigned(alpha: Any, beta: Any, C: Any, A: Any, w: Any) -> Any:
    """All of it at once."""
    return np.sum(w * (np.tril(alpha * (A @ A.T) + beta * C) + np.triu(C, 1)))


def conv2d(images: Any, weights: Any, bias: Any, w: Any) -> Any:
    """Convolution of NPBench: a window at a time, over all images and channels."""
    K = weights.shape[0]
    N, H, W = images.shape[0], images.shape[1] - K + 1, images.shape[2] - K + 1
    output = np.empty((N, H, W, weights.shape[3]))
    for i in range(H):
        for j in range(W):
            output[:, i, j, :] = np.sum(
                images[:, i : i + K, j : j + K, :, np.newaxis] * weights[np.newaxis, :, :, :],
                axis=(1, 2, 3),
            )
    return np.sum(w * (output + bias))


def gemm(alpha: Any, beta: Any, C: Any, A: Any, B: Any, w: Any) -> Any:
    """Product of matrices, which changes `C`."""
    C[:] = alpha * A @ B + beta * C
    return np.sum(w * C)


def gemm_unassigned(alpha: Any, beta: Any, C: Any, A: Any, B: Any, w: Any) -> Any:
    return np.sum(w * (alpha * (A @ B) + beta * C))


def atax(A: Any, x: Any, w: Any) -> Any:
    """A matrix, and its transpose, times a vector."""
    return np.sum(w * ((A @ x) @ A))


def sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


def lstm(main: Any, extra: Any, state: Any, sequence: Any) -> Any:
    """Predict each character from those before: LSTM of ADBench, which changes `state`.

    Gates are elementwise. A layer has a row of four weights and one of four biases in `main`, and
    one of what it puts out and one of what it remembers in `state`.
    """
    b = state.shape[1]
    total = 0.0
    for t in range(sequence.shape[0] - 1):
        x = sequence[t] * extra[0]
        for row in range(0, state.shape[0], 2):
            weight, shift = main[row], main[row + 1]
            hidden = state[row]
            forget = sigmoid(x * weight[:b] + shift[:b])
            ingate = sigmoid(hidden * weight[b : 2 * b] + shift[b : 2 * b])
            outgate = sigmoid(x * weight[2 * b : 3 * b] + shift[2 * b : 3 * b])
            change = np.tanh(hidden * weight[3 * b :] + shift[3 * b :])
            state[row + 1] = state[row + 1] * forget + ingate * change
            x = outgate * np.tanh(state[row + 1])
            state[row] = x
        guess = x * extra[1] + extra[2]
        total += np.sum(sequence[t + 1] * (guess - np.log(np.sum(np.exp(guess)) + 2.0)))
    return -total / ((sequence.shape[0] - 1) * b)


def lstm_unassigned(main: Any, extra: Any, state: Any, sequence: Any) -> Any:
    """For tools whose arrays cannot be changed."""
    b = state.shape[1]
    rows = [state[row] for row in range(state.shape[0])]
    total = 0.0
    for t in range(sequence.shape[0] - 1):
        x = sequence[t] * extra[0]
        for row in range(0, len(rows), 2):
            weight, shift, hidden = main[row], main[row + 1], rows[row]
            forget = sigmoid(x * weight[:b] + shift[:b])
            ingate = sigmoid(hidden * weight[b : 2 * b] + shift[b : 2 * b])
            outgate = sigmoid(x * weight[2 * b : 3 * b] + shift[2 * b : 3 * b])
            change = np.tanh(hidden * weight[3 * b :] + shift[3 * b :])
            rows[row + 1] = rows[row + 1] * forget + ingate * change
            x = outgate * np.tanh(rows[row + 1])
            rows[row] = x
        guess = x * extra[1] + extra[2]
        total = total + np.sum(sequence[t + 1] * (guess - np.log(np.sum(np.exp(guess)) + 2.0)))
    return -total / ((sequence.shape[0] - 1) * b)


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
