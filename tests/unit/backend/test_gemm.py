"""Products of matrices: what compiled code makes of them, on both sides of `gemm.SMALL`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc.backend import cpu
from adc.backend.common.emit import emit
from adc.backend.runtime import gemm
from adc.ir.core import For, Gemm, walk
from adc.ir.interp import run
from adc.ir.text.parser import parse
from adc.passes.memory.storage import storage
from adc.passes.remat.remat import remat
from tests.oracle.chain import Chain, bits
from tests.unit.backend.cpu.alarms import alarms, interrupted

SIZES = [
    (0, 3, 2), (3, 0, 2), (2, 3, 0), (0, 0, 0), (1, 1, 1), (1, 5, 1), (3, 3, 3), (3, 7, 3),
    (4, 4, 4), (1, 70, 1), (70, 1, 70), (5, 6, 7), (33, 17, 40),
    (3, 4, 16), (3, 5, 1100), (7, 9, 31),
]  # fmt: skip
FLAGS = [(a, b) for a in (False, True) for b in (False, True)]


def _kernel(flags: str, dtype: str) -> cpu.Kernel:
    """Return what multiplies its first two arguments, and adds that to a copy of the third."""
    fn = parse(
        f"fn f(%a: {dtype}[:, :], %b: {dtype}[:, :], %c: {dtype}[:, :]A)"
        f" -> {dtype}[:, :], {dtype}[:, :] {{\n"
        "  %m = dim[0] %c\n  %n = dim[1] %c\n"
        f"  %p = empty[{dtype}] %m %n\n"
        f"  %p.1 = gemm[{flags}] %p %a %b\n"
        "  %q = copy %c\n"
        f"  %q.1 = gemm[{flags}, add] %q %a %b\n"
        "  return %p.1 %q.1\n}"
    )
    return cpu.compile(storage(fn))


@pytest.mark.full
@pytest.mark.parametrize("dtype", ["f64", "f32"])
@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_product(flags: tuple[bool, bool], dtype: str) -> None:
    kernel = _kernel("".join("nt"[flag] for flag in flags), dtype)
    numpy = {"f64": np.float64, "f32": np.float32}[dtype]
    rng = np.random.default_rng(0)
    for m, k, n in SIZES:
        a, b = (
            rng.standard_normal(shape[::-1] if flag else shape).astype(numpy)
            for shape, flag in zip(((m, k), (k, n)), flags, strict=True)
        )
        c = rng.standard_normal((m, n)).astype(numpy)
        given = [x.copy() for x in (a, b, c)]
        want = (a.T if flags[0] else a) @ (b.T if flags[1] else b)
        tolerance = 1e-12 if dtype == "f64" else 1e-4
        for found, expected in zip(kernel(a, b, c), (want, c + want), strict=True):
            assert found.dtype == numpy
            assert found.flags.c_contiguous
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
        for x, y in zip((a, b, c), given, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.full
@pytest.mark.parametrize("size", [3, 8])
def test_what_is_not_finite(size: int) -> None:
    assert (size**3 <= gemm.SMALL) is (size == 3)
    a, b = np.ones((size, size)), np.zeros((size, size))
    a[0, 1], a[1, 0], a[2, 2] = np.nan, np.inf, -np.inf
    b[2, 1] = 1.0
    kernel = _kernel("nn", "f64")
    # What is overwritten is not read: memory of the workspace may hold anything.
    for c in (np.full_like(a, np.nan), np.zeros_like(a)):
        product, total = kernel(a, b, c)
        with np.errstate(invalid="ignore"):
            want = a @ b
        np.testing.assert_array_equal(product, want)
        np.testing.assert_array_equal(total, c + want)


def test_small_ones_are_those_of_the_interpreter() -> None:
    rng = np.random.default_rng(1)
    fn = parse(
        "fn f(%a: f64[:, :], %b: f64[:, :], %c: f64[:, :]) -> f64[:, :] {\n"
        "  %c.1 = gemm[tn, add] %c %a %b\n  return %c.1\n}"
    )
    kernel = cpu.compile(storage(fn))
    a, b, c = (rng.standard_normal(shape) for shape in ((5, 3), (5, 4), (3, 4)))
    assert 3 * 4 * 5 <= gemm.SMALL
    for each in (fn, storage(fn)):
        (want,) = run(each, (a, b, c.copy()))
        np.testing.assert_array_equal(kernel(a, b, c)[0], want)


@pytest.mark.full
@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("sizes", [(4, 4, 4), (3, 3, 3), (2, 5, 3), (1, 3, 7)], ids=str)
def test_known_sizes_have_the_same_bits(
    sizes: tuple[int, int, int], flags: tuple[bool, bool]
) -> None:
    m, k, n = sizes
    letters = "".join("nt"[flag] for flag in flags)
    rows, columns = (
        (f"{k} {m}" if flags[0] else f"{m} {k}"),
        (f"{n} {k}" if flags[1] else f"{k} {n}"),
    )
    known = parse(
        "fn f(%a: f64[:, :], %b: f64[:, :], %c: f64[:, :]A) -> f64[:, :], f64[:, :] {\n"
        + "".join(
            f"  %{x}1 = empty[f64] {size}\n"
            f"  %{x}5 = for L{x} %i{x} in 0 to {size.split()[0]} carrying (%{x}2 = %{x}1) {{\n"
            f"    %{x}4 = for M{x} %j{x} in 0 to {size.split()[1]} carrying (%{x}3 = %{x}2) {{\n"
            f"      %v{x} = load %{x}[%i{x}, %j{x}]\n"
            f"      %{x}6 = store %{x}3[%i{x}, %j{x}] %v{x}\n      yield %{x}6\n    }}\n"
            f"    yield %{x}4\n  }}\n"
            for x, size in (("a", rows), ("b", columns))
        )
        + f"  %p = empty[f64] {m} {n}\n  %p.1 = gemm[{letters}] %p %a5 %b5\n  %q = copy %c\n"
        f"  %q.1 = gemm[{letters}, add] %q %a5 %b5\n  return %p.1 %q.1\n}}"
    )
    rng = np.random.default_rng(2)
    a, b = (
        rng.standard_normal(shape[::-1] if flag else shape)
        for shape, flag in zip(((m, k), (k, n)), flags, strict=True)
    )
    c = rng.standard_normal((m, n))
    found = cpu.compile(storage(known))(a, b, c)
    assert bits(found) == bits(_kernel(letters, "f64")(a, b, c))
    assert bits(found) == bits(run(known, (a, b, c)))


def _layers(x: Any, w: Any, v: Any) -> Any:
    h = x
    for k in range(3):
        h = np.tanh(h @ w) if k != 1 else np.tanh(w.T @ h)
    for _ in range(2):
        w = w @ v
        h = h @ w
    return np.sum(h * h @ v)


def _arguments(size: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(size)
    return tuple(rng.standard_normal((size, size)) / np.sqrt(size) for _ in range(3))


@pytest.mark.full
def test_all_plans_give_the_same_bits() -> None:
    sizes = [_arguments(size) for size in (3, 12)]
    reverse = Chain.of(_layers, sizes[0], (0, 1, 2)).adjoint
    found = []
    for policy in ("auto", "store", "recompute", "random:1", "random:2", "random:3"):
        kernel = cpu.compile(storage(remat(reverse, policy)))
        found.append([bits(kernel(*args)) for args in sizes])
        # The same again: nothing is left over in the workspace.
        assert found[-1] == [bits(kernel(*args)) for args in sizes]
    assert all(each == found[0] for each in found)


def _difference(fn: Any, args: Any, k: int, along: Any, step: float = 1e-5) -> Any:
    def moved(sign: int) -> list[Any]:
        return [a + sign * step * along if i == k else a for i, a in enumerate(args)]

    return (fn(*moved(1)) - fn(*moved(-1))) / (2 * step)


@pytest.mark.full
def test_derivatives_of_all_kinds() -> None:
    size = 6
    x, w, v = _arguments(size)
    along = np.cos(np.arange(size * size)).reshape(size, size)
    value, gradient = adc.value_and_grad(_layers, argnums=1)(x, w, v)
    np.testing.assert_allclose(value, _layers(x, w, v), rtol=1e-12)
    slope = _difference(_layers, (x, w, v), 1, along)
    np.testing.assert_allclose(np.sum(gradient * along), slope, rtol=1e-6)
    _, dot = adc.jvp(lambda w: _layers(x, w, v), (w,), (along,))
    np.testing.assert_allclose(dot, slope, rtol=1e-6)

    gradient_of = adc.grad(_layers, argnums=1)
    product = adc.hvp(lambda w: _layers(x, w, v), (w,), (along,))
    want = _difference(gradient_of, (x, w, v), 1, along)
    np.testing.assert_allclose(np.asarray(product).reshape(want.shape), want, rtol=1e-5, atol=1e-7)

    def second(w: Any) -> Any:
        return np.sum(adc.grad(lambda w: _layers(x, w, v))(w) * along)

    nested = adc.grad(second)(w)
    np.testing.assert_allclose(nested, want, rtol=1e-5, atol=1e-7)

    def whole(a: Any, b: Any) -> Any:
        return a.T @ b + b @ a

    for jacobian in (adc.jacrev, adc.jacfwd):
        found = jacobian(whole)(x, w)
        eye = np.eye(size)
        expected = np.einsum("il,kj->ijkl", eye, w) + np.einsum("ik,lj->ijkl", w, eye)
        np.testing.assert_allclose(found, expected, atol=1e-14)


def test_only_matrices_of_floats() -> None:
    rng = np.random.default_rng(0)
    m, v = rng.standard_normal((3, 3)), rng.standard_normal(3)

    def gemms(fn: Any, *args: Any) -> tuple[int, int]:
        lowered = Chain.of(fn, args, (0,)).lowered.fn
        found = [type(stmt) for stmt in walk(lowered.body)]
        return found.count(Gemm), found.count(For)

    assert gemms(lambda a: np.sum((a @ a)[0]), m)[0] == 1
    assert gemms(lambda a: (a.T @ a)[0, 0], m) == (1, 0)  # no copy
    assert gemms(lambda a: np.einsum("ji,kj->ik", a, a)[0, 0], m) == (1, 0)
    assert gemms(lambda a, v: np.sum(a @ v), m, v)[0] == 0
    assert gemms(lambda v: v @ v, v)[0] == 0
    assert gemms(lambda a: np.sum(a.reshape(1, 9) @ a.reshape(9, 1)), m)[0] == 0
    assert gemms(lambda a, n: np.sum(n @ n) * a[0, 0], m, np.eye(3, dtype=int))[0] == 0


def test_text(golden: Callable[[str, str], None]) -> None:
    def f(x: Any, w: Any, n: Any) -> Any:
        for _ in range(n):
            x = w.T @ x
        return np.sum(x)

    reverse = Chain.of(f, (np.eye(3), np.eye(3), 2), (0, 1)).adjoint
    buffers = storage(remat(reverse, "auto"))
    lines = [line for line in emit(buffers).source.splitlines() if "gemm" in line and "(" in line]
    golden("gemm.txt", "\n".join([str(reverse), str(buffers), *lines, ""]))


class _Stop(Exception):
    pass


@pytest.mark.full
@alarms
@pytest.mark.parametrize("size", [3, 200])
def test_loops_of_products_are_interrupted(size: int) -> None:
    @adc.jit
    def power(a: Any, n: Any) -> Any:
        b = a
        for _ in range(n):
            b = b @ a
        return b

    a = np.eye(size)
    power(a, 2)
    start = time.perf_counter()
    assert isinstance(interrupted(0.1, power, a, 10**12, error=_Stop), _Stop)
    assert time.perf_counter() - start < 10.0


_PROGRAM = """
import numpy as np, scipy, adc

@adc.value_and_grad
def f(a, b):
    return np.sum(np.square(a @ b))

a = np.arange(100.0).reshape(10, 10)
print(f(a, a.T)[0] == np.sum((a @ a.T) ** 2), f.cache_info())

import sys
from adc.backend.runtime import lapack

print([name for name in sys.modules if name.startswith(("scipy.linalg", "scipy.signal"))])
with lapack._loaded("cython_blas") as (alone,):
    pass
import scipy.linalg.cython_blas

print(scipy.linalg.cython_blas is alone, hasattr(scipy.linalg.cython_blas, "__pyx_capi__"))
print(np.allclose(scipy.linalg.solve(2.0 * np.eye(3), np.ones(3)), 0.5), float(f(a, a.T)[0]))
with lapack._loaded("cython_blas") as (again,):
    print(again is alone)
print("scipy.linalg.cython_blas" in sys.modules)
"""


@pytest.mark.full
def test_found_on_disk_by_another_process(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(_PROGRAM)
    env = os.environ | {"ADC_CACHE_DIR": str(tmp_path / "cache")}
    found = [
        subprocess.run(
            [sys.executable, str(file)], env=env, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for _ in range(2)
    ]
    for first, *rest in found:
        assert first.startswith("True")
        # Products load BLAS, and not the package that it is part of, which works as ever.
        a = np.arange(100.0).reshape(10, 10)
        total = float(np.sum((a @ a.T) ** 2))
        assert rest == ["[]", "True True", f"True {total}", "True", "True"]
    assert found[0][0] != found[1][0]  # compiled, then read
