"""adc and autograd agree: values, both modes, second derivatives."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy
import autograd.numpy.fft
import autograd.numpy.linalg
import autograd.scipy.linalg
import autograd.scipy.signal
import autograd.scipy.special
import autograd.scipy.stats
import numpy as np
import pytest
from autograd.differential_operators import make_jvp

import adc
from tests.against_autograd import cases, scipy_cases

# The modules of autograd's that have the places of NumPy's and SciPy's.
THEIRS = {
    "np": autograd.numpy, "linalg": autograd.scipy.linalg, "signal": autograd.scipy.signal,
    "special": autograd.scipy.special, "stats": autograd.scipy.stats,
}  # fmt: skip


def written(fn: Callable[..., Any] | str, folder: Any) -> Callable[..., Any]:
    """Return a case as a function that has source: some are text."""
    if not isinstance(fn, str):
        return fn
    path = folder / "case.py"
    path.write_text(f"import numpy as np\n\n\ndef fn(x):\n    return {fn}\n")
    namespace: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    made: Callable[..., Any] = namespace["fn"]
    return made


def with_autograd(fn: Any) -> Callable[..., Any]:
    """Return the same function with autograd's NumPy and SciPy."""
    return types.FunctionType(fn.__code__, {**fn.__globals__, **THEIRS}, fn.__name__)


def like(value: Any, rng: np.random.Generator) -> Any:
    """Return random numbers of the shape and kind of a value."""
    found = rng.normal(size=np.shape(value))
    if np.iscomplexobj(value):
        found = found + 1j * rng.normal(size=np.shape(value))
    return found[()] if np.ndim(value) else (complex if np.iscomplexobj(value) else float)(found)


def close(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


# Where autograd is wrong, or raises: its own value or mode is not compared.
NO_REVERSE = frozenset({
    "gradient-1", "einsum-3", "broadcast_to-0", "diagonal-0", "diagonal-1", "concatenate-2",
    "sort-1", "rfft-0", "irfft-1", "astype-0",
})  # fmt: skip
NO_FORWARD = frozenset(
    {
        "pinv",
        "svd",
        "partition",
        "cholesky",
        "eigh",
        "slogdet",
        "det",
        "inv",
        "hypot",
        "solve",
        "var",
    }
)
NO_SECOND = frozenset({"linspace", "full", "gradient", "std"})


@pytest.mark.sampled(50)
@pytest.mark.filterwarnings("ignore:.axes. should not be:DeprecationWarning")
@pytest.mark.parametrize(
    ("name", "fn", "args"), cases.CASES, ids=[name for name, _, _ in cases.CASES]
)
def test_case(name: str, fn: Any, args: tuple[Any, ...], tmp_path: Any) -> None:
    fn = written(fn, tmp_path)
    family = name.rpartition("-")[0]
    compare(
        fn,
        args,
        reverse=name not in NO_REVERSE,
        forward=family not in NO_FORWARD and "fft" not in family,
        second=family not in NO_SECOND,
    )


@pytest.mark.sampled(60)
@pytest.mark.parametrize(
    ("name", "fn", "args"), scipy_cases.CASES, ids=[name for name, _, _ in scipy_cases.CASES]
)
def test_scipy(name: str, fn: Any, args: tuple[Any, ...]) -> None:
    # autograd has no forward mode of them.
    compare(fn, args, reverse=True, forward=False, second=True)


def compare(
    fn: Callable[..., Any], args: tuple[Any, ...], *, reverse: bool, forward: bool, second: bool
) -> None:
    """Compare a function's value and derivatives with differences and what autograd has."""
    other = with_autograd(fn)
    rng = np.random.default_rng(3)
    numbers = tuple(range(len(args)))
    value, pull = adc.vjp(fn, *args, target="python")
    close(value, fn(*args))
    ct = like(value, rng)
    found = pull(ct)
    tangents = tuple(like(arg, rng) for arg in args)
    _, dot = adc.jvp(fn, args, tangents, target="python")
    step = 1e-6
    ahead, behind = (
        fn(*(x + sign * step * t for x, t in zip(args, tangents, strict=True)))
        for sign in (1.0, -1.0)
    )
    np.testing.assert_allclose(dot, (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-6)
    paired = sum(np.sum(one * t).real for one, t in zip(found, tangents, strict=True))
    assert np.sum(ct * dot).real == pytest.approx(paired, rel=1e-8, abs=1e-9)
    if not reverse:
        return
    back, expected = autograd.make_vjp(other, numbers)(*args)
    close(value, expected)
    for one, wanted in zip(found, back(ct), strict=True):
        close(one, wanted)
    if forward:
        moved = sum(make_jvp(other, k)(*args)(tangents[k])[1] for k in numbers)
        close(dot, moved)
    if not second:
        return

    def scalar(*xs: Any) -> Any:
        y = fn(*xs)
        return np.sum(np.real(ct * y * y))

    def other_scalar(*xs: Any) -> Any:
        y = other(*xs)
        return autograd.numpy.sum(autograd.numpy.real(ct * y * y))

    products = adc.hvp(scalar, args, tangents, target="python")
    products = products if len(args) > 1 else (products,)
    # By differences of autograd's gradients: its own second derivatives of complex numbers are of
    # another convention.
    slope = autograd.grad(other_scalar, numbers)
    step = 1e-5
    ahead, behind = (
        slope(*(x + sign * step * t for x, t in zip(args, tangents, strict=True)))
        for sign in (1.0, -1.0)
    )
    for one, a, b in zip(products, ahead, behind, strict=True):
        np.testing.assert_allclose(one, (a - b) / (2 * step), rtol=1e-5, atol=1e-6)
