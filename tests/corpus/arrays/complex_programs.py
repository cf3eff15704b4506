"""Complex numbers, inside functions of real ones: so all oracles can differentiate them.

Functions of complex arguments are in `tests.unit.api.arguments.test_complex`.
"""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np

import adc
from tests.corpus.program import Program, recorder, uniform

COMPLEX_PROGRAMS: list[Program] = []
program = recorder(COMPLEX_PROGRAMS, "complex")

X = uniform(301, 2, 5)
Y = uniform(302, 2, 5)
M = uniform(303, 2, 3, 4)
N = uniform(304, 2, 4, 3)
REAL = uniform(305, 4, 3)
WAVES = np.exp(1j * np.arange(5.0))


@program(X, Y, argnums=(0, 1))
def complex_arithmetic(x: Any, y: Any) -> Any:
    a, b = x[0] + 1j * x[1], y[0] - 2j * y[1]
    c = a * b + a / b - b + 2.0 - a + 3.0 / a
    return np.sum((c * np.conj(c)).real)


@program(X, 0.7)
def complex_where_no_real_number_is_the_result(x: Any, angle: Any) -> Any:
    # Evanescent waves: the cosine is imaginary beyond the critical angle.
    total = 0.0
    for n in (0.5, 0.9, 1.5):
        inside = np.emath.arcsin(np.sin(angle) / n)
        r = (np.cos(angle) - n * np.cos(inside)) / (np.cos(angle) + n * np.cos(inside))
        total += np.abs(r) ** 2 + np.angle(r)
    w = np.emath.sqrt(x[0]) + np.emath.log(x[1])
    return total + np.sum(np.abs(w)) + np.sum(np.real_if_close(x[0] + 1e-18j).real)


@program(X)
def complex_powers(x: Any) -> Any:
    z = x[0] + 1j * x[1]
    w = z**2 + z**3 + z**-1 + z**0.5 + z**2.5 + z ** (1 + 2j) + 2.0**z + z**7
    return np.sum(np.abs(w))


@program(X)
def complex_elementary_functions(x: Any) -> Any:
    z = x[0] + 1j * x[1]
    w = np.exp(z) + np.log(z) + np.sqrt(z) + np.sin(z) * np.cos(z) + np.tan(z)
    w = w + np.sinh(z) * np.cosh(z) + np.tanh(z) + np.square(z) + np.reciprocal(z)
    w = w + np.log2(z) + np.log10(z) + np.log1p(z) + np.expm1(z) + np.exp2(z)
    return np.sum(w.real) + 2.0 * np.sum(w.imag)


@program(0.4 * X)
def complex_inverse_functions(x: Any) -> Any:
    z = x[0] + 1j * x[1]
    w = np.arcsin(z) + 2.0 * np.arccos(z) + np.arctan(z) + np.arcsinh(z) + np.arctanh(z)
    w = w + np.arccosh(z)
    return np.sum(w.real * x[1]) + np.sum(w.imag)


@program(np.array([0.7, -1.3]))
def complex_functions_on_the_real_axis(x: Any) -> Any:
    z = x.astype(complex)
    w = np.sqrt(z * z) + np.exp(z) + np.sin(z) + np.arctan(z) + np.sinh(z) + z**2
    return np.sum(w.real) + np.sum(np.abs(w))


@program(0.7, 1.9, argnums=(0, 1))
def complex_numbers_of_python(a: Any, b: Any) -> Any:
    z = complex(a, b)
    w = z**2 + cmath.exp(z) * z.conjugate() - cmath.sqrt(z) / cmath.log(z, 3.0)
    for _ in range(3):
        w = w * w / abs(w)
    r, angle = cmath.polar(w)
    return w.real + 2.0 * w.imag + r + angle + cmath.rect(a, b).imag + cmath.phase(z)


@program(X)
def complex_elements_in_a_loop(x: Any) -> Any:
    z = x[0] + 1j * x[1]
    s = 0j
    for k in range(len(z)):
        s = s * 0.5 + z[k] * z[k - 1]
    return abs(s) ** 2


@program(X)
def complex_arrays_written_in_place(x: Any) -> Any:
    w = x[0] + 1j * x[1]
    w[1:] += w[:-1] * 2j
    w[0] = w[-1]
    w *= 1j
    w[x[0] > 0.0] -= 1.0
    return np.sum(np.abs(w) ** 2)


@program(X)
def parts_of_complex_arrays_written(x: Any) -> Any:
    w = x[0] + 1j * x[1]
    w.real[1:] *= 2.0
    w.imag = w.real * w.imag
    w.imag[0] += 3.0
    part = w.real
    part[2] = 5.0 * x[0, 0]
    w[3] = x[1, 1]
    return np.sum(w.real**3) + np.sum(w.imag**2) + np.sum(part * x[1])


@program(X)
def parts_written_in_a_loop(x: Any) -> Any:
    w = np.zeros(5, complex)
    for k in range(5):
        w.real[k] = x[0, k] * x[1, k]
        w.imag[k] += w.real[k - 1] * 2.0
    return np.sum(np.abs(w))


@program(M, N, REAL, argnums=(0, 1, 2))
def complex_matrix_products(x: Any, y: Any, r: Any) -> Any:
    a, b = x[0] + 1j * x[1], y[0] + 1j * y[1]
    c = a @ b + (a @ r) @ np.eye(3) + (b.conj().T @ r).T
    v = c @ np.array([1.0, 2j, 0.5])
    return np.sum(np.abs(c) ** 2) + np.abs(np.vdot(v, v + 1j)) + np.abs(np.trace(c))


@program(M)
def complex_einsum(x: Any) -> Any:
    a = x[0] + 1j * x[1]
    return np.abs(np.einsum("ij,kj->", a, a.conj() * 2j)) + np.abs(np.outer(a[0], a[1])).sum()


@program(M)
def complex_reductions(x: Any) -> Any:
    a = x[0] + 1j * x[1]
    s = np.abs(a.mean(axis=0)).sum() + a.std() + np.abs(a.prod(axis=1)).sum()
    return s + np.var(a, axis=1).sum() + np.abs(np.cumsum(a)).sum() + np.abs(a.sum())


@program(M)
def complex_arrays_rearranged(x: Any) -> Any:
    a = x[0] + 1j * x[1]
    b = a.T.reshape(-1)[::2]
    c = np.concatenate([b, b.conj()])
    d = np.stack([c.real, c.imag])
    return np.sum(d**3) + np.abs(np.roll(c, 2) * c).sum() + np.abs(c[[0, 2, 2]] * 1j).sum()


@program(X)
def complex_masks_and_choices(x: Any) -> Any:
    z = x[0] + 1j * x[1]
    w = np.where(z.real > 0.0, z * z, np.conj(z))
    if abs(z[0]) > 0.5:
        w = w * 2j
    else:
        w = w + 1.0
    return np.abs(w[w.imag > 0.0]).sum() + np.sum(np.where(np.isreal(z), 0.0, w.real))


@program(X[0])
def waves_of_real_angles(x: Any) -> Any:
    z = np.exp(1j * x) * WAVES
    w = np.zeros(5, dtype=complex)
    w[::2] = z[::2]
    w[1] = x[0]
    return np.abs(w.sum()) + np.angle(z[2]) + np.real(z[1]) * np.imag(z[0])


@program(np.array([0.3, 0.5]))
def escape_of_a_complex_iteration(c: Any) -> Any:
    z, n = 0j, 0
    while abs(z) < 2.0 and n < 10:
        z = z * z + complex(c[0], c[1])
        n += 1
    return z.real + z.imag * n


@program(X)
def complex_numbers_in_lists_and_dicts(x: Any) -> Any:
    xs = []
    for k in range(5):
        xs.append(complex(x[0, k], x[1, k]))
    table = {"sum": sum(xs), "first": xs[0] * xs[1]}
    table["sum"] *= 1j
    return abs(table["sum"] + table["first"]) + np.abs(np.array(xs)).sum()


@program(X)
def complex_arguments_of_functions(x: Any) -> Any:
    def rotated(w: Any, by: Any = 0.3) -> Any:
        w = w * cmath.exp(1j * by)
        return w, abs(w)

    s = 0.0
    z = x[0] + 1j * x[1]
    for k in range(3):
        w, size = rotated(z[k], k)
        s += size * w.real
    return s


@program(X)
def derivative_of_a_complex_function_inside(x: Any) -> Any:
    z = x[0] + 1j * x[1]
    g = adc.grad(lambda w: np.sum(np.abs(w * w) ** 2))(z)
    _, d = adc.jvp(lambda w: w * w * z, (z,), (g,))
    return np.sum(np.abs(d)) + np.sum(g.imag)


@program(X.astype(np.float32), tags="float32")
def complex_numbers_of_single_precision(x: Any) -> Any:
    z = x[0] + np.complex64(1j) * x[1]
    return np.sum(np.abs(z * z + np.exp(z)) ** 2)


@program(X)
def sums_of_complex_numbers_and_zeros_of_floats(x: Any) -> Any:
    s = 0.0
    for k in range(5):
        s = s + complex(x[0, k], 1.0) * x[1, k]
    return abs(s)


@program(X)
def maximum_of_complex_numbers(x: Any) -> Any:
    z = x[0] + 1j * x[1]
    return np.max(z).imag + np.min(z).real + np.abs(z[np.argmax(z)])


@program(X)
def product_with_zero_modulus(x: Any) -> Any:
    z = (x[0] + 1j * x[1]) * np.array([0.0, 1.0, 1.0, 0.0, 2.0])
    return np.sum(np.abs(z)) + np.sum(np.sqrt(np.abs(z) ** 2 + 1.0))


@program(X)
def complex_array_of_one_branch(x: Any) -> Any:
    z = x[0] + 1j * x[1]
    total = 0.0
    for k in range(3):
        if x[0, k] > 0:
            w = z * z
            total = total + np.sum(np.abs(w)) * x[1, k]
    return total


@program(X)
def systems_of_complex_numbers(x: Any) -> Any:
    z = np.exp(1j * np.outer(x[0], np.arange(5.0)))
    a = z @ np.conj(z.T) + np.diag(x[1] ** 2 + 1.0)
    found = np.linalg.solve(a + 1j * np.eye(5), z[:, :2] * x[:, :1].T)
    factor = np.linalg.cholesky(a)
    return np.sum(np.abs(found) ** 2) + np.linalg.norm(factor - np.linalg.inv(a), 1)


def _rotated(state: Any, angle: Any, qubit: Any) -> Any:
    c, s = np.cos(angle), 1j * np.sin(angle)
    state = np.tensordot(np.array([[c, -s], [-s, c]]), state, axes=([1], [qubit]))
    return np.moveaxis(state, 0, qubit)


@program(X)
def axes_that_a_loop_counts(x: Any) -> Any:
    state = np.zeros((2, 2, 2), dtype=complex)
    state[0, 0, 0] = 1.0
    for layer in range(x.shape[0]):
        for qubit in range(3):
            state = _rotated(state, x[layer, qubit], qubit)
        state[1] = np.flip(state[1], axis=0)
    total = 0.0
    for axis in range(state.ndim):
        total += np.sum(np.abs(np.cumsum(state, axis=axis)) ** 2) * (axis + 1)
    return total


@program(X)
def complex_numbers_viewed_as_their_parts(x: Any) -> Any:
    z = np.exp(1j * x) * x[::-1]
    parts = z.view(float).reshape(2, 5, 2)
    turns = (x[:, 1:] * parts[:, 1:, 0]).copy().view(complex) ** 2
    return np.sum(parts[..., 0] * parts[..., 1] ** 2) + np.sum(np.abs(turns) ** 2)
