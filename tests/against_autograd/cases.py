"""Calls of all functions of `autograd.numpy`, `.linalg` and `.fft` that have a gradient there.

A case is a function of arrays, written with `np`: adc differentiates it as it stands, autograd with
its own module in place of NumPy.
"""
# One call a line, as a table: some are long.

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RNG = np.random.default_rng(11)
V = RNG.normal(size=5)
P = RNG.uniform(0.3, 2.0, size=5)  # positive
U = RNG.uniform(-0.8, 0.8, size=5)  # within (-1, 1)
A = RNG.normal(size=(3, 4))
B = RNG.normal(size=(4, 2))
S = RNG.normal(size=(3, 3)) + 3.0 * np.eye(3)
D = RNG.normal(size=(2, 3, 4))
Z = V + 1j * RNG.normal(size=5)
C = A + 1j * RNG.normal(size=(3, 4))
T = RNG.normal(size=(2, 3, 3)) + 3.0 * np.eye(3)

Case = tuple[str, Callable[..., Any], tuple[Any, ...]]
CASES: list[Case] = []


def case(name: str, *calls: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
    """Enter calls of a function."""
    for k, (fn, args) in enumerate(calls):
        CASES.append((f"{name}-{k}", fn, args))


# --- elementwise ----------------------------------------------------------------------------------

case(
    "abs",
    (lambda x: np.abs(x), (V,)),
    (lambda z: np.abs(z), (Z,)),
    (lambda x: np.absolute(x), (A,)),
)
case(
    "add",
    (lambda x, y: np.add(x, y), (V, P)),
    (lambda x, y: x + y, (A, A[0])),
    (lambda x, z: x + z, (V, Z)),
    (lambda x: x + 2.0, (V,)),
)
case(
    "subtract",
    (lambda x, y: np.subtract(x, y), (A, A[:, :1])),
    (lambda x, z: x - z, (V, Z)),
    (lambda x: 1.0 - x, (V,)),
)
case(
    "multiply",
    (lambda x, y: np.multiply(x, y), (A, A[0])),
    (lambda x, z: x * z, (V, Z)),
    (lambda z: z * 2j, (Z,)),
)
case(
    "divide",
    (lambda x, y: np.divide(x, y), (V, P)),
    (lambda x, z: x / z, (V, Z)),
    (lambda z, x: z / x, (Z, P)),
    (lambda x, y: np.true_divide(x, y), (A, P[:4])),
)
case(
    "power",
    (lambda x, y: np.power(x, y), (P, V)),
    (lambda x: x**3, (V,)),
    (lambda x: x**-1, (P,)),
    (lambda x: 2.0**x, (V,)),
    (lambda z: z**2, (Z,)),
    (lambda z: z**1.5, (P + 1j,)),
)
case("negative", (lambda x: np.negative(x), (V,)), (lambda z: -z, (Z,)))
case("reciprocal", (lambda x: np.reciprocal(x), (P,)), (lambda z: np.reciprocal(z), (Z,)))
case(
    "remainder",
    (lambda x, y: np.remainder(x, y), (V, P)),
    (lambda x, y: np.mod(x, y), (V, P)),
    (lambda x: x % 0.7, (V,)),
)
case("exp", (lambda x: np.exp(x), (V,)), (lambda z: np.exp(z), (Z,)))
case("exp2", (lambda x: np.exp2(x), (V,)))
case("expm1", (lambda x: np.expm1(x), (V,)))
case("log", (lambda x: np.log(x), (P,)), (lambda z: np.log(z), (Z,)))
case("log2", (lambda x: np.log2(x), (P,)))
case("log10", (lambda x: np.log10(x), (P,)))
case("log1p", (lambda x: np.log1p(x), (P,)))
case("sqrt", (lambda x: np.sqrt(x), (P,)), (lambda z: np.sqrt(z), (Z,)))
case("square", (lambda x: np.square(x), (V,)), (lambda z: np.square(z), (Z,)))
case("sin", (lambda x: np.sin(x), (V,)), (lambda z: np.sin(z), (Z,)))
case("cos", (lambda x: np.cos(x), (V,)), (lambda z: np.cos(z), (Z,)))
case("tan", (lambda x: np.tan(x), (U,)), (lambda z: np.tan(z), (Z,)))
case("sinh", (lambda x: np.sinh(x), (V,)), (lambda z: np.sinh(z), (Z,)))
case("cosh", (lambda x: np.cosh(x), (V,)), (lambda z: np.cosh(z), (Z,)))
case("tanh", (lambda x: np.tanh(x), (V,)), (lambda z: np.tanh(z), (Z,)))
case("arcsin", (lambda x: np.arcsin(x), (U,)))
case("arccos", (lambda x: np.arccos(x), (U,)))
case("arctan", (lambda x: np.arctan(x), (V,)))
case("arcsinh", (lambda x: np.arcsinh(x), (V,)))
case("arccosh", (lambda x: np.arccosh(x), (P + 1.0,)))
case("arctanh", (lambda x: np.arctanh(x), (U,)))
case("arctan2", (lambda x, y: np.arctan2(x, y), (V, P)))
case("hypot", (lambda x, y: np.hypot(x, y), (V, P)))
case("sinc", (lambda x: np.sinc(x), (V,)))
case("deg2rad", (lambda x: np.deg2rad(x), (V,)), (lambda x: np.radians(x), (V,)))
case("rad2deg", (lambda x: np.rad2deg(x), (V,)), (lambda x: np.degrees(x), (V,)))
case("fabs", (lambda x: np.fabs(x), (V,)))
case("logaddexp", (lambda x, y: np.logaddexp(x, y), (V, P)))
case("logaddexp2", (lambda x, y: np.logaddexp2(x, y), (V, P)))
case("maximum", (lambda x, y: np.maximum(x, y), (V, P)), (lambda x: np.maximum(x, 0.1), (A,)))
case(
    "minimum",
    (lambda x, y: np.minimum(x, y), (V, P)),
    (lambda x, y: np.fmin(x, y), (A, A[0] + 0.1)),
)
case("fmax", (lambda x, y: np.fmax(x, y), (V, P)))
case("clip", (lambda x: np.clip(x, -0.5, 0.5), (V,)))
case("nan_to_num", (lambda x: np.nan_to_num(x), (V,)))
case(
    "where",
    (lambda x, y: np.where(x > y, x, y * 2.0), (V, P)),
    (lambda z: np.where(np.real(z) > 0, z, z * 1j), (Z,)),
)
case("real", (lambda z: np.real(z), (Z,)), (lambda x: np.real(x), (V,)))
case("imag", (lambda z: np.imag(z), (Z,)))
case("conj", (lambda z: np.conj(z), (Z,)), (lambda z: np.conjugate(z), (C,)))
case("angle", (lambda z: np.angle(z), (Z,)))
case("real_if_close", (lambda x: np.real_if_close(x), (V,)))
case("astype", (lambda x: x.astype(np.complex128) * 1j, (V,)))

# --- reductions -----------------------------------------------------------------------------------

for _name in ("sum", "mean", "prod", "var", "std", "max", "min"):
    _calls: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
    for _code in (
        "np.{}(x)", "np.{}(x, axis=1)", "np.{}(x, axis=0, keepdims=True)", "np.{}(x, axis=(0, 1))",
        "np.{}(x, axis=-1)", "np.{}(x, 0)",
    ):  # fmt: skip
        _calls.append((_code.format(_name), (A,)))  # type: ignore[arg-type]  # made a function below
    CASES += [(f"{_name}-{k}", code, args) for k, (code, args) in enumerate(_calls)]
case(
    "sum-complex",
    (lambda z: np.sum(z, axis=0), (C,)),
    (lambda z: np.mean(z), (C,)),
    (lambda z: np.prod(z, axis=1), (C,)),
)
case("var-ddof", (lambda x: np.var(x, axis=0, ddof=1), (A,)), (lambda x: np.std(x, ddof=1), (A,)))
case(
    "cumsum",
    (lambda x: np.cumsum(x), (A,)),
    (lambda x: np.cumsum(x, axis=1), (A,)),
    (lambda z: np.cumsum(z), (Z,)),
)
case("amax", (lambda x: np.amax(x, axis=1), (A,)), (lambda x: np.amin(x, axis=0), (A,)))
case(
    "diff",
    (lambda x: np.diff(x), (A,)),
    (lambda x: np.diff(x, n=2, axis=0), (A,)),
    (lambda x: np.diff(x, axis=0), (A,)),
)
case(
    "gradient",
    (lambda x: np.gradient(x), (V,)),
    (lambda x: np.gradient(x, 0.5), (V,)),
    (lambda x: np.gradient(x, axis=1), (A,)),
)

# --- products -------------------------------------------------------------------------------------

case(
    "dot",
    (lambda x, y: np.dot(x, y), (A, B)),
    (lambda x, y: np.dot(x, y), (V, P)),
    (lambda x, y: np.dot(x, y), (A, B[:, 0])),
    (lambda x, y: np.dot(x, y), (D, B)),
)
case(
    "matmul",
    (lambda x, y: x @ y, (A, B)),
    (lambda x, y: np.matmul(x, y), (D, B)),
    (lambda x, y: x @ y, (A, B[:, 0])),
    (lambda x, y: x @ y, (V, P)),
    (lambda z, x: z @ x, (C, B + 0j)),
)
case("inner", (lambda x, y: np.inner(x, y), (V, P)), (lambda x, y: np.inner(x, y), (A, A)))
case("outer", (lambda x, y: np.outer(x, y), (V, P)), (lambda z, y: np.outer(z, y), (Z, P)))
case(
    "tensordot",
    (lambda x, y: np.tensordot(x, y, axes=1), (A, B)),
    (lambda x, y: np.tensordot(x, y, axes=2), (A, A)),
    (lambda x, y: np.tensordot(x, y, axes=([2], [0])), (D, B)),
)
case("kron", (lambda x, y: np.kron(x, y), (V, P)), (lambda x, y: np.kron(x, y), (A, B)))
case(
    "cross",
    (lambda x, y: np.cross(x, y), (S, S[::-1])),
    (lambda x, y: np.cross(x, y), (S[0], S[1])),
)
case(
    "einsum",
    (lambda x, y: np.einsum("ij,jk->ik", x, y), (A, B)),
    (lambda x: np.einsum("ij->", x), (A,)),
    (lambda x, y: np.einsum("...j,jk", x, y), (D, B)),
    (lambda x, y: np.einsum(x, [0, 1], y, [1, 2]), (A, B)),
    (lambda z: np.einsum("ij,ij->j", z, np.conj(z)), (C,)),
)
case("trace", (lambda x: np.trace(x), (S,)), (lambda x: np.trace(x, offset=1), (A,)))

# --- shapes ---------------------------------------------------------------------------------------

case(
    "reshape",
    (lambda x: np.reshape(x, (4, 3)), (A,)),
    (lambda x: x.reshape(2, -1), (A,)),
    (lambda x: np.reshape(x, (-1,), order="F"), (A,)),
)
case(
    "ravel",
    (lambda x: np.ravel(x), (A,)),
    (lambda x: x.ravel(), (A,)),
    (lambda x: np.ravel(x, order="F"), (A,)),
)
case(
    "transpose",
    (lambda x: np.transpose(x), (A,)),
    (lambda x: np.transpose(x, (2, 0, 1)), (D,)),
    (lambda x: x.T, (A,)),
)
case("swapaxes", (lambda x: np.swapaxes(x, 0, 2), (D,)))
case("moveaxis", (lambda x: np.moveaxis(x, 0, -1), (D,)))
case("rollaxis", (lambda x: np.rollaxis(x, 2), (D,)))
case("expand_dims", (lambda x: np.expand_dims(x, 1), (A,)))
case(
    "squeeze",
    (lambda x: np.squeeze(x[None]), (A,)),
    (lambda x: np.squeeze(x[:, None], axis=1), (A,)),
)
case(
    "atleast",
    (lambda x: np.atleast_1d(x), (V,)),
    (lambda x: np.atleast_2d(x), (V,)),
    (lambda x: np.atleast_3d(x), (A,)),
)
case("broadcast_to", (lambda x: np.broadcast_to(x, (2, 5)), (V,)))
case("repeat", (lambda x: np.repeat(x, 2), (A,)), (lambda x: np.repeat(x, 3, axis=1), (A,)))
case("tile", (lambda x: np.tile(x, 2), (V,)), (lambda x: np.tile(x, (2, 3)), (A,)))
case(
    "pad",
    (lambda x: np.pad(x, 1, mode="constant"), (A,)),
    (lambda x: np.pad(x, ((1, 2), (0, 1)), mode="constant"), (A,)),
)
case("roll", (lambda x: np.roll(x, 2), (V,)), (lambda x: np.roll(x, 1, axis=1), (A,)))
case("rot90", (lambda x: np.rot90(x), (A,)), (lambda x: np.rot90(x, k=3), (A,)))
case(
    "flip",
    (lambda x: np.fliplr(x), (A,)),
    (lambda x: np.flipud(x), (A,)),
    (lambda x: x[::-1], (A,)),
)
case(
    "diag",
    (lambda x: np.diag(x), (V,)),
    (lambda x: np.diag(x, 1), (V,)),
    (lambda x: np.diag(x), (S,)),
)
case("diagonal", (lambda x: np.diagonal(x), (S,)), (lambda x: np.diagonal(x, 1), (A,)))
case(
    "tril",
    (lambda x: np.tril(x), (A,)),
    (lambda x: np.triu(x, k=1), (A,)),
    (lambda z: np.triu(z), (C,)),
)
case(
    "split",
    (lambda x: np.split(x, 2, axis=1)[0], (A,)),
    (lambda x: np.array_split(x, 2)[1], (V,)),
    (lambda x: np.vsplit(x, 3)[1], (A,)),
    (lambda x: np.hsplit(x, 2)[1], (A,)),
    (lambda x: np.dsplit(x, 2)[0], (D,)),
)
case(
    "concatenate",
    (lambda x, y: np.concatenate([x, y]), (V, P)),
    (lambda x, y: np.concatenate((x, y), axis=1), (A, A)),
    (lambda x, z: np.concatenate([x, z]), (V, Z)),
    (lambda x, y: np.vstack([x, y]), (V, P)),
    (lambda x, y: np.hstack([x, y]), (A, A)),
    (lambda x, y: np.column_stack([x, y]), (V, P)),
    (lambda x, y: np.append(x, y), (V, P)),
)
case(
    "stack",
    (lambda x, y: np.stack([x, y]), (V, P)),
    (lambda x, y: np.stack([x, y], axis=1), (V, P)),
)
case(
    "array",
    (lambda x: np.array([x[0], x[1] * 2.0]), (V,)),
    (lambda x, y: np.array([[x[0], y[1]], [1.0, x[2]]]), (V, P)),
)
case("full", (lambda x: np.full((2, 3), x), (0.7,)))
case("linspace", (lambda x, y: np.linspace(x, y, 5), (0.3, 1.7)))
case(
    "index",
    (lambda x: x[1], (A,)),
    (lambda x: x[:, 1:3], (A,)),
    (lambda x: x[[0, 2, 0]], (A,)),
    (lambda x: x[np.array([0, 1]), np.array([1, 1])], (A,)),
    (lambda x: x[x > 0.0], (V,)),
    (lambda x: x[..., None, 0], (A,)),
    (lambda z: z[::-2], (Z,)),
    (lambda x: x[-1, ::2], (A,)),
)
case("sort", (lambda x: np.sort(x), (V,)), (lambda x: np.sort(x, axis=0), (A,)))
case("partition", (lambda x: np.sort(np.partition(x, 2)[:2]), (V,)))

# --- linear algebra -------------------------------------------------------------------------------

case(
    "solve",
    (lambda a, b: np.linalg.solve(a, b), (S, S[0])),
    (lambda a, b: np.linalg.solve(a, b), (S, A)),
    (lambda a, b: np.linalg.solve(a, b), (T, D)),
)
case("inv", (lambda a: np.linalg.inv(a), (S,)), (lambda a: np.linalg.inv(a), (T,)))
case("det", (lambda a: np.linalg.det(a), (S,)), (lambda a: np.linalg.det(a), (T,)))
case(
    "slogdet", (lambda a: np.linalg.slogdet(a)[1], (S,)), (lambda a: np.linalg.slogdet(a)[1], (T,))
)
case(
    "cholesky",
    (lambda a: np.linalg.cholesky(a @ a.T), (S,)),
    (lambda a: np.linalg.cholesky(a @ np.swapaxes(a, 1, 2)), (T,)),
)
case(
    "eigh",
    (lambda a: np.linalg.eigh(a + a.T)[0], (S,)),
    (lambda a: np.abs(np.linalg.eigh(a + a.T)[1]), (S,)),
    (lambda a: np.linalg.eigh(a + np.swapaxes(a, 1, 2))[0], (T,)),
)
case(
    "svd",
    (lambda a: np.linalg.svd(a, compute_uv=False), (A,)),
    (lambda a: np.abs(np.linalg.svd(a, full_matrices=False)[0]), (A,)),
    (lambda a: np.abs(np.linalg.svd(a, full_matrices=False)[2]), (A.T,)),
)
case("pinv", (lambda a: np.linalg.pinv(a), (A,)))
case(
    "norm",
    (lambda x: np.linalg.norm(x), (V,)),
    (lambda x: np.linalg.norm(x), (A,)),
    (lambda x: np.linalg.norm(x, axis=1), (A,)),
    (lambda x: np.linalg.norm(x, 3), (V,)),
    (lambda x: np.linalg.norm(x, "fro"), (A,)),
    (lambda x: np.linalg.norm(x, "nuc"), (A,)),
)

# --- Fourier transforms ---------------------------------------------------------------------------

for _name in ("fft", "ifft"):
    CASES += [
        (f"{_name}-{k}", code.format(_name), args)  # type: ignore[misc]  # made a function below
        for k, (code, args) in enumerate([
            ("np.fft.{}(x)", (V,)), ("np.fft.{}(x)", (Z,)), ("np.fft.{}(x, n=7)", (Z,)),
            ("np.fft.{}(x, n=3)", (V,)), ("np.fft.{}(x, axis=0)", (C,)),
            ("np.fft.{}(x, norm='ortho')", (Z,)),
        ])
    ]  # fmt: skip
for _name in ("fft2", "ifft2", "fftn", "ifftn"):
    CASES += [
        (f"{_name}-{k}", code.format(_name), args)  # type: ignore[misc]  # as above
        for k, (code, args) in enumerate([
            ("np.fft.{}(x)", (A,)), ("np.fft.{}(x)", (C,)), ("np.fft.{}(x, axes=(1, 0))", (C,)),
            ("np.fft.{}(x, s=(4, 6))", (C,)),
        ])
    ]  # fmt: skip
case(
    "rfft",
    (lambda x: np.fft.rfft(x), (V,)),
    (lambda x: np.fft.rfft(x, axis=1), (A,)),
    (lambda x: np.fft.rfft(x, norm="ortho"), (A[0],)),
)
case("irfft", (lambda z: np.fft.irfft(z), (Z,)), (lambda z: np.fft.irfft(z, n=7), (Z[:4],)))
case("rfft2", (lambda x: np.fft.rfft2(x), (A,)), (lambda x: np.fft.rfftn(x), (A,)))
case("irfft2", (lambda z: np.fft.irfft2(z), (C,)), (lambda z: np.fft.irfftn(z), (C,)))
case("fftshift", (lambda x: np.fft.fftshift(x), (V,)), (lambda z: np.fft.ifftshift(z), (C,)))
