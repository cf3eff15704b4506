"""`np.fft`, `scipy.fft` and `scipy.fftpack`: values, adjoints, arguments and errors."""

from __future__ import annotations

import importlib.util
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.fftpack

import adc
from adc.backend.cuda import transforms
from adc.backend.runtime import ducc
from adc.ir.errors import AdcError
from adc.library import fft, fourier
from adc.testing import check_grads

RNG = np.random.default_rng(7)
A = RNG.standard_normal((3, 5, 4))
Z = A + 1j * RNG.standard_normal(A.shape)
PRIME = RNG.standard_normal((2, 7))
SINGLE = PRIME.astype(np.float32)

_ALONG = ("", "n=3, axis=0, norm='ortho'", "n=9, axis=1, norm='forward'", "n=8, norm='backward'")
_ALL = ("", "s=(4, 6), axes=(0, 2), norm='ortho'", "s=(2, -1), axes=(1, 0)")
# More than two axes, some that are no neighbours or not in order, and one that occurs twice.
_SEVERAL = (
    "axes=(-1, 0, 1), s=(5, 4, 3)", "axes=(2, 0), norm='forward'", "axes=(0, -2), s=(3, 6)",
    "axes=(0, 1, 2), norm='ortho'",
)  # fmt: skip
_COSINES = (
    "type={}", "type={}, norm='ortho', axis=0, workers=2",
    "type={}, n=7, axis=1, norm='forward', orthogonalize=True",
    "type={}, n=3, norm='ortho', orthogonalize=False, overwrite_x=False",
)  # fmt: skip
_OLD_COSINES = ("type={}", "type={}, n=7, axis=1, norm='ortho'", "type={}, n=3, overwrite_x=True")


def _calls() -> list[tuple[str, str, str]]:
    """Return functions, arguments, and which array is transformed: A (real), Z, or both."""
    found = []
    for module in ("np.fft", "scipy.fft"):
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
            own = {"rfft": "A", "ihfft": "A", "irfft": "Z", "hfft": "Z"}.get(name, "AZ")
            forms = [*((name, form) for form in _ALONG), (f"{name}n", _ALL[1]), (f"{name}n", "")]
            forms += [(f"{name}2", ""), (f"{name}2", _ALL[2])]
            forms += [(f"{name}n", form) for form in _SEVERAL]
            for function, form in forms:
                if hasattr(eval(module), function):
                    found += [(f"{module}.{function}", form, x) for x in own]
    for name in ("dct", "idct", "dst", "idst"):
        for kind in (1, 2, 3, 4):
            found += [(f"scipy.fft.{name}", form.format(kind), "A") for form in _COSINES]
        found += [(f"scipy.fft.{name}", "", "Z")]
        found += [(f"scipy.fft.{name}n", "type=3, s=(4, 4), axes=(2, 0)", "A")]
    for name in ("dct", "idct", "dst", "idst"):
        for kind in (1, 2, 3, 4):
            found += [(f"scipy.fftpack.{name}", form.format(kind), "A") for form in _OLD_COSINES]
    for name in ("fft", "ifft"):
        found += [(f"scipy.fftpack.{name}", form, x) for form in _ALONG[:1] for x in "AZ"]
        for form in ("", "axes=(0, 2)", "(4, 3), axes=(2, 0)"):
            found += [(f"scipy.fftpack.{name}n", form, x) for x in "AZ"]
        found += [(f"scipy.fftpack.{name}2", "", "A")]
    for module in ("np.fft", "scipy.fft", "scipy.fftpack"):
        found += [(f"{module}.fftshift", "", "A"), (f"{module}.ifftshift", "axes=(0, 1)", "A")]
        found += [(f"{module}.fftshift", "axes=1", "Z")]
    return found + [("np.fft.fftn", "axes=(1, 0, 1)", x) for x in "AZ"]


def _function(name: str, form: str) -> Callable[[Any], Any]:
    """Return a function whose source can be found."""
    text = f"def call(x):\n    return {name}({', '.join(filter(None, ('x', form)))})\n"
    file = f"<{name} {form}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "scipy": scipy}
    exec(compile(text, file, "exec"), space)
    made: Callable[[Any], Any] = space["call"]
    return made


def _near(got: Any, want: Any) -> bool:
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    return bool(np.all(np.abs(got - want) <= 16 * np.finfo(want.dtype).eps * np.abs(want).max()))


@pytest.mark.sampled(24)
@pytest.mark.parametrize(("name", "form", "which"), _calls())
def test_values(name: str, form: str, which: str) -> None:
    function = _function(name, form)
    for x in (A, A[:, ::-1], A.astype(np.float32)) if which == "A" else (Z,):
        assert _near(adc.jit(function, target="python")(x), function(x))


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "form", "x"),
    [("np.fft.fft", "", PRIME), ("np.fft.irfft", "n=9", PRIME + 1j), ("scipy.fft.dst", "", SINGLE),
     ("np.fft.ifft", "axis=0", SINGLE), ("scipy.fft.rfft", "axis=0", SINGLE),
     ("np.fft.fftn", "", A), ("np.fft.ifftn", "axes=(0, 2)", Z), ("np.fft.rfft2", "", SINGLE),
     ("np.fft.irfftn", "axes=(0, 2)", Z)],
)  # fmt: skip
def test_compiled_code_has_the_bits_of_python(name: str, form: str, x: Any) -> None:
    function = _function(name, form)
    found = adc.jit(function)(x)
    assert _near(found, function(x))
    assert found.tobytes() == adc.jit(function, target="python")(x).tobytes()


REAL: list[Callable[[Any], Any]] = [
    lambda z: np.fft.ifft(z, 5, axis=1, norm="ortho").real,
    lambda z: np.real(np.fft.ifft2(z)),
    lambda z: np.fft.ifft2(z, s=(4, 7), axes=(2, 0)).real,
    lambda z: np.real(np.fft.ifftn(z, axes=(1,))),
    lambda z: np.fft.ifftn(z).real,
    lambda z: scipy.fft.ifft2(z, workers=1, norm="forward").real,
]


@pytest.mark.full
@pytest.mark.parametrize("number", range(len(REAL)))
def test_real_parts_of_inverses(number: int) -> None:
    """They take half of a spectrum."""
    function = REAL[number]
    found = adc.jit(function, target="python")
    for x in (Z, Z[:, :1], Z[:, ::-1, :3].astype(np.complex64), A):
        assert _near(found(x), function(x))
    weights = RNG.standard_normal(function(Z).shape)
    gradient = adc.grad(lambda z: np.sum(weights * function(z)), target="python")(Z[::-1])
    # The function is linear.
    assert np.sum(gradient * Z).real == pytest.approx(np.sum(weights * function(Z)), rel=1e-12)
    assert ("irfft" in found.source(Z)) is (number != 4)


def _blocked(x: Any) -> Any:
    z = np.fft.fft(np.fft.fft(x, axis=0), axis=1)
    y = np.fft.irfft(np.fft.rfft(x, axis=0), len(x), axis=0) + scipy.fft.idct(
        scipy.fft.dct(x, axis=0), axis=0
    )
    return z, y


@pytest.mark.full
@pytest.mark.parametrize("shape", [(300, 130), (4096, 20), (3, 30000)])
def test_lines_are_transformed_in_blocks(shape: tuple[int, int]) -> None:
    x = RNG.standard_normal(shape)
    z, y = adc.jit(_blocked)(x)
    assert _near(z, np.fft.fft2(x))
    assert np.abs(y - 2 * x).max() < 1e-12


def _two(z: Any) -> Any:
    x = np.fft.irfftn(z, axes=(0, 2))
    return np.fft.rfftn(x, axes=(0, 2)), np.fft.fftn(z, axes=(0, 2))


@pytest.mark.full
@pytest.mark.parametrize("shape", [(300, 2, 131), (4096, 1, 21), (3, 1, 30001, 1), (40, 900, 3)])
def test_two_axes_are_transformed_in_blocks(shape: tuple[int, ...]) -> None:
    z = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)
    for got, want in zip(adc.jit(_two)(z), _two(z), strict=True):
        assert np.abs(got - want).max() < 1e-12 * np.abs(want).max()


# --- the routines: plain Python against the library, and adjoints ---------------------------------


@pytest.mark.parametrize("n", [1, 2, 6, 7, 12, 25])
def test_plain_python_transforms(n: int) -> None:
    z = RNG.standard_normal((2, n, 3)) + 1j * RNG.standard_normal((2, n, 3))
    for forward, want in ((True, np.fft.fft(z, axis=1)), (False, n * np.fft.ifft(z, axis=1))):
        re, im = fourier.fft(z.real, z.imag, 2, n, 3, 6, forward, 1.0)
        assert np.allclose(re + 1j * im, want, rtol=0, atol=1e-13 * n)
    shape = (2, n // 2 + 1, 3)
    re, im = fourier.rfft(z.real, 2, n, 3, 6, 1.0, 1.0, shape)
    assert np.allclose(re + 1j * im, np.fft.rfft(z.real, axis=1), rtol=0, atol=1e-13 * n)
    back = fourier.irfft(re, im, 2, n, 3, 6, 1.0, 1.0 / n, z.shape)
    assert np.allclose(back, z.real, rtol=0, atol=1e-14 * n)
    for kind in range(2 if n == 1 else 1, 9):
        of_scipy = scipy.fft.dst if kind > 4 else scipy.fft.dct
        want = of_scipy(z.real, (kind - 1) % 4 + 1, axis=1, orthogonalize=True)
        assert np.allclose(fourier.dct(z.real, 2, n, 3, kind, 1.0), want, rtol=0, atol=1e-13 * n)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 4), (4, 3), (2, 5)])
def test_plain_python_transforms_along_two_axes(n: int, k: int) -> None:
    z = RNG.standard_normal((2, n, 3, k, 2)) + 1j * RNG.standard_normal((2, n, 3, k, 2))
    a, b, c, d, e = z.shape
    for forward, want in (
        (True, np.fft.fft2(z, axes=(1, 3))), (False, n * k * np.fft.ifft2(z, axes=(1, 3))),
    ):  # fmt: skip
        re, im = fourier.fft2(z.real, z.imag, a, b, c, d, e, 0, forward, 1.0)
        assert np.allclose(re + 1j * im, want, rtol=0, atol=1e-12)
    want = np.fft.rfft2(z.real, axes=(1, 3))
    re, im = fourier.rfft2(z.real, a, b, c, d, e, 0, 1.0, 1.0, want.shape)
    assert np.allclose(re + 1j * im, want, rtol=0, atol=1e-12)
    back = fourier.irfft2(re, im, a, b, c, d, e, 0, 1.0, 1.0 / (n * k), z.shape)
    assert np.allclose(back, z.real, rtol=0, atol=1e-13)


class _NumPy:
    arrays = np


@pytest.mark.parametrize("n", [6, 7])
def test_libraries_of_arrays_do_what_plain_python_does(n: int) -> None:
    x, y = RNG.standard_normal((2, 2, n, 3))
    re, im = RNG.standard_normal((2, 2, n // 2 + 1, 3))
    two = (1, 2, 1, n, 3, 0)
    calls = [
        ("fft", (x, y, 2, n, 3, 6, forward, 0.5)) for forward in (True, False)
    ] + [
        ("rfft", (x, 2, n, 3, 6, 2.0, 0.5, *re.shape)),
        ("irfft", (re, im, 2, n, 3, 6, 0.5, 0.5, *x.shape)),
        *(("dct", (x, 2, n, 3, kind, 0.5)) for kind in range(1, 9)),
        *(("fft2", (x, y, *two, forward, 0.5)) for forward in (True, False)),
        ("rfft2", (x, *two, 2.0, 0.5, *re.shape)),
        ("irfft2", (re, im, *two, 0.5, 0.5, *x.shape)),
    ]  # fmt: skip
    for name, given in calls:
        count = {"rfft": 7, "irfft": 8, "rfft2": 9, "irfft2": 10}.get(name, len(given))
        shape = (given[count:],) if count < len(given) else ()
        want = getattr(fourier, name)(*given[:count], *shape)
        found, failed = transforms.ROUTINES[name](_NumPy, *given)
        assert failed == 0
        assert [each.shape for each in found] == [
            each[1] for each in transforms.results(name, given)
        ]
        for a, b in zip(found, want if isinstance(want, tuple) else (want,), strict=True):
            assert np.allclose(a, b, rtol=0, atol=1e-13)


@pytest.mark.sampled(48)
@pytest.mark.parametrize(("name", "form", "which"), _calls())
def test_adjoints(name: str, form: str, which: str) -> None:
    """For the real scalar product, (F x, y) = (x, F* y)."""
    function = _function(name, form)
    x = A if which == "A" else Z
    value, pullback = adc.vjp(function, x, target="python")
    y = RNG.standard_normal(value.shape)
    if np.iscomplexobj(value):
        y = y + 1j * RNG.standard_normal(value.shape)
    (gradient,) = pullback(y)
    assert np.isclose(np.sum(value * y).real, np.sum(gradient * x).real, rtol=1e-12)


def _everything(x: Any) -> Any:
    z = np.fft.fft2(x) * np.fft.rfft(x).real.sum()
    w = scipy.fft.dctn(np.sin(x)) * scipy.fft.idst(x, 2, axis=0)
    return np.sum(np.abs(z) ** 2) + np.sum(np.fft.irfft(z, 5) ** 2) + np.sum(w)


@pytest.mark.full
def test_gradients() -> None:
    check_grads(_everything, (RNG.standard_normal((3, 4)),))


def _filtered(x: Any, w: Any) -> Any:
    y = np.fft.irfft2(np.fft.rfft2(x) * w) + np.fft.ifftn(np.fft.fftn(x, axes=(1, 0))).real
    return np.sum(np.sin(y))


@pytest.mark.full
def test_second_derivatives_along_two_axes() -> None:
    x, w = RNG.standard_normal((4, 6)), RNG.standard_normal((4, 4))
    check_grads(_filtered, (x, w), order=2)


def _steps(x: Any, w: Any) -> Any:
    for _ in range(6):
        x = x + 0.1 * np.sin(np.fft.irfft2(np.fft.rfft2(x) * w))
    return np.sum(x)


@pytest.mark.full
def test_no_bit_depends_on_the_budget() -> None:
    x, w = RNG.standard_normal((64, 48)), RNG.standard_normal((64, 25))
    want = adc.grad(_steps, (0, 1))(x, w)
    plan = adc.grad(_steps, (0, 1)).plan(x, w)
    budget = int((plan.peak_bytes or 0) * 0.8)
    frugal = adc.grad(_steps, (0, 1), memory=budget)
    for got, each in zip(frugal(x, w), want, strict=True):
        assert got.tobytes() == each.tobytes()
    assert (frugal.plan(x, w).peak_bytes or 0) <= budget


@pytest.mark.full
def test_reverse_code_takes_arrays_from_the_workspace() -> None:
    x, w = RNG.standard_normal((8, 6)), RNG.standard_normal((8, 4))
    found = adc.grad(_filtered)
    text = found.source(x, w)
    assert "fresh(" not in text
    # Sizes of cotangents are known: no array that a loop fills is filled with zeros before.
    assert "does not have the shape" not in found.ir(x, w)


# --- the rest -------------------------------------------------------------------------------------


def _frequencies(n: Any) -> Any:
    return np.fft.fftfreq(n), scipy.fft.fftfreq(n, 0.5), np.fft.rfftfreq(n, d=2.0)


def _lengths(n: Any) -> Any:
    return scipy.fft.next_fast_len(n), scipy.fft.next_fast_len(n, real=True)


def test_frequencies_and_lengths() -> None:
    frequencies, lengths = (adc.jit(f, target="python") for f in (_frequencies, _lengths))
    for n in (1, 8, 13):
        for got, want in zip(frequencies(n), _frequencies(n), strict=True):
            assert np.array_equal(got, want)
    for n in (1, 13, 221, 1025):
        assert tuple(lengths(n)) == _lengths(n)
        assert fft.prev_fast_len(n) == scipy.fft.prev_fast_len(n)


ERRORS: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda x: np.fft.fft(x, 0).real, ValueError, r"Invalid number of FFT data points \(0\) spec"),
    (lambda x: np.fft.fft(x[:0]).real, ValueError, "Invalid number of FFT data points"),
    (lambda x: scipy.fft.fft(x, norm="max").real, ValueError, "Invalid norm value max; should be"),
    (lambda x: np.fft.fft(x, axis=2).real, ValueError, "axes exceeds dimensionality"),
    (lambda x: np.fft.rfft(x + 0j).real, TypeError, "x must be a real sequence"),
    (lambda x: np.fft.fft2(x[None], s=(2,)).real, ValueError, "Shape and axes have different"),
    (lambda x: scipy.fft.dct(x, 5), ValueError, "invalid type 5"),
    (lambda x: np.fft.fft(x, out=x + 0j).real, AdcError, "the argument 'out'"),
    (lambda x: np.fft.fft(x, axis=int(x[0])).real, AdcError, "axis"),
]


@pytest.mark.parametrize(("function", "error", "message"), ERRORS)
def test_errors(function: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        adc.jit(function, target="python")(np.ones(4))


def test_a_missing_package_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(AdcError, match=r"needs the package rocket-fft.*: it is not installed"):
        ducc._library()


def _of_views(a: Any, z: Any) -> Any:
    """Copies of views have other sizes than what they are views of."""
    spectrum = np.fft.fft(z[:, 1])
    total = np.sum(spectrum.real**2)
    for k in range(len(a)):
        total += np.sum(np.linalg.solve(a[k], z[k, :2].real[:, None]))
    return total


@pytest.mark.full
def test_sizes_of_results_for_views() -> None:
    a, z = RNG.standard_normal((3, 2, 2)) + 2 * np.eye(2), RNG.standard_normal((3, 5)) + 0j
    assert np.isclose(adc.jit(_of_views)(a, z), _of_views(a, z))
    check_grads(_of_views, (a, z))
