"""Complex arguments and results: gradients, tangents, cotangents, Jacobians, what is refused.

Programs of complex numbers inside are in `tests.corpus.arrays.complex_programs`.
"""

from __future__ import annotations

import cmath
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.cli import check
from adc.ir.errors import AdcError, ArgumentError, NonScalarError
from adc.testing import check_grads
from tests.oracle import numpy_sweep

RNG = np.random.default_rng(7)
Z = RNG.normal(size=4) + 1j * RNG.normal(size=4)
W = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))


def differences(fn: Callable[..., Any], z: Any, step: float = 1e-6) -> Any:
    """Return the gradient ∂f/∂x - i ∂f/∂y by central differences in both parts."""
    z = np.asarray(z)
    found = np.zeros(z.shape, complex)
    for k in np.ndindex(z.shape):
        unit = np.zeros(z.shape)
        unit[k] = step
        along = [(fn(z + d * unit) - fn(z - d * unit)) / (2 * step) for d in (1, 1j)]
        found[k] = along[0] - 1j * along[1]
    return found


def power(z: Any) -> Any:
    return np.sum(np.abs(z * z + 1j * np.exp(z)) ** 2)


def test_the_gradient_of_a_real_function() -> None:
    value, found = adc.value_and_grad(power)(Z)
    assert value == pytest.approx(power(Z), rel=1e-14)
    assert found.dtype == np.complex128
    np.testing.assert_allclose(found, differences(power, Z), rtol=1e-7)
    # A step against the conjugate of the gradient decreases the function.
    assert power(Z - 1e-4 * found.conj()) < power(Z)


def modulus(z: Any) -> Any:
    return abs(z) ** 2


@pytest.mark.parametrize(
    ("z", "ty"),
    [(1 + 2j, complex), (np.complex64(1 + 2j), np.complex64), (np.array(1 + 2j), np.complex128)],
)
def test_gradients_have_the_type_of_the_number(z: Any, ty: type) -> None:
    gradient = adc.grad(modulus)
    for _ in range(3):  # the second call reads its arguments like the first, the third faster
        found = gradient(z)
        assert type(found) is ty
        assert found == 2 - 4j


@pytest.mark.full
def test_gradients_have_the_structure_of_the_argument() -> None:
    def loss(p: Any, scale: Any) -> Any:
        return np.abs(p["a"].sum() * p["b"][0] * p["b"][1]) * scale

    found = adc.grad(loss, argnums=(0, 1))({"a": Z, "b": (1j, 2.0)}, 3.0)
    assert [type(x) for x in found[0]["b"]] == [complex, float]
    assert found[0]["a"].dtype == np.complex128
    assert type(found[1]) is float
    frozen = adc.grad(loss)({"a": Z.astype(np.complex64), "b": (1, 2.0)}, 1)
    assert frozen["a"].dtype == np.complex64
    assert frozen["b"][0] is None


def test_a_real_argument_has_a_real_gradient() -> None:
    found = adc.grad(lambda x: np.sum(np.abs(np.exp(1j * x) + x)))(np.array([0.1, 0.2]))
    assert found.dtype == np.float64


def cube(z: Any) -> Any:
    return z**3 + cmath.exp(z)


def test_holomorphic_functions() -> None:
    z = 1.5 + 0.5j
    slope = 3 * z**2 + cmath.exp(z)
    assert adc.grad(cube, holomorphic=True)(z) == pytest.approx(slope)
    value, found = adc.value_and_grad(cube, holomorphic=True)(z)
    assert (value, found) == pytest.approx((cube(z), slope))


def products(z: Any) -> Any:
    return z * z * z[::-1]


@pytest.mark.full
@pytest.mark.parametrize("transform", [adc.jacfwd, adc.jacrev])
def test_jacobians(transform: Callable[..., Any]) -> None:
    wanted = np.diag(2 * Z * Z[::-1]) + np.diag(Z * Z)[:, ::-1]
    found = transform(products, holomorphic=True)(Z)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    x = np.array([0.1, 0.2])
    np.testing.assert_allclose(transform(lambda x: np.exp(1j * x))(x), np.diag(1j * np.exp(1j * x)))
    found = transform(lambda z: np.abs(z) ** 2)(Z)
    np.testing.assert_allclose(found, np.diag(2 * Z.conj()), rtol=1e-13)
    # One number by one number.
    assert transform(lambda z: z * z, holomorphic=True)(2j) == 4j


def quartic(p: Any) -> Any:
    return np.sum(p["a"] ** 3 * p["b"][0]) * p["b"][1]


@pytest.mark.full
def test_second_derivatives_of_holomorphic_functions() -> None:
    p = {"a": Z, "b": (2j, 1 + 1j)}
    wanted = 6.0 * np.diag(Z) * 2j * (1 + 1j)
    hessian = adc.hessian(quartic, holomorphic=True)
    twice = adc.jacfwd(adc.grad(quartic, holomorphic=True), holomorphic=True)
    for found in (hessian(p), twice(p), adc.jit(lambda p: hessian(p))(p)):
        np.testing.assert_allclose(found["a"]["a"], wanted, rtol=1e-13)
        np.testing.assert_allclose(found["a"]["b"][0], 3 * Z**2 * (1 + 1j), rtol=1e-13)
        np.testing.assert_allclose(found["b"][0]["a"], 3 * Z**2 * (1 + 1j), rtol=1e-13)
        assert found["b"][0]["b"][1] == pytest.approx(np.sum(Z**3))
    cubes = adc.hessian(lambda z: z**3, holomorphic=True)
    for found in (cubes(Z), adc.jit(lambda z: cubes(z))(Z)):
        np.testing.assert_allclose(found[range(4), range(4), range(4)], 6 * Z, rtol=1e-13)
    assert adc.hessian(cube, holomorphic=True)(2j) == pytest.approx(12j + cmath.exp(2j))
    # Of a real function it is the derivative of the gradient, where that has one.
    found = adc.hessian(lambda z: np.sum(z**3).real)(Z)
    np.testing.assert_allclose(found, np.diag(6 * Z), rtol=1e-13)


@pytest.mark.full
@pytest.mark.parametrize("which", range(6))
@pytest.mark.parametrize("transform", [adc.jacfwd, adc.jacrev])
def test_derivatives_inside_code(transform: Callable[..., Any], which: int) -> None:
    def mixed(z: Any, x: Any) -> Any:
        return {"a": z * x, "b": (x, abs(z))}

    same: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (transform(products), (Z,)), (transform(lambda z: np.abs(z) ** 2), (Z,)),
        (transform(lambda x: np.exp(1j * x)), (np.array([0.1, 0.2]),)),
        (transform(lambda z: z**3, holomorphic=True), (2j,)),
        (transform(mixed, argnums=(0, 1)), (1j, 2.0)), (adc.grad(cube, holomorphic=True), (2j,)),
    ]  # fmt: skip
    derivative, args = same[which]
    inside = adc.jit(lambda *args: derivative(*args))(*args)
    np.testing.assert_equal(inside, derivative(*args))
    assert type(inside) is type(derivative(*args))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("transform", [adc.jacfwd, adc.jacrev])
def test_errors_of_derivatives_inside_code(transform: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="not holomorphic"):
        adc.jit(lambda z: transform(np.conj)(z))(Z)
    with pytest.raises(ArgumentError, match="must be complex"):
        adc.jit(lambda x: transform(products, holomorphic=True)(x))(Z.real)


@pytest.mark.full
@pytest.mark.parametrize("transform", [adc.jacfwd, adc.jacrev])
def test_derivatives_of_derivatives_inside_code(transform: Callable[..., Any]) -> None:
    check_grads(lambda z: np.sum(np.abs(transform(lambda w: w**3)(z)) ** 2), (Z,))


@pytest.mark.full
def test_structures_in_jacobians() -> None:
    def fn(z: Any, x: Any) -> Any:
        return {"a": z * x, "b": (x, abs(z))}

    found = adc.jacfwd(fn, argnums=(0, 1), holomorphic=True)
    with pytest.raises(ArgumentError, match="must be complex"):
        found(1j, 2.0)
    wanted = {"a": (2.0, 1j), "b": ((0j, 1.0), (-1j, 0.0))}
    for transform in (adc.jacfwd, adc.jacrev):
        assert transform(fn, argnums=(0, 1))(1j, 2.0) == wanted


@pytest.mark.full
def test_tangents_and_cotangents() -> None:
    value, dot = adc.jvp(products, (Z,), (1j * Z,))
    jacobian = np.diag(2 * Z * Z[::-1]) + np.diag(Z * Z)[:, ::-1]
    np.testing.assert_allclose(value, products(Z))
    np.testing.assert_allclose(dot, jacobian @ (1j * Z), rtol=1e-13)
    value, pull = adc.vjp(products, Z)
    ct = np.array([1.0, 2j, -1.0, 1 + 1j])
    (found,) = pull(ct)
    np.testing.assert_allclose(found, ct @ jacobian, rtol=1e-13)
    (found,) = pull(np.ones(4))
    np.testing.assert_allclose(found, np.ones(4) @ jacobian, rtol=1e-13)
    # The Hessian times a direction: the derivative of the gradient along it.
    step = 1e-6
    gradient = adc.grad(power)
    wanted = (gradient(Z + step * 1j * Z) - gradient(Z - step * 1j * Z)) / (2 * step)
    np.testing.assert_allclose(adc.hvp(power, (Z,), (1j * Z,)), wanted, rtol=1e-7)
    _, pull = adc.vjp(gradient, Z)
    np.testing.assert_allclose(pull(1j * Z)[0], wanted, rtol=1e-7)


def test_results() -> None:
    def several(z: Any) -> Any:
        return z * 2, z[0], {"real": z.real, "text": [z[1:] * 1j, 3]}, complex(z[0])

    for target in ("cpu", "python"):
        found, wanted = adc.jit(several, target=target)(Z), several(Z)
        np.testing.assert_array_equal(found[0], wanted[0])
        assert (found[1], type(found[1])) == (wanted[1], np.complex128)
        assert (found[3], type(found[3])) == (wanted[3], complex)
        np.testing.assert_array_equal(found[2]["text"][0], wanted[2]["text"][0])
    single = adc.jit(lambda z: (z * 2.0, z + np.float64(1.0), z + 1j))(Z.astype(np.complex64))
    assert [x.dtype for x in single] == [np.complex64, np.complex128, np.complex64]


def test_views_of_arguments() -> None:
    def fn(z: Any) -> Any:
        z.real[1] = 5.0
        z[:2] *= 2.0
        return np.abs(z).sum() + z.imag[0] ** 2

    for z in (W.copy()[:, 1], W.T[::-1][1].copy(), W[1]):
        before = z.copy()
        found = adc.grad(fn)(z)
        np.testing.assert_array_equal(z, before)
        np.testing.assert_allclose(
            found, differences(lambda x: fn(x.copy()), z), rtol=1e-6, atol=1e-9
        )


def test_views_as_real_numbers() -> None:
    def through(z: Any) -> Any:
        z = z.copy()
        parts = z.view(float)
        parts[0] = 1.0
        return z

    m, x = W, np.arange(6.0)
    programs: list[tuple[Callable[..., Any], Any]] = [
        (lambda z: z.view(float), m), (lambda z: z[:, 1:3].view(np.float64), m),
        (lambda z: z[1].view(float), m), (lambda z: z.view(float)[::2], m.astype(np.complex128)),
        (lambda z: z.view(np.float32), m.astype(np.complex64)), (lambda z: z.T.view(float), m),
        (lambda z: z[:, 1].view(float), m), (lambda z: z[:, ::3].view(float), m),
        (lambda z: z[:, :1:2].view(float), m), (lambda z: z.real.view(complex), m),
        (lambda z: z[0, 0].view(float), m), (lambda z: z[:, ::-1].view(float), m),
        (lambda x: x.view(complex), x), (lambda x: x[1:].view(complex), x),
        (lambda x: x.reshape(3, 2).view(complex), x),
    ]  # fmt: skip
    for fn, value in programs:
        try:
            wanted = fn(value)
        except ValueError:
            with pytest.raises(ValueError, match="dtype"):
                adc.jit(fn, target="python")(value)
            continue
        found = adc.jit(fn, target="python")(value)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    with pytest.raises(AdcError, match="may or may not be the same array"):
        adc.jit(through)(Z)
    with pytest.raises(AdcError, match="bytes as another dtype"):
        adc.jit(lambda z: z.view(np.float32))(Z)
    check_grads(lambda z: np.sum(np.sin(z.view(float)) * np.arange(8.0)), (Z,))


def test_what_overlaps() -> None:
    def fn(a: Any, b: Any) -> Any:
        a[0] = b[1]
        return np.sum(np.abs(b))

    with pytest.raises(AdcError, match="arguments 'a' and 'b' of fn\\(\\) overlap"):
        adc.grad(fn)(Z, Z)
    adc.grad(fn)(Z, Z.copy())


G = np.array([1j, 2.0])


def test_captured_arrays() -> None:
    def read(z: Any) -> Any:
        return abs(np.sum(G) * z)

    def written(z: Any) -> Any:
        G[0] = z
        return abs(G[0])

    gradient = adc.grad(read)
    assert gradient(1 + 1j) == pytest.approx(adc.grad(lambda z: abs((2 + 1j) * z))(1 + 1j))
    G[0] = 5.0
    assert gradient(1 + 1j) == pytest.approx(adc.grad(lambda z: abs(7 * z))(1 + 1j))
    assert adc.grad(written)(1 + 1j) == pytest.approx((1 - 1j) / 2**0.5)
    assert G[0] == 1 + 1j


def simulated(z: Any, steps: Any) -> Any:
    for _ in range(steps):
        z = z * np.exp(0.1j * np.abs(z) ** 2) + 0.1 * np.roll(z, 1)
    return np.sum(np.abs(z) ** 2)


@pytest.mark.full
def test_plans() -> None:
    z = np.exp(1j * np.arange(40.0))
    wanted = adc.grad(simulated, remat="store")(z, 200)
    stored = adc.grad(simulated, remat="store")
    stored(z, 200)
    held = stored.plan().peak_bytes
    assert held is not None
    for options in ({"remat": "recompute"}, {"memory": held // 8}, {"parallel": 2}):
        gradient = adc.grad(simulated, **options)
        np.testing.assert_array_equal(gradient(z, 200), wanted)
    np.testing.assert_array_equal(
        adc.grad(simulated, target="python")(z, 5), adc.grad(simulated)(z, 5)
    )


def test_zeros_and_infinities() -> None:
    def fn(z: Any) -> Any:
        return np.exp(z).real, (z * 0.0).imag, abs(z)

    for z in (complex(np.inf, 0.0), complex(-np.inf, 1.0), complex(0.0, -0.0), 0j):
        found = adc.jit(fn)(np.complex128(z))
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(found[0], fn(np.complex128(z))[0])
            np.testing.assert_array_equal(found[2], abs(z))
    # At 0 the gradient of the modulus is 0, and what is 0 contributes nothing.
    assert adc.grad(abs_of)(0j) == 0
    found = adc.grad(lambda z: np.sum(np.where(np.abs(z) > 0.5, np.abs(np.log(z)), 0.0)))(
        np.array([0j, 2j])
    )
    assert np.isfinite(found).all()


def abs_of(z: Any) -> Any:
    return abs(z)


EDGES = [
    complex(x, y) for x in (-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 40.0) for y in (-2.0, -0.0, 0.0, 1.0)
]
FUNCTIONS = (
    "sqrt exp sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh square conj "
    "log log10 log2 log1p expm1 sign reciprocal"
).split()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.sampled(6)
def test_branch_cuts_are_numpys(name: str) -> None:
    function = getattr(np, name)

    def fn(z: Any) -> Any:
        return function(z)

    z = np.array(EDGES)
    if name in ("log", "log2", "log10", "reciprocal"):
        z = z[z != 0]
    if name in ("arctanh", "log1p", "arctan"):
        z = z[(np.abs(z) != 1) | (z.imag != 0)]
        z = z[(np.abs(z.imag) != 1) | (z.real != 0)]
    found = adc.jit(fn)(z)
    with np.errstate(all="ignore"):
        wanted = function(z)
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.sampled(6)
def test_derivatives_on_the_axes(name: str) -> None:
    """On the axes formulas choose between cases, and a choice must not hide a slope."""
    function = getattr(np, name)

    def fn(z: Any) -> Any:
        return np.sum(function(z).real * 0.3 + function(z).imag * 0.7)

    z = np.array([0.4, 0.3j, -0.45 + 0.2j, 1e-9j + 0.6])
    if name in ("arccosh", "sign"):
        z = np.array([2.0, 0.3j, 1.5 - 0.2j])
    np.testing.assert_allclose(adc.grad(fn)(z), differences(fn, z), rtol=1e-6, atol=1e-8)


@pytest.mark.full
def test_checks_of_the_second_order() -> None:
    check_grads(power, (Z,), order=2)


@pytest.mark.full
def test_checks_of_gradients() -> None:
    check_grads(lambda z, x: {"a": products(z) * x, "b": abs(z[0]) + x}, (Z, 0.7))
    check_grads(lambda z: z**2, (0.3 + 0.5j,))
    check_grads(lambda z: np.exp(z), (Z.astype(np.complex64),))

    @adc.custom_jvp
    def wrong(x: Any) -> Any:
        return x * x

    wrong.defjvp(lambda primals, tangents: (primals[0] ** 2, 3.0 * primals[0] * tangents[0]))
    with pytest.raises(AssertionError, match=r"imaginary element|random direction"):
        check_grads(lambda z: np.sum(z.real) + wrong(z[1].imag), (Z,))
    for derivative, args in (
        (adc.grad(power), (Z,)),
        (adc.grad(modulus), (1 + 2j,)),
        (adc.jacrev(lambda x: np.exp(1j * x)), (np.array([0.1, 0.2]),)),
    ):
        rows, _ = check.compare(derivative, args)
        assert {row.outcome.value for row in rows} == {"ok"}


def test_errors() -> None:
    with pytest.raises(NonScalarError, match="which real number"):
        adc.grad(lambda z: z * z)(1j)
    with pytest.raises(ArgumentError, match="not holomorphic"):
        adc.jacfwd(lambda z: np.conj(z), holomorphic=True)(Z)
    with pytest.raises(ArgumentError, match="not holomorphic"):  # but almost
        adc.jacfwd(lambda z: z + 0.01 * z.conjugate(), holomorphic=True)(2j)
    with pytest.raises(ArgumentError, match="must be complex"):
        adc.grad(cube, holomorphic=True)(2.0)
    with pytest.raises(NonScalarError, match="it must be a complex number"):
        adc.grad(modulus, holomorphic=True)(2j)
    for derivative in (adc.hessian(power), adc.jacfwd(adc.grad(power))):
        with pytest.raises(ArgumentError, match="not holomorphic"):
            derivative(Z)
    for fn in (
        lambda z: z < 1j, lambda z: z // 2, lambda z: z % 2, lambda z: float(z), lambda z: int(z),
        lambda z: np.floor(z), lambda z: np.arctan2(z, 1.0), lambda z: range(z),
    ):  # fmt: skip
        with pytest.raises(AdcError):
            adc.jit(fn)(1j)
    with pytest.raises(ZeroDivisionError):
        adc.jit(lambda z: 1 / z)(0j)
    with pytest.raises(OverflowError):
        adc.jit(abs_of)(complex(1.7e308, 1.7e308))
    with pytest.raises(ValueError, match="math domain error"):
        adc.jit(lambda z: cmath.log(z))(0j)


@adc.custom_vjp
def squared(z: Any) -> Any:
    return z * z


squared.defvjp(lambda z: (z * z, z), lambda z, ct: (2 * z * ct,))


@adc.custom_jvp
def modulus_of(z: Any) -> Any:
    return np.abs(z)


@modulus_of.defjvp
def _modulus_rule(primals: Any, tangents: Any) -> Any:
    (z,), (dz,) = primals, tangents
    return np.abs(z), (np.conj(z) * dz).real / np.abs(z)


def _swapped(pair: Any) -> Any:
    return {"a": pair["a"] * pair["b"], "b": (pair["b"].real, pair["a"] * CAPTURED)}


def _swapped_forward(pair: Any) -> Any:
    return _swapped(pair), (pair["a"], pair["b"])


def _swapped_reverse(kept: Any, ct: Any) -> Any:
    a, b = kept
    return ({"a": ct["a"] * b + ct["b"][1] * CAPTURED, "b": ct["a"] * a + ct["b"][0]},)


swapped = adc.custom_vjp(_swapped)
swapped.defvjp(_swapped_forward, _swapped_reverse)
CAPTURED = np.array([1j, 2.0, 3.0 - 1j, 1.0])
scaled = adc.custom_vjp(lambda w, z: w * z, nondiff_argnums=0)
scaled.defvjp(lambda w, z: (w * z, None), lambda w, kept, ct: (ct * w,))


@pytest.mark.full
def test_custom_rules() -> None:
    def loss(square: Any, size: Any, swap: Any, scale: Any) -> Callable[..., Any]:
        def fn(z: Any) -> Any:
            found = swap({"a": square(z), "b": z[::-1]})
            total = np.sum(size(found["a"]) ** 3) + np.sum(found["b"][0] ** 2)
            return total + np.sum(np.abs(scale(CAPTURED, found["b"][1]) + 1j) ** 2)

        return fn

    custom = loss(squared, modulus_of, swapped, scaled)
    plain = loss(squared.py_func, np.abs, _swapped, scaled.py_func)
    tangents = (Z,), (1j * Z[::-1],)
    found, want = (
        (adc.grad(fn, target="python")(Z), adc.hvp(fn, *tangents, target="python"))
        for fn in (custom, plain)
    )
    np.testing.assert_allclose(found, want, rtol=1e-12)
    assert adc.grad(squared, holomorphic=True)(1 + 2j) == 2 + 4j
    assert adc.grad(lambda z: abs(squared(z)))(np.complex64(3j)) == np.complex64(-6j)


@pytest.mark.full
def test_derivatives_of_custom_rules() -> None:
    check_grads(lambda z: np.sum(modulus_of(z) ** 3), (Z,), order=2)


def test_custom_rules_and_memory() -> None:
    same = adc.custom_jvp(lambda z: z)
    same.defjvp(lambda primals, tangents: (primals[0], tangents[0]))

    def changes(z: Any) -> Any:
        z = z * 2.0
        w = same(z)
        w[0] = 0.0
        return np.sum(np.abs(z))

    with pytest.raises(AdcError, match="may or may not be the same array"):
        adc.jit(changes)(Z)

    @adc.custom_jvp
    def writes(z: Any) -> Any:
        z[0] = 1.0
        return z

    writes.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    with pytest.raises(AdcError, match="which changes 'z'"):
        adc.grad(lambda z: np.sum(np.abs(writes(z))))(Z)


V = np.array([1 + 2j, 0.5 - 1j, 3.0, -1j])
C = np.array([[1 + 1j, 2.0, 0.5j], [0.3, 1 - 2j, 4.0]])
# Functions of vectors `v` and matrices `m`, and what NumPy raises.
EXPRESSIONS = [
    "np.gradient(v)", "np.gradient(m, 2.0, axis=1)", "np.gradient(v, np.array([0.0, 1, 3, 4]))",
    "np.cov(m)", "np.cov(v, v[::-1])", "np.corrcoef(m)", "np.average(v, weights=v)",
    "np.average(m, axis=1, weights=np.arange(3.0) + 1j)", "np.trapezoid(v, v)", "np.vander(v)",
    "np.vander(v, 3, increasing=True)", "np.kron(m, v)", "np.kron(m.reshape(2, 3, 1), m)",
    "np.interp(np.array([-1.0, 0.5, 2.0, 9.0]), np.arange(4.0), v, left=1j)",
    "np.interp(0.3, np.arange(4.0), v)", "np.interp(5.5, np.arange(4.0), v, period=4)",
    "np.fmax(m[0], v[:3])", "np.fmin(m, np.nan)", "np.nanvar(v)", "np.nanstd(m, axis=0)",
    "np.nansum(np.where(v.imag > 0, np.nan, v))", "np.nanmean(m, axis=1)", "np.median(v)",
    "np.sort(m, axis=0)", "np.convolve(v, v, 'same')", "np.correlate(v, v[:2], 'full')",
    "np.correlate(v, v, 'none')", "np.convolve(v, v, 'none')", "np.quantile(v, 0.5)",
    "np.percentile(m, 40, axis=0)", "np.nanquantile(v, 0.5)", "np.digitize(v, [0.0, 1.0])",
    "np.multiply(v.astype(np.complex64), 2j)", "np.power(v.astype(np.complex64), 2)",
    "np.power(v, m[0, 1])", "np.power(2, v)",
    "np.polyfit(v, v**2 + 1, 2)", "np.polyfit(v.real, v, 1)", "np.polyval(v, m)",
    "np.true_divide(1j, v.astype(np.complex64))", "isinstance(1j * float(k), complex)",
    "np.clip(v, 1j, 2.0)", "np.select([v.real > 1, v.imag > 0], [v, 2 * v])",
    "np.piecewise(v, [v.real > 1], [lambda u: u * u, 1j])", "np.cumprod(m, axis=1)",
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_functions_are_numpys(text: str) -> None:
    args = {"v": V, "m": C, "k": 2}
    used = {name: value for name, value in args.items() if re.search(rf"\b{name}\b", text)}
    expression = numpy_sweep.Expression(text)
    case = numpy_sweep.Case(text, used)
    wanted, found = expression.python(case), expression.adc(case)
    expression.close()
    if isinstance(wanted, numpy_sweep.Raised):
        assert isinstance(found, numpy_sweep.Raised)
        assert type(found.error) is type(wanted.error)
        return
    assert type(found) is type(wanted)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    rtol = 1e-6 if np.asarray(wanted).dtype == np.complex64 else 1e-13
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


@pytest.mark.full
def test_derivatives_of_functions() -> None:
    def loss(v: Any, m: Any) -> Any:
        at = np.array([0.5, 1.3])
        first = np.gradient(v)[1] * np.cov(m)[0, 1] + np.average(v, weights=m[0, 0] * v)
        second = np.interp(at, np.arange(4.0), v)[1] * np.vander(v, 3)[2, 0]
        third = np.kron(m, v)[1, 2] * np.corrcoef(m)[0, 1] + np.fmax(m[0], v[:3])[1]
        return abs(first) + abs(second) + abs(third) + np.nanvar(v)

    check_grads(loss, (V, C))


@pytest.mark.full
def test_hermitian_matrices() -> None:
    a = W[:, :3] + W[:, :3].conj().T
    other = a + np.triu(W[:, :3], 1)  # of which the lower triangle counts
    stack = np.stack([a.real, a.real @ a.real - np.eye(3)])

    def everything(x: Any) -> Any:
        values = np.linalg.svd(x, compute_uv=False, hermitian=True)
        rank = np.linalg.matrix_rank(x, hermitian=True)
        return *np.linalg.svd(x, hermitian=True), values, np.linalg.pinv(x, hermitian=True), rank

    for x in (other, stack, a.astype(np.complex64)):
        tol = 1e-5 if x.dtype == np.complex64 else 1e-11
        for found, wanted in zip(adc.jit(everything)(x), everything(x), strict=True):
            assert np.asarray(found).dtype == np.asarray(wanted).dtype
            np.testing.assert_allclose(found, wanted, rtol=tol, atol=tol)
    with pytest.raises(np.linalg.LinAlgError, match="must be square"):
        adc.jit(lambda x: np.linalg.pinv(x, hermitian=True))(W)
    weights = np.arange(9.0).reshape(3, 3)
    check_grads(lambda x: np.sum(np.abs(np.linalg.pinv(x, hermitian=True)) * weights), (a,))
    check_grads(lambda x: np.sum(np.abs(np.linalg.svd(x, hermitian=True)[2]) * weights), (a,))
