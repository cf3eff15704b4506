"""`scipy.special` in programs: forms of calls, dtypes, derivatives in both modes, errors.

Values are SciPy's bit for bit; that derivatives are right is tested for each row (`test_ufuncs`).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import special

import adc
from adc.ir.errors import AdcError, NotDifferentiableError
from adc.testing import check_grads

X = np.array([0.3, 0.6])
N = np.array([1, 2])
F = np.float32(X)

EXACT: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda x: special.erf(x), (3,)),
    (lambda x: special.erf(x), (True,)),
    (lambda x: special.erf(x), (np.float32(0.3),)),
    (lambda x: special.erf(x), (np.float16(0.3),)),
    (lambda x: special.erf(x), (np.arange(3, dtype=np.int8),)),
    (lambda x: special.erf(x), (np.zeros((0, 2)),)),
    (lambda x: special.erf(x, dtype=np.float32), (X,)),
    (lambda x: special.erf(x), (0.3 + 1j,)),
    (lambda x: special.gammaln(x), (np.array(0.5),)),
    (lambda x: special.xlogy(x, 2), (F,)),
    (lambda x: special.xlogy(2, x), (np.float32(0.5),)),
    (lambda x: special.xlogy(x[:, None], x), (X,)),
    (lambda x: special.betainc(2, np.float32(3), x), (F,)),
    (lambda x: special.digamma(x), (X,)),
    (lambda x: special.airy(x), (X,)),
    (lambda x: special.airy(x)[1], (0.3,)),
    (lambda x: special.jn(2, x), (F,)),
    (lambda x: special.jv(np.arange(2), x), (X,)),
    (lambda x, n: special.yn(n, x), (X, N)),
    (lambda x: special.expn(2, x), (F,)),
    (lambda x: special.eval_legendre(3, x), (X,)),
    (lambda x: special.eval_legendre(3.5, x), (X,)),
    (lambda x: special.eval_hermite(3, x), (F,)),
    (lambda x: special.ellipj(x, 0.3), (X,)),
    (lambda x: special.bdtr(3, 7, x), (X,)),
    (lambda x: special.comb(x, 2), (np.array([5.0, 1.0]),)),
    (lambda k: special.comb(7, k), (3,)),
    (lambda x: special.comb(x, 2, repetition=True), (X,)),
    (lambda x: special.perm(x, 2), (X + 4,)),
    (lambda x: special.factorial(x), (X,)),
    (lambda x: special.factorial(np.arange(4) - 1) * x, (1.0,)),
    (lambda x: special.factorial2(np.arange(9) - 2) * x, (1.0,)),
    (lambda x: sum(special.factorial2(k) * x**k for k in range(-1, 8)), (1.5,)),
    (lambda x: special.factorial2(np.argmax(x) + 7, exact=True) * x, (X,)),
    (lambda x: special.multigammaln(x, 3), (X + 4,)),
    (lambda x: special.polygamma(1, x), (X,)),
    (lambda x: special.polygamma(0, x), (0.3,)),
    (lambda x: special.polygamma(np.arange(3)[:, None], x), (X,)),
    (lambda x: special.zeta(2.5, x), (X,)),
    (lambda x: special.zeta(3) * x, (1.0,)),
    (lambda x: special.lambertw(x), (X,)),
    (lambda x: special.lambertw(x, -1), (-0.2,)),
    (lambda x: special.spherical_jn(2, x), (X,)),
    (lambda x, n: special.spherical_kn(n, x, derivative=True), (X, N)),
    (lambda x: special.jvp(1.5, x, 3), (X,)),
    (lambda x: special.kvp(1, x, 2), (X,)),
    (lambda x: special.h1vp(1, x), (X,)),
    (lambda x: special.wofz(x + 1j), (X,)),
    (lambda x: special.gamma(x + 1j), (np.complex64(X),)),
    (lambda x: special.sici(x + 1j)[1], (X,)),
]  # fmt: skip


def _same(found: Any, want: Any) -> None:
    if isinstance(want, tuple):
        assert len(found) == len(want)
        for a, b in zip(found, want, strict=True):
            _same(a, b)
        return
    assert type(found) is type(want)
    assert np.asarray(found).dtype == np.asarray(want).dtype
    np.testing.assert_array_equal(found, want)


@pytest.mark.sampled(24)
@pytest.mark.parametrize(("fn", "args"), EXACT)
def test_calls_return_what_scipy_returns(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    _same(adc.jit(fn)(*args), fn(*args))


M = np.random.default_rng(5).normal(size=(4, 5))
W = np.where(np.arange(20).reshape(4, 5) % 7 == 3, 0.0, np.cos(np.arange(20.0)).reshape(4, 5))
SUMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda x: special.logsumexp(x), (M,)),
    (lambda x: special.logsumexp(x), (3.5,)),
    (lambda x: special.logsumexp(x, axis=1, keepdims=True), (M,)),
    (lambda x: special.logsumexp(x, axis=(0, 1)), (np.float32(M),)),
    (lambda x: special.logsumexp(x, axis=0), (np.arange(6).reshape(2, 3),)),
    (lambda x, b: special.logsumexp(x, axis=0, b=b), (M, W)),
    (lambda x, b: special.logsumexp(x, b=b, return_sign=True), (M, W)),
    (lambda x: special.logsumexp(x), (np.array([0.0, -40.0]),)),
    (lambda x: special.logsumexp(x), (np.full(3, -np.inf),)),
    (lambda x: special.logsumexp(x), (np.array([np.inf, 1.0]),)),
    (lambda x: special.logsumexp(x), (np.array([np.nan, 1.0]),)),
    (lambda x: special.logsumexp(x), (np.zeros(0),)),
    (lambda x, b: special.logsumexp(x, b=b), (np.array([np.inf, 1.0]), np.array([0.0, 2.0]))),
    (lambda x: special.logsumexp(x), (M + 3j * M.T.reshape(4, 5),)),
    (lambda x: special.logsumexp(x, axis=1, keepdims=True), (np.complex64(M + 1j * M**2),)),
    (lambda x, b: special.logsumexp(1j * x, axis=0, b=b, return_sign=True), (M, W)),
    (lambda x, b: special.logsumexp(x, b=b + 1j, return_sign=True), (M, W)),
    (lambda x: special.logsumexp(x), (np.array([0.0, -40.0 + 1j]),)),
    (lambda x: special.softmax(x, axis=1), (M,)),
    (lambda x: special.softmax(x), (np.array([1000.0, 0.0]),)),
    (lambda x: special.log_softmax(x, axis=0), (np.float32(M),)),
    (lambda x: special.log_softmax(x), (np.array([-np.inf, 0.0]),)),
    (lambda x: special.softplus(x), (M,)),
]  # fmt: skip


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("fn", "args"), SUMS)
def test_sums_are_those_of_scipy_but_for_rounding(
    fn: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    with np.errstate(all="ignore"):
        want = fn(*args)
    found = adc.jit(fn)(*args)
    for a, b in zip(*[x if isinstance(x, tuple) else (x,) for x in (found, want)], strict=True):
        assert type(a) is type(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        rtol = 1e-6 if np.finfo(np.asarray(b).dtype).bits == 32 else 3e-15
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (lambda x: np.sum(special.logsumexp(x, axis=1) ** 2), (M,)),
        (lambda x, b: special.logsumexp(x, b=b, return_sign=True)[0], (M, W)),
        (lambda x: np.sum(np.abs(special.logsumexp(x + 1j * x**2, axis=1))), (M,)),
        (lambda x: np.sum(special.softmax(x, axis=0) ** 2), (M,)),
        (lambda x: np.sum(special.log_softmax(x, axis=1) ** 2), (M,)),
        (lambda x: np.sum(special.comb(x, 2) * special.multigammaln(x, 2)), (X + 2,)),
        (lambda x: np.sum(special.polygamma(1, x) * special.polygamma(0, x)), (X,)),
        (lambda x: np.sum(special.lambertw(x).real), (X,)),
        (lambda x: np.sum(special.spherical_jn(2, x) * special.jvp(1, x)), (X,)),
        (lambda x: np.sum(np.abs(special.wofz(x + 0.5j * x))), (X,)),
        (lambda x: np.sum(special.hankel1(1, x).imag * special.ellipj(x, 0.3)[3]), (X,)),
    ],
)
def test_derivatives(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check_grads(fn, args)


@pytest.mark.full
def test_gradients_of_logsumexp_where_terms_are_infinite() -> None:
    def total(x: Any) -> Any:
        return special.logsumexp(x)

    def unused(x: Any) -> Any:  # a state that cannot be reached counts for nothing
        return np.sum(np.exp(special.logsumexp(x, axis=1)))

    x = np.array([-np.inf, 0.0, 1.0])
    np.testing.assert_allclose(adc.grad(total)(x), special.softmax(x), rtol=1e-15)
    rows = np.array([[-np.inf, -np.inf], [0.0, 1.0]])
    np.testing.assert_allclose(adc.grad(unused)(rows), np.exp(rows), rtol=1e-14)


def test_many_equal_terms() -> None:
    # The derivative is a quotient of sums, not a difference from 1.
    found = adc.grad(lambda x: special.logsumexp(x))(np.append(np.zeros(100000), 1e-3))
    assert found[-1] == pytest.approx(np.exp(1e-3) / (100000 + np.exp(1e-3)), rel=1e-13)


@pytest.mark.full
def test_gamma_functions_of_math() -> None:
    import math

    for fn, meaning in ((math.lgamma, mpmath.loggamma), (math.gamma, mpmath.gamma)):

        def value(x: float, fn: Any = fn) -> Any:
            return fn(x)

        want = [float(mpmath.diff(meaning, 2.5, n)) for n in (1, 2)]
        assert adc.grad(value)(2.5) == pytest.approx(want[0], rel=1e-14)
        assert adc.hvp(value, (2.5,), (1.0,)) == pytest.approx(want[1], rel=1e-13)
        assert adc.jvp(value, (2.5,), (1.0,))[1] == pytest.approx(want[0], rel=1e-14)


def test_out_and_where() -> None:
    def fn(x: Any) -> Any:
        y = np.empty(2)
        special.erf(x, out=y)
        z = np.zeros(2)
        special.gammaln(x, z, where=x > 0.4)
        s = np.empty(2)
        c = np.empty(2)
        special.sici(x, out=(s, c))
        return np.sum(y * z) + np.sum(s * c)

    assert adc.jit(fn)(X) == fn(X)
    check_grads(fn, (X,))


def test_a_source_shows_the_functions() -> None:
    gradient = adc.grad(lambda x: np.sum(special.gammaln(x)))
    gradient(X)
    text = gradient.source()
    assert "from adc.backend.runtime.special import (\n    scipy_psi,\n)" in text
    assert "= scipy_psi(x[i_u])" in text


@pytest.mark.parametrize(
    ("fn", "code", "message", "hint"),
    [
        (lambda x: special.erf(x, x, x), "ADC014", "takes 1 arguments, not 3", ""),
        (lambda x: special.erf(x, foo=2), "ADC010", "with these arguments", ""),
        (lambda x: special.kn(x, x), "ADC010", "`scipy.special.kn` of float64", "pass integers"),
        (lambda x: special.ndtri(x + 1j).real, "ADC014", "not defined for complex128", ""),
        (lambda x: special.comb(5, 2, exact=True) * x, "ADC010", "exact=True", "leave out"),
        (lambda x: special.mathieu_a(1, x), "ADC010", "`scipy.special.mathieu_a`", "adc supported"),
    ],
)
def test_what_is_refused(fn: Callable[..., Any], code: str, message: str, hint: str) -> None:
    with pytest.raises(AdcError) as caught:
        adc.grad(lambda x: np.sum(fn(x)), cache=False)(X)
    assert caught.value.code == code
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_an_operand_without_a_derivative() -> None:
    def fn(a: Any, x: Any) -> Any:
        return special.gammainc(a, x)

    assert adc.grad(fn, 1)(2.5, 1.3) == pytest.approx(0.30387572096683, rel=1e-12)
    calls: list[Callable[[], Any]] = [
        lambda: adc.grad(fn)(2.5, 1.3),
        lambda: adc.jvp(fn, (2.5, 1.3), (1.0, 0.0)),
    ]
    for call in calls:
        with pytest.raises(
            NotDifferentiableError, match=r"its shape `a`.*hypergeometric"
        ) as caught:
            call()
        assert "special.gammainc(a, x)" in str(caught.value)


@pytest.mark.sampled(22)
@pytest.mark.parametrize("name", [
    "erf", "erfc", "erfinv", "erfcinv", "erfcx", "gammaln", "gamma", "psi", "j0", "y0", "ndtr",
    "ndtri", "log_ndtr", "logit", "log_expit", "entr", "xlogy", "xlog1py", "rel_entr", "kl_div",
    "huber", "pseudo_huber",
])  # fmt: skip
def test_in_the_simulator_of_a_gpu(name: str) -> None:
    function = getattr(special, name)
    x = np.array([0.3, 0.6, 0.05, 0.95])

    def one(x: Any) -> Any:
        return np.sum(function(x))

    def two(x: Any) -> Any:
        return np.sum(function(x, x[::-1] + 0.1))

    fn = one if function.nin == 1 else two
    value, gradient = adc.value_and_grad(fn, target="cuda")(x)
    want, slopes = adc.value_and_grad(fn)(x)
    assert value == pytest.approx(want, rel=1e-14)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-13, atol=1e-14)


@pytest.mark.sampled(4)
def test_algorithms_for_a_gpu_at_edges() -> None:
    x = np.array([-1.5, 0.0, 1e-3, 30.0, np.nan])
    for function in (special.psi, special.entr, special.log_ndtr, special.log_expit):

        def fn(x: Any, function: Any = function) -> Any:
            return function(x)

        found = adc.jit(fn, target="cuda")(x)
        np.testing.assert_allclose(found, function(x), rtol=1e-13)


def test_what_a_gpu_does_not_have() -> None:
    with pytest.raises(AdcError, match=r"`scipy.special.jv`.* cannot run"):
        adc.jit(lambda x: special.jv(2.5, x), target="cuda")(X)


def test_slopes_of_the_arithmetic_geometric_mean() -> None:
    def mean(a: Any, b: Any) -> Any:
        return special.agm(a, b)

    slopes = adc.grad(mean, (0, 1), target="python")
    for a, b in ((1.5, 0.7), (0.7, 1.5)):
        by_a, by_b = slopes(a, b)
        assert a * by_a + b * by_b == pytest.approx(special.agm(a, b), rel=1e-12)
        assert by_a == pytest.approx(slopes(b, a)[1], rel=1e-12)


_PROGRAM = """
import numpy as np
from scipy import special

import adc


def fn(x):
    return np.sum(special.log_ndtr(x) + special.zeta(2.0, x))


print(adc.value_and_grad(fn)(np.array([0.4, 1.5])), adc.grad(fn).__name__)
"""


@pytest.mark.full
def test_machine_code_from_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(_PROGRAM)
    env = {"ADC_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": ":".join(sys.path)}
    runs = [
        subprocess.run([sys.executable, path], capture_output=True, text=True, check=True, env=env)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout
