"""Linear algebra by routines of a library: what they say in Python, and where libraries compute."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import adc
from adc.backend.cuda import libraries
from adc.ir.core import Call, For, Function, Gemm, walk
from adc.ir.errors import DeviceError, LimitError, MemoryBudgetError
from adc.ir.verifier import problems
from adc.library.linear import linalg, routines
from adc.passes.target import inline_calls, outline_kernels
from adc.passes.target.inline_calls import Inlined
from tests.corpus.arrays.linear_programs import LINEAR_PROGRAMS, ROWS, SIDES, likelihoods, systems
from tests.corpus.program import Program
from tests.oracle import differences, on_device
from tests.oracle.chain import Chain, fresh, run
from tests.unit.library.test_library import (
    LINEAR_ALGEBRA,
    TALL,
    M,
    S,
    V,
    W,
    cholesky,
    inverse,
    solve_vector,
)

RNG = np.random.default_rng(11)
B = RNG.standard_normal((3, 2))


# --- what is written in Python --------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5])
def test_functions_are_numpys(n: int) -> None:
    a = RNG.standard_normal((n, n))
    b = RNG.standard_normal((n, 2))
    s = a @ a.T + np.eye(n)
    close = np.testing.assert_allclose
    close(linalg.solve(a, b), np.linalg.solve(a, b), rtol=1e-10)
    close(linalg.solve(a, b[:, 0]), np.linalg.solve(a, b[:, 0]), rtol=1e-10)
    close(linalg.inv(a), np.linalg.inv(a), rtol=1e-9)
    close(linalg.det(a), np.linalg.det(a), rtol=1e-10)
    close(linalg.slogdet(a), np.linalg.slogdet(a), rtol=1e-10)
    close(linalg.cholesky(s), np.linalg.cholesky(s), rtol=1e-10)
    close(linalg.eigvalsh(s), np.linalg.eigvalsh(s), rtol=1e-10)
    for columns in {n, n + 2, max(n - 1, 1)}:
        wide = RNG.standard_normal((n, columns))
        close(linalg.qr(wide, "r"), np.linalg.qr(wide, "r"), atol=1e-12)
        for mode in ("reduced", "complete"):
            found, want = linalg.qr(wide, mode), np.linalg.qr(wide, mode)
            close(found.Q, want.Q, atol=1e-12)
            close(found.R, want.R, atol=1e-12)


def test_factors_are_those_of_libraries() -> None:
    a = RNG.standard_normal((6, 6))
    b = RNG.standard_normal((6, 2))
    lu, pivots, singular = routines.lu_factor(a)
    want, wanted = scipy.linalg.lu_factor(a)
    np.testing.assert_allclose(lu, want, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(pivots, wanted)
    assert not singular
    assert routines.lu_factor(np.ones((3, 3)))[2]
    for transposed in (False, True):
        found = routines.lu_solve(a, lu, pivots, b, transposed)
        want = scipy.linalg.lu_solve((lu, pivots), b, int(transposed))
        np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12)
        low = np.tril(a)
        want = scipy.linalg.solve_triangular(low, b, int(transposed), lower=True)
        np.testing.assert_allclose(routines.solve_lower(a, b, transposed), want, rtol=1e-12)
    assert routines.cholesky_factor(-np.eye(2))[1]


# --- on a device ----------------------------------------------------------------------------------


def named(fn: Callable[..., Any]) -> str:
    return str(fn.__name__)


def one_eigenvector(a: Any, w: Any) -> Any:
    return np.sum(np.linalg.eigh(a + a.T)[1][:, 1] ** 2 * w[0])


def pseudo_inverse(a: Any, w: Any) -> Any:
    return np.sum(np.linalg.pinv(a[:, :2]) * w[:2])


def negative_power(a: Any, w: Any) -> Any:
    return np.sum(np.linalg.matrix_power(a, -2) * w)


def of_a_wide_matrix(a: Any, w: Any) -> Any:
    q, r = np.linalg.qr(a[:2])
    return np.sum(q * w[:2, :2]) + np.sum(r * w[:2])


# Signs of eigenvectors are the library's.
DIFFERENTIATED = (
    *(fn for fn in LINEAR_ALGEBRA if fn.__name__ != "eigenvectors"),
    one_eigenvector, pseudo_inverse, negative_power, of_a_wide_matrix,
)  # fmt: skip
TWICE = {"solve_vector", "log_determinant", "cholesky", "one_eigenvector", "householder"}


@pytest.mark.sampled(30)
@pytest.mark.parametrize("fn", DIFFERENTIATED, ids=named)
def test_derivatives(fn: Callable[..., Any]) -> None:
    """They are what differences say, in both modes, and in second order."""
    value, (da, dw) = adc.value_and_grad(fn, (0, 1), target="cuda")(M, W)
    np.testing.assert_allclose(value, fn(M, W), rtol=1e-12)
    for k, found in enumerate((da, dw)):
        np.testing.assert_allclose(found, differences.gradient(fn, (M, W), k), rtol=1e-8, atol=1e-8)
    _, dot = adc.jvp(fn, (M, W), (W, M), target="cuda")
    np.testing.assert_allclose(dot, np.sum(da * W) + np.sum(dw * M), rtol=1e-10)
    if fn.__name__ in TWICE:
        product = adc.hvp(fn, (M, W), (W, M), target="cuda")[0]
        gradient = adc.grad(fn, target="cuda")
        want = differences.along(gradient, (M, W), (W, M))
        np.testing.assert_allclose(product, want, rtol=1e-7, atol=1e-7 * np.abs(want).max())


@pytest.mark.sampled(9)
@pytest.mark.parametrize("fn", [solve_vector, cholesky], ids=named)
def test_single_precision(fn: Callable[..., Any]) -> None:
    a, w = M.astype(np.float32), W.astype(np.float32)
    found = adc.grad(fn, target="cuda")(a, w)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, adc.grad(fn)(M, W), rtol=1e-4, atol=1e-4)


@pytest.mark.full
def test_gradients_of_gradients() -> None:
    def moved(a: Any, w: Any) -> Any:
        return np.sum(np.sin(adc.grad(inverse)(a, w)))

    found = adc.grad(moved, target="cuda")(M, W)
    np.testing.assert_allclose(found, adc.grad(moved)(M, W), rtol=1e-10, atol=1e-10)


@pytest.mark.full
def test_a_matrix_is_factorized_once() -> None:
    source = adc.grad(solve_vector, (0, 1), target="cuda").source(M, W)
    assert source.count("'lu_factor'") == 1
    assert source.count("'lu_solve'") == 2


def test_no_rows() -> None:
    empty = np.zeros((0, 0))
    for fn in (inverse, cholesky):
        value, gradient = adc.value_and_grad(fn, target="cuda")(empty, empty)
        assert value == 0.0
        assert gradient.shape == (0, 0)


@pytest.mark.full
@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (solve_vector, (np.zeros((2, 2)), np.ones((2, 2)))),
        (inverse, (np.ones((2, 2)), np.ones((2, 2)))),
        (solve_vector, (np.ones((2, 3)), np.ones((2, 2)))),
        (lambda a: np.linalg.cholesky(a)[0, 0], (-np.eye(2),)),
        (lambda a: np.linalg.cholesky(a)[0, 0], (np.full((2, 2), np.nan),)),
        (lambda a, b: np.sum(np.linalg.solve(a, b)), (np.eye(2), np.ones(3))),
    ],
)
def test_errors_are_those_of_the_cpu(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    def outcome(call: Callable[..., Any]) -> tuple[type, str]:
        with pytest.raises((ValueError, np.linalg.LinAlgError)) as caught:
            call(*args)
        return caught.type, str(caught.value)

    assert outcome(adc.grad(fn, target="cuda")) == outcome(adc.grad(fn))


@pytest.mark.full
def test_a_determinant_of_a_singular_matrix_is_an_error_there() -> None:
    def determinant(a: Any) -> Any:
        return np.linalg.det(a)

    a = np.ones((2, 2))
    np.testing.assert_array_equal(adc.grad(determinant)(a), [[1.0, -1.0], [-1.0, 1.0]])
    with pytest.raises(LimitError, match="determinant of a singular matrix"):
        adc.grad(determinant, target="cuda")(a)


@pytest.mark.full
def test_a_wrong_rule_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(kept: Any, ct: Any) -> Any:
        a, lu, pivots, x, transposed = kept
        w = routines.lu_solve(a, lu, pivots, ct, transposed)  # not the transpose
        return -(w @ x.T), None, None, w, None

    right = routines.lu_solve._rules
    monkeypatch.setattr(routines.lu_solve, "_rules", (right[0], wrong, right[2]))
    with pytest.raises(AssertionError):
        test_derivatives(solve_vector)


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.full
def test_budgets() -> None:
    free = adc.grad(solve_vector, target="cuda")
    want = free(M, W)
    np.testing.assert_array_equal(
        adc.grad(solve_vector, target="cuda", memory="100 kB")(M, W), want
    )
    with pytest.raises(MemoryBudgetError):
        adc.grad(solve_vector, target="cuda", memory=100)(M, W)


# --- loops ----------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("program", LINEAR_PROGRAMS, ids=str)
def test_rows(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Side by side, with what routines say in Python; with the library they are in the corpus."""
    monkeypatch.setattr(outline_kernels, "_MANY", 1)
    chain = Chain.of(program.fn, program.make_args(), program.argnums)
    assert not on_device.check(chain, on_device.cpu_results(chain))
    launched = on_device.launched_whole(on_device.device_code(chain))
    for loop in launched:
        assert not any(isinstance(s, Call | Gemm) for s in walk(loop.body.stmts))
    # Two functions give the matrix of eigenvectors cotangents, and threads add no whole arrays.
    # Of a matrix that may be wide, an array is kept in one arm only: its sizes are known too late.
    alone = program.name in ("calls_itself", "principal", "orthonormal")
    assert bool(launched) == (not alone)


@pytest.mark.full
@pytest.mark.parametrize("program", LINEAR_PROGRAMS, ids=str)
def test_loops_without_calls_compute_the_same(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = Chain.of(program.fn, program.make_args(), program.argnums)
    fn = on_device.device_code(chain).trace.after("accumulate_in_place")
    inlined = Inlined(fn)
    assert not problems(inlined.fn)
    left = [s for s in loops(inlined.fn) if any(isinstance(t, Call | Gemm) for t in walk((s,)))]
    assert bool(left) == (program.name == "calls_itself")
    for one, other in zip(
        run(inlined.fn, fresh(chain.inputs)), run(fn, fresh(chain.inputs)), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    # Each loop for itself, where it stands.
    for loop in loops(fn):
        alone = inlined.alone(loop)
        assert (alone is loop) == (not inlined.changed(inlined.loops[id(loop)]))
        assert left or not any(isinstance(s, Call | Gemm) for s in walk((alone,)))
    monkeypatch.setattr(inline_calls, "_MOST", 10)
    calls = any(isinstance(s, Call) for loop in loops(fn) for s in walk((loop,)))
    assert calls == any(
        isinstance(s, Call) for loop in loops(Inlined(fn).fn) for s in walk((loop,))
    )


def loops(fn: Function) -> list[For]:
    return [s for s in walk(fn.body) if isinstance(s, For)]


@pytest.mark.full
def test_errors_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline_kernels, "_MANY", 1)
    singular = ROWS.copy()
    singular[3] = 1.0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        adc.grad(systems, target="cuda")(singular, SIDES)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        adc.grad(likelihoods, target="cuda")(ROWS * np.nan, SIDES)


def solved_rows(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        total += np.sum(np.sin(np.linalg.solve(a[i], b[i])))
    return total


def test_few_or_large_systems_are_left_to_the_library() -> None:
    """Threads solve small ones, of which there are many."""
    a, b = np.stack([M] * 2), np.stack([V] * 2)
    chain = Chain.of(solved_rows, (a, b), (0,))
    made = on_device.device_code(chain)
    assert len(on_device.launched_whole(made)) == 2
    rest = [s for s in walk(made.fn.body) if isinstance(s, For) and not s.parallel]
    assert any(isinstance(s, Call) for loop in rest for s in walk(loop.body.stmts))
    assert "'lu_factor'" in on_device.source(made.fn)


# --- libraries ------------------------------------------------------------------------------------


def product(a: Any, w: Any) -> Any:
    return np.sum((a @ w) * a)


@pytest.mark.full
@pytest.mark.parametrize("fn", [solve_vector, product], ids=named)
def test_no_library(fn: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise error

    monkeypatch.setattr(libraries, "_library", missing)
    error: ImportError = ImportError("libcusolver.so.12: no such file\nand more")
    with pytest.raises(DeviceError, match=r"needs CuPy .libcusolver.so.12: no such file."):
        adc.grad(fn, target="cuda")(M, W)
    error = ModuleNotFoundError("No module named 'cupy'")
    with pytest.raises(DeviceError, match=r"needs CuPy\n") as caught:
        adc.grad(fn, target="cuda")(M, W)
    assert "adc-autodiff[cupy13]" in str(caught.value)
    assert "np.linalg.solve" in str(caught.value) or "a @ w" in str(caught.value)


class CuPy:
    """What is used of CuPy, on the simulator's arrays; what is asked for is noted."""

    def __init__(self) -> None:
        self.streams: list[int] = []
        self.lent: list[int] = []
        self.strict: list[str] = []
        self._allocator: Callable[[int], Any] | None = None
        self.cuda = types.SimpleNamespace(
            ExternalStream=self._on,
            Stream=types.SimpleNamespace(null=self._on(0)),
            Device=lambda number: nullcontext(),
            UnownedMemory=lambda pointer, size, owner, device: (pointer, size, owner, device),
            MemoryPointer=lambda memory, offset: memory,
            using_allocator=self._using,
        )
        self.matmul, self.diagonal = np.matmul, np.diagonal
        self.linalg = types.SimpleNamespace(
            cholesky=self._working(np.linalg.cholesky),
            eigh=self._working(np.linalg.eigh),
            qr=self._working(np.linalg.qr),
        )
        self.scipy = types.SimpleNamespace(
            lu_factor=self._working(self._lu_factor),
            lu_solve=self._working(scipy.linalg.lu_solve),
            solve_triangular=self._working(scipy.linalg.solve_triangular),
        )

    def _on(self, pointer: int) -> Any:
        streams = self.streams

        class Stream(nullcontext[None]):  # is entered again and again
            def __enter__(self) -> None:
                streams.append(pointer)

        return Stream()

    @contextmanager
    def _using(self, allocator: Callable[[int], Any]) -> Iterator[None]:
        self._allocator = allocator
        try:
            yield
        finally:
            self._allocator = None

    def _working(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def computed(*args: Any, **kwargs: Any) -> Any:
            assert self._allocator is not None
            pointer, size, owner, device = self._allocator(1000)
            assert pointer == owner.address
            assert (size, device) == (1000, 0)
            self.lent.append(size)
            return function(*args, **kwargs)

        return computed

    @staticmethod
    def _lu_factor(a: Any, check_finite: bool) -> Any:
        lu, pivots = scipy.linalg.lu_factor(a, check_finite=check_finite)
        return lu, pivots.astype(np.int32)

    @contextmanager
    def errstate(self, *, linalg: str) -> Iterator[None]:
        self.strict.append(linalg)
        yield

    def asarray(self, shown: Any) -> Any:
        assert shown.__cuda_array_interface__["stream"] is None
        return shown.__cuda_array_interface__["array"]


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> CuPy:
    made = CuPy()
    modules = {"cupy": made, "cupyx": made, "cupyx.scipy.linalg": made.scipy}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    library = libraries._CuPy()
    monkeypatch.setattr(libraries, "_library", lambda: library)
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

    interface = property(lambda array: {"array": array._ary})
    monkeypatch.setattr(FakeCUDAArray, "__cuda_array_interface__", interface, raising=False)
    return made


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fn", [solve_vector, cholesky, LINEAR_ALGEBRA[9], product], ids=named)
def test_cupy(fn: Callable[..., Any], cupy: CuPy) -> None:
    """Its memory is the call's, and its stream."""
    found = adc.grad(fn, target="cuda")(M, W)
    np.testing.assert_allclose(found, differences.gradient(fn, (M, W), 0), rtol=1e-8, atol=1e-8)
    assert set(cupy.streams) == {0}
    assert cupy.lent or fn is product


@pytest.mark.full
def test_memory_of_cupy_counts(cupy: CuPy) -> None:
    with pytest.raises(MemoryBudgetError, match="cannot go on"):
        adc.grad(solve_vector, target="cuda", memory=1000)(M, W)
    adc.grad(solve_vector, target="cuda", memory=3000)(M, W)


@pytest.mark.full
def test_what_cupy_finds_wrong(cupy: CuPy) -> None:
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        adc.grad(lambda a: np.linalg.cholesky(a)[0, 0], target="cuda")(-S)
    assert cupy.strict == ["raise"]
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        adc.grad(inverse, target="cuda")(np.ones((3, 3)), W)


@pytest.mark.full
def test_a_tall_matrix_with_cupy(cupy: CuPy) -> None:
    def both(a: Any) -> Any:
        q, r = np.linalg.qr(a)
        return np.sum(np.sin(q)) + np.sum(np.cos(r))

    np.testing.assert_allclose(
        adc.grad(both, target="cuda")(TALL), adc.grad(both)(TALL), rtol=1e-10, atol=1e-10
    )


@pytest.mark.full
def test_jacobians_by_the_right_hand_side() -> None:
    """A routine is no statement that takes all directions at once."""
    a, b = M + 3.0 * np.eye(len(M)), np.arange(1.0, len(M) + 1.0)
    wanted = np.linalg.inv(a) * (2.0 * b)
    for make in (adc.jacrev, adc.jacfwd):
        found = make(lambda a, b: np.linalg.solve(a, b * b), argnums=1)(a, b)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
