"""Programs of products of vectors, matrices and stacks of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.arrays.array_programs import C234, M33, M34, weighted
from tests.corpus.program import X3, Program, recorder, uniform

MATMUL_PROGRAMS: list[Program] = []
program = recorder(MATMUL_PROGRAMS)

M54, M46, M56, M55 = (uniform(20 + k, *s) for k, s in enumerate([(5, 4), (4, 6), (5, 6), (5, 5)]))


@program(M34, X3, argnums=(0, 1))
def dot_of_all_ranks(x: Any, v: Any) -> Any:
    return (
        np.dot(v, v)
        + weighted(np.dot(v, x))
        + weighted(np.dot(x.T, v))
        + weighted(x.T.dot(x))
        + weighted(np.dot(x, 2.0))
        + weighted(np.dot(v[0], x))
    )


@program(C234, M33, argnums=(0, 1))
def dot_of_cubes(c: Any, m: Any) -> Any:
    return weighted(np.dot(m, c)) + weighted(np.dot(c, c[0].T)) + weighted(c.dot(c[1, 0]))


@program(C234, M34, argnums=(0, 1))
def matmul_of_all_ranks(c: Any, m: Any) -> Any:
    return (
        weighted(c @ m.T)
        + weighted(m.T @ c)
        + weighted(c @ m[0])
        + weighted(m[:, 0] @ c)
        + weighted(np.matmul(c, c.transpose(0, 2, 1)))
        + m[0] @ m[1]
        + weighted(m[0] @ m.T)
    )


@program(uniform(11, 2, 2, 3), uniform(12, 3, 3, 2), argnums=(0, 1))
def matmul_broadcasts(a: Any, b: Any) -> Any:
    return weighted(a[:, None] @ b) + weighted(a @ b[:1]) + weighted(a[0] @ b[None, 1:])


@program(M33)
def matmul_in_place(x: Any) -> Any:
    a = x * 1.0
    a @= x
    a[:2] = a[:2] @ a
    return weighted(a)


@program(M54, M46, M56, argnums=(0, 1, 2))
def matmul_of_matrices(a: Any, b: Any, w: Any) -> Any:
    # Some of these have fewer multiplications than BLAS is called for, some have more.
    c = a @ b
    return (
        np.sum(c * w)
        + weighted(b.T @ a.T)
        + weighted(a.T @ w)
        + weighted(w.T[:, :] @ a[:, ::-1])
        + weighted(a[:2] @ b[:, 1:3])
        + weighted(c @ c.T)
        + weighted((a * 2.0) @ b.T.copy().T)
        + weighted(np.transpose(w) @ np.sin(c))
    )


@program(np.asfortranarray(M54), M46[::2, ::-1], np.asfortranarray(M46), argnums=(0, 1, 2))
def matmul_of_any_layout(a: Any, b: Any, c: Any) -> Any:
    return weighted(a @ c) + weighted(a[:, 1:3] @ b) + weighted(c.T @ a.T) + weighted(b.T @ b)


@program(M55, M55.T.copy(), argnums=(0, 1))
def matmul_in_loops(x: Any, w: Any) -> Any:
    a = x
    total = 0.0
    for k in range(3):
        a = np.tanh(a @ w)
        b = w @ a.T
        for _ in range(k):
            b = b @ x * 0.5
            total = total + b[k, 0]
        total = total + weighted(b)
    return total + weighted(a)


@program(M55, M55 * 0.5, argnums=(0, 1))
def matmul_in_a_while(x: Any, w: Any) -> Any:
    a = x @ w
    n = 0
    while np.sum(a * a) > 0.01 and n < 4:
        a = a @ w if a[0, 0] > 0.0 else w.T @ a
        n += 1
    return weighted(a) + n


@program(M55, M46, argnums=(0, 1))
def matmul_in_branches(x: Any, y: Any) -> Any:
    a = x
    if x[0, 0] > y[0, 0]:
        a = x @ x
        b = y.T @ y
    else:
        b = y @ y.T
    if b.shape[0] > 100:
        a = a @ a @ a
    return weighted(a @ x) + weighted(b)


def _power(a: Any, n: Any) -> Any:
    if n == 0:
        return np.eye(len(a))
    half = _power(a, n // 2)
    return half @ half @ a if n % 2 else half @ half


@program(M55, 5)
def matmul_in_a_recursion(x: Any, n: Any) -> Any:
    return weighted(_power(x * 0.5, n))


@program(M55, M55 + 1.0, argnums=(0, 1))
def matmul_of_arrays_that_change(x: Any, y: Any) -> Any:
    a = x.copy()
    b = a @ y
    a[1] = b[2] * a[0]
    c = a @ b
    b += a @ c
    a[:, 0] = 0.5
    a -= b @ a
    np.matmul(a, b, out=c)
    for k in range(3):
        c[k] = c[k] + a[k, k]
        a = c @ a.T * 0.1
        a[k, 0] = 1.0
    return weighted(a) + weighted(b) + weighted(c) + weighted(x @ c)


@program(M55, M55 - 0.5, argnums=(0, 1))
def matmul_of_arrays_that_change_places(x: Any, y: Any) -> Any:
    a, b = x.copy(), y.copy()
    for _ in range(3):
        a, b = b, a @ b * 0.5
    return weighted(a) + weighted(b)


@program(M54, M46, argnums=(0, 1))
def matmul_by_other_names(a: Any, b: Any) -> Any:
    return (
        weighted(np.einsum("ij,jk->ki", a, b))
        + weighted(np.einsum("ji,kj", b, a))
        + weighted(np.einsum("ij,jk,lk->il", a, b, b))
        + weighted(np.tensordot(a, b, axes=1))
        + weighted(np.tensordot(b, a, axes=([0], [1])))
        + weighted(np.inner(a, b.T))
        + weighted(np.dot(a, b))
    )


@program(M54.astype(np.float32), M46, argnums=(0, 1), tags="float32")
def matmul_of_two_dtypes(a: Any, b: Any) -> Any:
    n = np.arange(20).reshape(4, 5)
    c = a @ b.astype(np.float32)
    return weighted(a @ b) + weighted(c) + weighted(n @ a) + weighted(c.T @ a)


@program(M54, 0, argnums=(0,))
def matmul_of_nothing(a: Any, n: Any) -> Any:
    b = a[:n]
    c = a[:, :n] @ a[:n, :] + a @ a.T @ a
    return np.sum(b @ a.T) + np.sum(a @ b.T) + np.sum(b.T @ b) + weighted(c)


@program(M34, C234, argnums=(0, 1))
def vdot_inner_outer(x: Any, c: Any) -> Any:
    return (
        np.vdot(x, x * x)
        + np.inner(x[0], x[1])
        + weighted(np.inner(c, x))
        + weighted(np.inner(x, x))
        + weighted(np.outer(x[0], x[:, 1]))
        + weighted(np.outer(x, x[0]))
        + weighted(np.inner(x, 3.0))
    )


@program(M34, C234, argnums=(0, 1))
def traces(x: Any, c: Any) -> Any:
    return (
        np.trace(x)
        + x.trace(1)
        + np.trace(x, offset=-1)
        + weighted(np.trace(c))
        + weighted(np.trace(c, axis1=1, axis2=2))
    )


@program(C234, C234 * C234 - 0.3, argnums=(0, 1))
def tensordots(a: Any, b: Any) -> Any:
    return (
        weighted(np.tensordot(a, b, axes=([1, 2], [1, 2])))
        + weighted(np.tensordot(a, b, axes=([0], [0])))
        + weighted(np.tensordot(a, b.transpose(1, 2, 0)))
        + weighted(np.tensordot(a[0], b[0].T, 1))
        + np.tensordot(a, b, 3)
        + weighted(np.tensordot(a[0, 0], b[0, 0], 0))
        + weighted(np.tensordot(a, b, axes=(2, -1)))
        + weighted(np.tensordot(a, b, ((2, 0), (2, 0))))
    )


@program(M33, M34, argnums=(0, 1))
def einsum_matrices(a: Any, b: Any) -> Any:
    return (
        weighted(np.einsum("ij,jk->ik", a, b))
        + weighted(np.einsum("ij,jk", a, b))
        + weighted(np.einsum("ii->i", a))
        + np.einsum("ii", a)
        + weighted(np.einsum("ij->ji", b))
        + np.einsum("ij,ij->", b, b)
        + weighted(np.einsum("ij->j", b))
        + weighted(np.einsum("i,j->ij", a[0], b[1]))
    )


@program(C234, M34, X3, argnums=(0, 1, 2))
def einsum_general(c: Any, m: Any, v: Any) -> Any:
    return (
        weighted(np.einsum("ijk,jk->i", c, m))
        + weighted(np.einsum("ijk,jl,j->lik", c, m, v))
        + weighted(np.einsum("...k,lk->...l", c, m))
        + weighted(np.einsum("bij,bkj->bik", c, c))
        + weighted(np.einsum("i...,i->...", m, v))
        + weighted(np.einsum("ijk -> k", c))
        + np.einsum("ijk,ijk,jk", c, c, m)
    )
