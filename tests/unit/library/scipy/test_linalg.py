"""`scipy.linalg` in differentiated functions: SciPy's values and errors, derivatives, limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg as sl

import adc
from adc.ir.errors import LimitError, TypeMismatchError, TypeUnstableError, UnsupportedError
from adc.library.scipy.linalg import banded, equations, functions, triangles
from tests.unit.library.scipy.cases import check

RNG = np.random.default_rng(0)
A = RNG.standard_normal((4, 4)) + 3.0 * np.eye(4)
B = RNG.standard_normal((4, 2))
V = RNG.standard_normal(4)
S = A @ A.T
W = RNG.standard_normal((4, 4))
C = A + 1j * RNG.standard_normal((4, 4))
H = C @ C.conj().T
M = np.array([[0.5, 0.2, 0.1], [0.3, 0.9, 0.2], [0.1, 0.4, 1.3]])
N, U = RNG.standard_normal((3, 3)), RNG.standard_normal((3, 3))
P = M @ M.T + np.eye(3)
Z = M + 0.3j * N
TALL = RNG.standard_normal((5, 3))
COLUMN = RNG.standard_normal(4) + np.array([5.0, 0.0, 0.0, 0.0])
ROW = RNG.standard_normal(4)
BAND = RNG.standard_normal((4, 6)) + np.array([[0.0], [4.0], [0.0], [0.0]])
SIDES = RNG.standard_normal((6, 2))
HALF = 0.3 * RNG.standard_normal((3, 6)) + np.array([[0.0], [0.0], [4.0]])
APART = np.array([[1.0, 2.0, -1.0], [2.0, -3.0, 0.5], [-1.0, 0.5, 6.0]])
HERMITIAN = APART + 1j * np.array([[0.0, 1.5, -0.7], [-1.5, 0.0, 0.9], [0.7, -0.9, 0.0]])
CIRCLE = np.array([4.0 + 0j, 1.0 + 0.3j, 0.5 - 0.2j, -0.2 + 0.1j])


def energy(x: Any) -> Any:
    return np.sum(np.abs(x - 1.0) ** 2)


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "solve": (lambda a, b: energy(sl.solve(a, b)), (A, B)),
    "transposed": (lambda a, b: energy(sl.solve(a, b, transposed=True)), (A, V)),
    "positive": (lambda a, b: energy(sl.solve(a, b, assume_a="pos")), (S, B)),
    "positive, lower": (lambda a, b: energy(sl.solve(a, b, True, assume_a="pos")), (S, V)),
    "symmetric": (lambda a, b: energy(sl.solve(a, b, assume_a="sym")), (S, B)),
    "hermitian": (lambda a, b: energy(sl.solve(a, b, assume_a="her")), (H, B)),
    "complex symmetric": (lambda a, b: energy(sl.solve(a, b, assume_a="sym")), (C, B)),
    "upper": (lambda a, b: energy(sl.solve(a, b, assume_a="upper triangular")), (A, B)),
    "diagonal": (lambda a, b: energy(sl.solve(a, b, assume_a="diagonal")), (A, B)),
    "tridiagonal": (lambda a, b: energy(sl.solve(a, b, assume_a="tridiagonal")), (A, B)),
    "complex": (lambda a, b: energy(sl.solve(a, b)), (C, B)),
    "triangle": (lambda a, b: energy(sl.solve_triangular(a, b, lower=True)), (A, B)),
    "triangle, T": (lambda a, b: energy(sl.solve_triangular(a, b, trans="T")), (A, V)),
    "unit diagonal": (
        lambda a, b: energy(sl.solve_triangular(a, b, 1, True, unit_diagonal=True)), (A, V)
    ),
    "complex triangle": (lambda a, b: energy(sl.solve_triangular(a, b, lower=True)), (C, B)),
    "complex triangle, T": (lambda a, b: energy(sl.solve_triangular(a, b, "T", True)), (C, B)),
    "complex triangle, C": (lambda a, b: energy(sl.solve_triangular(a, b, trans=2)), (C, B)),
    "cholesky": (lambda a: np.sum(W * sl.cholesky(a)), (S,)),
    "lower cholesky": (lambda a: np.sum(W * sl.cholesky(a, lower=True)), (S,)),
    "stacks": (
        lambda a: energy(sl.cholesky(a, lower=True)) + energy(sl.svdvals(a)) + energy(sl.det(a))
        + energy(sl.svd(a)[0][:, :, 0] ** 2) + energy(sl.inv(a)),
        (np.stack([P, 2.0 * P + M]),),
    ),
    "cho_solve": (lambda a, b: energy(sl.cho_solve(sl.cho_factor(a), b)), (S, B)),
    "lower cho_solve": (lambda a, b: energy(sl.cho_solve(sl.cho_factor(a, True), b)), (S, V)),
    "complex cho_solve": (lambda a, b: energy(sl.cho_solve(sl.cho_factor(a), b)), (H, B)),
    "both triangles": (lambda a: np.sum(W * sl.cho_factor(a)[0]), (S,)),
    "lu_solve": (lambda a, b: energy(sl.lu_solve(sl.lu_factor(a), b)), (A, B)),
    "lu_solve, T": (lambda a, b: energy(sl.lu_solve(sl.lu_factor(a), b, trans=1)), (A, V)),
    "complex lu_solve": (lambda a, b: energy(sl.lu_solve(sl.lu_factor(a), b, 2)), (C, B)),
    "factors": (lambda a: np.sum(W * sl.lu_factor(a)[0]), (A[::-1].copy(),)),
    "lu": (lambda a: sum(energy(x) for x in sl.lu(a)), (A[::-1].copy(),)),
    "tall lu": (lambda a: sum(energy(x) for x in sl.lu(a, permute_l=True)), (TALL,)),
    "wide lu": (lambda a: energy(sl.lu(a, p_indices=True)[1]), (TALL.T.copy(),)),
    "inv": (lambda a: np.sum(W * sl.inv(a)), (A,)),
    "det": (lambda a: sl.det(a), (A,)),
    "norm": (lambda a: sl.norm(a) + sl.norm(a[0]) + sl.norm(a, 1) + sl.norm(a, 2), (A,)),
    "large norm": (lambda a: sl.norm(1e200 * a) * 1e-200 + sl.norm(1e-200 * a) * 1e200, (V,)),
    "pinv": (lambda a: np.sum(TALL.T * sl.pinv(a)), (TALL,)),
    "pinvh": (lambda a: np.sum(U * sl.pinvh(a)), (P,)),
    "lstsq": (
        lambda a, b: energy(sl.lstsq(a, b)[0]) + energy(sl.lstsq(a, b)[1]),
        (TALL, RNG.standard_normal((5, 2))),
    ),
    "eigh": (lambda a: np.sum(U * sl.eigh(a)[1]) + energy(sl.eigh(a, lower=False)[0]), (APART,)),
    "complex eigh": (  # it depends on phases, but not on signs
        lambda a: energy(sl.eigh(a)[1] ** 2) + energy(sl.eigh(a, lower=False)[1] ** 2),
        (HERMITIAN,),
    ),
    "generalized": (
        lambda a, b: np.sum(U * sl.eigh(a, b)[1]) + energy(sl.eigvalsh(a, b)), (APART, P)
    ),
    "type 2 and 3": (
        lambda a, b: np.sum(U * sl.eigh(a, b, type=2)[1]) + energy(sl.eigh(a, b, type=3)[0]),
        (APART, P),
    ),
    "complex generalized": (lambda a, b: energy(np.abs(sl.eigh(a, b)[1])), (HERMITIAN, P)),
    "some": (lambda a: np.sum(U[:, :2] * sl.eigh(a, subset_by_index=[1, 2])[1]), (APART,)),
    "eigvals": (lambda a: energy(np.abs(sl.eigvals(a))), (N,)),
    "eig": (lambda a: energy(sl.eig(a)[1]), (Z,)),
    "svd": (
        lambda a: np.sum(sl.svd(a, full_matrices=False)[0][:, 0] ** 4) + energy(sl.svdvals(a)),
        (TALL,),
    ),
    "qr": (lambda a: sum(energy(x) for x in sl.qr(a, mode="economic")), (TALL,)),
    "full qr": (lambda a: sum(energy(x) for x in sl.qr(a)) + energy(sl.qr(a, mode="r")[0]), (M,)),
    "polar": (lambda a: energy(sl.polar(a)[0]) + energy(sl.polar(a)[1]), (TALL,)),
    "left polar": (lambda a: sum(energy(x) for x in sl.polar(a, "left")), (TALL.T.copy(),)),
    "complex polar": (lambda a: energy(sl.polar(a)[0]) + energy(sl.polar(a)[1]), (Z,)),
    "banded": (lambda a, b: energy(sl.solve_banded((2, 1), a, b)), (BAND, SIDES)),
    "tridiagonal band": (
        lambda a, b: energy(sl.solve_banded((1, 1), a, b)), (BAND[:3].copy(), SIDES[:, 0].copy())
    ),
    "complex banded": (
        lambda a, b: energy(sl.solve_banded((2, 1), a, b)), (BAND + 0.5j * BAND[::-1], SIDES)
    ),
    "solveh_banded": (lambda a, b: energy(sl.solveh_banded(a, b)), (HALF, SIDES)),
    "lower solveh_banded": (
        lambda a, b: energy(sl.solveh_banded(a, b, lower=True)),
        (HALF[::-1].copy(), SIDES[:, 0].copy()),
    ),
    "complex solveh_banded": (
        lambda a, b: energy(sl.solveh_banded(a, b)),
        (HALF + 0.2j * HALF[::-1] * np.array([[1], [1], [0]]), SIDES),
    ),
    "toeplitz": (lambda c, r, b: energy(sl.solve_toeplitz((c, r), b)), (COLUMN, ROW, B)),
    "symmetric toeplitz": (lambda c, b: energy(sl.solve_toeplitz(c, b)), (COLUMN, V)),
    "complex toeplitz": (lambda c, b: energy(sl.solve_toeplitz(c, b)), (CIRCLE, B)),
    "sylvester": (lambda a, b, q: np.sum(U * sl.solve_sylvester(a, b, q)), (M, P, N)),
    "complex sylvester": (lambda a, b, q: energy(sl.solve_sylvester(a, b, q)), (Z, P, N)),
    "lyapunov": (lambda a, q: np.sum(U * sl.solve_continuous_lyapunov(a, q)), (M, N)),
    "complex lyapunov": (lambda a, q: energy(sl.solve_continuous_lyapunov(a, q)), (Z, N)),
    "discrete lyapunov": (
        lambda a, q: energy(sl.solve_discrete_lyapunov(a, q))
        + energy(sl.solve_discrete_lyapunov(a, q, method="bilinear")),
        (0.4 * M, N),
    ),
    "expm": (lambda a: np.sum(U * sl.expm(a)), (M,)),
    "large expm": (lambda a: np.sum(U * sl.expm(a)), (6.0 * M,)),
    "complex expm": (lambda a: energy(sl.expm(a)), (Z,)),
    "stacked expm": (lambda a: energy(sl.expm(a)), (np.stack([M, N]),)),
    "expm_frechet": (lambda a, e: np.sum(U * sl.expm_frechet(a, e)[1]), (M, N)),
    "cosm": (lambda a: np.sum(U * sl.cosm(a)) + np.sum(U * sl.sinm(a)), (M,)),
    "sinhm": (lambda a: np.sum(U * sl.coshm(a)) + np.sum(U * sl.sinhm(a)), (M,)),
    "sqrtm": (lambda a: np.sum(U * sl.sqrtm(a)), (M,)),
    "complex sqrtm": (lambda a: energy(sl.sqrtm(a)), (Z,)),
    "logm": (lambda a: np.sum(U * sl.logm(a)), (M,)),
    "complex logm": (lambda a: energy(sl.logm(a)), (Z,)),
    "power": (lambda a, t: np.sum(U * sl.fractional_matrix_power(a, t[0])), (P, V[:1])),
    "whole power": (
        lambda a, t: np.sum(U * sl.fractional_matrix_power(a, 2.0 + (t[0] - V[0])))
        + np.sum(U * sl.fractional_matrix_power(M - a, 3.0)),
        (P, V[:1]),
    ),
    "complex power": (lambda a, t: energy(sl.fractional_matrix_power(a, t[0])), (Z, V[:1])),
    "made of vectors": (
        lambda c, r: (
            energy(sl.toeplitz(c, r)) + np.sum(W * sl.toeplitz(c)) + np.sum(W * sl.circulant(c))
            + np.sum(W * sl.hankel(c, r)) + np.sum(W * sl.hankel(c)) + energy(sl.companion(c))
        ),
        (COLUMN, ROW),
    ),
    "made of matrices": (
        lambda a, b: energy(sl.block_diag(a, b, a[0], 1.0)[:, 2:]) + energy(sl.khatri_rao(a, b)),
        (M, N),
    ),
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str) -> None:
    check(*CASES[name])


@pytest.mark.full
def test_condition_of_the_exponential() -> None:
    check(lambda a: sl.expm_cond(a), (M,), second=False)


PLANTED: dict[str, tuple[Any, Callable[..., Any]]] = {
    "lu_solve": (triangles.lu_rows, lambda kept, cts: (cts[0],)),
    "banded": (banded.band_solve, lambda kept, ct: (None,) * 5 + (ct, None)),
    "lyapunov": (equations.sylvester, lambda kept, ct: (-ct, -ct, *(None,) * 8, ct, None)),
    "sqrtm": (functions.root, lambda kept, ct: (ct, *(None,) * 5)),
    "logm": (functions.logarithm, lambda kept, cts: (cts[0], cts[1])),
}


@pytest.mark.full
@pytest.mark.parametrize("name", PLANTED)
def test_wrong_rules_show(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, wrong = PLANTED[name]
    right = function._rules
    monkeypatch.setattr(function, "_rules", (right[0], wrong, right[2]))
    with pytest.raises(AssertionError):
        check(*CASES[name], second=False)


# --- compiled, in all precisions ------------------------------------------------------------------


def everything(a: Any, b: Any) -> Any:
    s = a @ a.conj().T + np.eye(4, dtype=a.dtype)
    lu, piv = sl.lu_factor(a)
    w, x = sl.eigh(s)
    # Signs depend on rounding.
    return lu, piv, w, np.abs(x), sl.cho_solve(sl.cho_factor(s), b), sl.solve(a, b), sl.norm(a[0])


def functions_of(a: Any, b: Any) -> Any:
    s = a @ a.conj().T + np.eye(4, dtype=a.dtype)
    return sl.expm(a), sl.sqrtm(s), sl.logm(s), sl.solve_sylvester(a, s, b @ b.T), sl.polar(a)[1]


@pytest.mark.filterwarnings("ignore:logm result may be inaccurate:RuntimeWarning")
@pytest.mark.sampled(12)
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("fn", [everything, pytest.param(functions_of, marks=pytest.mark.full)])
def test_compiled_like_scipy(fn: Callable[..., Any], dtype: str) -> None:
    a, b = (C if dtype[0] == "c" else A).astype(dtype), B.astype(dtype)
    limit = 2e-3 if dtype in ("f4", "c8") else 1e-10
    for x, y in zip(adc.jit(fn)(a, b), fn(a, b), strict=True):
        assert type(x) is type(y)
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_allclose(x, y, rtol=limit, atol=limit)


@pytest.mark.full
def test_eigenvectors_have_the_signs_of_scipy() -> None:
    def all_of_them(a: Any) -> Any:
        return sl.eigh(a)[1]

    def others(a: Any) -> Any:
        return sl.eigh(a, lower=False, subset_by_index=(1, 3))[1]

    for n in (4, 30):
        for seed in range(3):
            rng = np.random.default_rng(seed)
            a = rng.standard_normal((n, n))
            a = a + a.T
            for each in (a, a + 1j * (np.tril(a, -1) - np.triu(a, 1))):
                for fn in (all_of_them, others):
                    np.testing.assert_allclose(adc.jit(fn)(each), fn(each), rtol=0, atol=1e-12)


@pytest.mark.full
@pytest.mark.parametrize(
    "a",
    [
        np.array([[1.0, 1e6], [0.0, -1.0]]),
        np.array([[-49.0, 24.0], [-64.0, 31.0]]),
        np.array([[0.0, 1e8, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
        1e-9 * M,
        np.diag([-800.0, 3.0]),
        np.zeros((2, 2)),
        np.zeros((0, 0)),
    ],
    ids=["not normal", "Moler", "nilpotent", "small", "diagonal", "zero", "empty"],
)
def test_exponentials_that_are_difficult(a: Any) -> None:
    def program(a: Any) -> Any:
        return sl.expm(a)

    want = program(a)
    size = np.abs(want).max(initial=1.0)
    found = adc.jit(program, target="python")(a)
    np.testing.assert_allclose(found, want, rtol=1e-11, atol=1e-13 * size)
    e = np.eye(*a.shape)
    _, moved = adc.jvp(program, (a,), (e,), target="python")
    np.testing.assert_allclose(moved, want, rtol=1e-9, atol=1e-12 * size)  # they commute


@pytest.mark.full
def test_functions_of_a_jordan_block() -> None:
    a = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 2.0]])

    def program(a: Any) -> Any:
        return np.sum(U * sl.logm(a)) + np.sum(U * sl.sqrtm(a))

    check(program, (a,), second=False)


@pytest.mark.full
def test_repeated_singular_values_are_no_trouble_to_polar_factors() -> None:
    check(lambda a: energy(sl.polar(a)[0]) + energy(sl.polar(a)[1]), (np.diag([2.0, 2.0, 3.0]),))


@pytest.mark.full
def test_a_matrix_is_factorized_once() -> None:
    def program(a: Any, b: Any) -> Any:
        return np.sum(sl.cho_solve(sl.cho_factor(a), b))

    source = adc.grad(program, (0, 1)).source(S, B)
    assert source.count(" = cholesky(") == 1
    source = adc.grad(CASES["lyapunov"][0], (0, 1)).source(M, N)
    assert source.count(" = schur(") == 1


@pytest.mark.full
def test_factors_flow_through_the_program() -> None:
    def program(a: Any, b: Any) -> Any:
        made = {"lu": sl.lu_factor(a), "cho": sl.cho_factor(a @ a.T, lower=True)}
        c, lower = made["cho"]
        det = np.sum(np.log(np.abs(np.diag(made["lu"][0])))) + np.sum(np.log(np.diag(c)))
        return energy(sl.lu_solve(made["lu"], b)) + det + energy(sl.cho_solve((c, lower), b))

    check(program, (A, V), second=False)


BY_COLUMNS = sl.cho_factor(S, lower=True), sl.lu_factor(A)


@pytest.mark.full
def test_factors_that_lie_by_columns() -> None:
    """SciPy's do: captured, or passed, they are what they are."""

    def captured(b: Any) -> Any:
        cho, lu = BY_COLUMNS
        return energy(sl.cho_solve(cho, b)) + energy(sl.lu_solve(lu, b))

    def passed(cho: Any, lu: Any, b: Any) -> Any:
        return energy(sl.cho_solve(cho, b)) + energy(sl.lu_solve(lu, b))

    assert not BY_COLUMNS[0][0].flags.c_contiguous
    x, y = np.linalg.solve(S, V), np.linalg.solve(A, V)
    want = 2.0 * np.linalg.solve(S, x - 1.0) + 2.0 * np.linalg.solve(A.T, y - 1.0)
    np.testing.assert_allclose(adc.grad(captured)(V), want, rtol=1e-9)
    np.testing.assert_allclose(adc.grad(passed, 2)(*BY_COLUMNS, V), want, rtol=1e-9)


@pytest.mark.full
@pytest.mark.parametrize("name", ["expm", "sqrtm", "logm"])
def test_several_directions(name: str) -> None:
    """Routines of libraries take no further axis: directions run one at a time."""
    function = getattr(sl, name)

    def program(x: Any) -> Any:
        return function(P + np.outer(x, x))

    def total(x: Any) -> Any:
        return np.sum(program(x) ** 2)

    x = np.array([0.3, -0.2, 0.5])
    by_rows = adc.jacrev(program, target="python")(x)
    np.testing.assert_allclose(by_rows, adc.jacfwd(program, target="python")(x), rtol=1e-9)
    hessian = adc.hessian(total, target="python")(x)
    product = adc.hvp(total, (x,), (x,), target="python")
    np.testing.assert_allclose(hessian @ x, product, rtol=1e-9)


# --- what is refused, and errors ------------------------------------------------------------------

ERRORS: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda a: np.sum(sl.solve(a, np.ones(3))), A),
    (lambda a: np.sum(sl.solve(0.0 * a, np.ones(4))), A),
    (lambda a: np.sum(sl.solve(a * np.nan, np.ones(4))), A),
    (lambda a: np.sum(sl.solve(a, V, assume_a="pos")), -S),
    (lambda a: np.sum(sl.cholesky(a)), -S),
    (lambda a: np.sum(sl.solve_triangular(np.tril(a, -1), V, lower=True)), A),
    (lambda a: np.sum(sl.eigh(a, subset_by_index=[0, 7])[0]), A),
    (lambda a: np.sum(sl.solve_banded((1, 2), a[:3], V)), A),
    (lambda a: np.sum(sl.solveh_banded(a, SIDES)), -HALF),
    (lambda a: np.sum(sl.solve_toeplitz(0.0 * a[0], V)), A),
    (lambda a: np.sum(sl.expm(a[:2])), A),
    (lambda a: np.sum(sl.khatri_rao(a, a[:, :2])), A),
    (lambda a: np.sum(sl.eigh(a, -a @ a.T)[0]), A),
]


@pytest.mark.parametrize("k", range(len(ERRORS)))
@pytest.mark.sampled(13)
def test_errors_are_those_of_scipy(k: int) -> None:
    fn, a = ERRORS[k]
    with pytest.raises((ValueError, np.linalg.LinAlgError)) as want:
        fn(a)
    with pytest.raises((ValueError, np.linalg.LinAlgError)) as found:
        adc.grad(fn, target="python")(a)
    assert found.type is want.type
    assert found.traceback[-1].path == __file__ or __file__ in str(found.traceback[-1].path)


def residues(a: Any) -> Any:
    x, found, _, _ = sl.lstsq(a, V)
    return np.sum(x) + found


REFUSED: list[tuple[Callable[[Any], Any], Any, type[Exception], str, str]] = [
    (lambda a: np.sum(sl.solve(a, V, assume_a="funny")), A, UnsupportedError, "funny", "'pos'"),
    (lambda a: np.sum(sl.solve(a, B, assume_a="pos")), np.stack([S, S]), UnsupportedError,
     "for a stack of matrices", "loop over the stack"),
    (lambda a: np.sum(sl.solve(a, B, transposed=True).real), C, UnsupportedError, "complex", "a.T"),
    (lambda a: np.sum(sl.cho_factor(a)[0]), np.stack([S, S]), UnsupportedError, "a stack", "loop"),
    (lambda a: np.sum(sl.solve(a[0], V)), A, TypeMismatchError, "`a` of", "pass a matrix"),
    (lambda a: np.sum(sl.cho_solve(a, V)), A, TypeMismatchError, "the first argument", "tuple"),
    (lambda a: np.sum(sl.qr(a, pivoting=True)[0]), A, UnsupportedError, "pivoting", "leave out"),
    (lambda a: np.sum(sl.qr(a, mode="raw")[1]), A, UnsupportedError, "raw", "'economic'"),
    (lambda a: np.sum(sl.svd(a, lapack_driver="gesvd")[0]), A, UnsupportedError, "driver", "leave"),
    (lambda a: np.sum(sl.eig(a, left=True)[0].real), A, UnsupportedError, "left", "conj().T"),
    (lambda a: sl.eigh(a, subset_by_value=[0, 9])[0][0], A, UnsupportedError, "value", "select"),
    (lambda a: np.sum(sl.expm(a)), A.astype(np.float16), UnsupportedError, "float16", "float32"),
    (lambda a: np.sum(sl.block_diag()), A, UnsupportedError, "block_diag", "one or more"),
    (lambda a: np.sum(sl.schur(a)[0]), A, UnsupportedError, "scipy.linalg.schur", "`eigh`"),
    (lambda a: np.sum(sl.null_space(a)), A, UnsupportedError, "null_space", "not unique"),
    (residues, A[:, :2].copy(), TypeUnstableError, "'found' is a number, or an empty", "kind"),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(REFUSED)))
def test_refused(k: int) -> None:
    fn, a, kind, what, hint = REFUSED[k]
    with pytest.raises(kind) as caught:
        adc.jit(fn, cache=False)(a)
    error: Any = caught.value
    assert what in error.message
    assert hint in error.hint
    assert error.span is not None
    assert error.span.file == __file__
    assert "^" in str(error)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fn", [lambda a: np.sum(sl.sqrtm(a)), lambda a: np.sum(sl.logm(a))])
def test_real_functions_that_become_complex(fn: Callable[[Any], Any]) -> None:
    with pytest.raises(LimitError, match=r"negative eigenvalues.*astype\(complex\)"):
        adc.grad(fn, target="python")(-P)
    found = adc.jit(lambda a: fn(a.astype(complex)), target="python")(-P)
    np.testing.assert_allclose(found, fn((-P).astype(complex)), rtol=1e-10)


@pytest.mark.full
def test_powers_of_matrices() -> None:
    def powers(a: Any, k: Any) -> Any:
        power = sl.fractional_matrix_power
        return (
            power(k, 2),
            power(k, 2.0),
            power(k, -1),
            power(-a, 3.0),
            power(k, 0.5),
            power(a, 1.7),
        )

    k = np.array([[3, 1], [1, 2]])
    for found, want in zip(adc.jit(powers, target="python")(P, k), powers(P, k), strict=True):
        assert found.dtype == want.dtype
        np.testing.assert_allclose(found, want, rtol=1e-13)
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    for a in (-P, turn, np.diag([0.0, 1.0])):
        with pytest.raises(LimitError, match=r"not all real and positive.*astype\(complex\)"):
            adc.jit(lambda a: sl.fractional_matrix_power(a, 0.5), target="python")(a)
    with pytest.raises(UnsupportedError, match="a matrix of integers"):
        adc.jit(lambda a, t: sl.fractional_matrix_power(a, t), target="python")(k, 2.0)
    with pytest.raises(ValueError, match="expected square array_like input"):
        adc.jit(lambda a: sl.fractional_matrix_power(a[:1], 0.5), target="python")(P)
