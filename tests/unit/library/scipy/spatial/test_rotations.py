"""`scipy.spatial.transform`: values, derivatives and errors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import adc
from adc.ir.errors import AdcError, UnsupportedError
from tests.unit.library.scipy import calls

RNG = np.random.default_rng(5)
V = np.array([0.4, -0.9, 0.3])
W = RNG.standard_normal((3, 3))
Q = RNG.standard_normal((3, 4))
ONE = np.array([0.3, -0.2, 0.5, -0.7])
POINTS = RNG.standard_normal((4, 3))
MATRIX = Rotation.from_rotvec(V).as_matrix()
MATRICES = Rotation.from_quat(Q).as_matrix()
TINY = np.array([2e-4, -1e-4, 3e-4])
TIMES = np.array([0.0, 0.5, 2.0])
FIXED = Rotation.from_quat(ONE)
STACK = Rotation.from_quat(Q)
BETWEEN = Slerp(TIMES, STACK)

SMOOTH: list[calls.Row] = [
    (lambda v, p: Rotation.from_rotvec(v).apply(p), (V, POINTS)),
    (lambda v, p: Rotation.from_rotvec(v, degrees=True).apply(p, inverse=True), (30.0 * W, V)),
    (lambda v: Rotation.from_rotvec(v).as_rotvec(), (V,)),
    (lambda v: Rotation.from_rotvec(v).as_rotvec(), (TINY,)),
    (lambda v: Rotation.from_rotvec(v).as_rotvec(), (np.zeros(3),)),
    (lambda v: Rotation.from_rotvec(v).as_quat(), (np.zeros((2, 3)),)),
    (lambda v: Rotation.from_rotvec(v).as_mrp(), (TINY,)),
    (lambda v: Rotation.from_rotvec(v).magnitude(), (W,)),
    (lambda q: Rotation.from_quat(q).as_matrix(), (ONE,)),
    (lambda q: Rotation.from_quat(q, scalar_first=True).as_rotvec(True), (Q,)),
    (lambda q: Rotation(q).as_quat(True, scalar_first=True), (Q,)),
    (lambda q: Rotation.from_quat(q).as_mrp(), (Q,)),
    (lambda m: Rotation.from_mrp(m).as_quat(), (W,)),
    (lambda m: Rotation.from_matrix(m).as_quat(), (MATRIX + 0.1 * W,)),
    (lambda m: Rotation.from_matrix(m).as_rotvec(), (MATRICES,)),
    (lambda m: Rotation.from_matrix(m, assume_valid=True).as_quat(), (MATRICES,)),
    (lambda a: Rotation.from_euler("zyx", a).as_matrix(), (V,)),
    (lambda a: Rotation.from_euler("XZ", a, degrees=True).as_quat(), (40.0 * W[:, :2],)),
    (lambda a: Rotation.from_euler("y", a).as_quat(), (0.3,)),
    (lambda q: Rotation.from_quat(q).as_euler("xyz"), (Q,)),
    (lambda q: Rotation.from_quat(q).as_euler("ZXZ", degrees=True), (ONE,)),
    (lambda p, q: (Rotation.from_quat(p) * Rotation.from_quat(q)).as_quat(), (ONE, Q)),
    (lambda q, n: (Rotation.from_quat(q) ** n).as_quat(), (Q, 0.3)),
    (lambda q, n: (Rotation.from_quat(q) ** n).as_quat(), (Q, -1.0)),
    (lambda q, n: (Rotation.from_quat(q) ** n).as_matrix(), (ONE, 0.0)),
    (lambda q: (Rotation.from_quat(q) ** 1).as_quat(), (Q,)),
    (lambda q: Rotation.from_quat(q).inv().as_quat(), (ONE,)),
    (lambda q, w: Rotation.from_quat(q).mean(w).as_matrix(), (Q, np.array([1.0, 2.0, 0.5]))),
    (lambda q: Rotation.from_quat(q)[1].as_matrix(), (Q,)),
    (lambda q: Rotation.from_quat(q)[1:].as_euler("yxz"), (Q,)),
    (lambda q, p: Rotation.concatenate([Rotation(q), Rotation(p)]).as_quat(), (Q, ONE)),
    (lambda q: [r.magnitude() for r in Rotation.from_quat(q)][2], (Q,)),
    (lambda q, t: Slerp(TIMES, Rotation.from_quat(q))(t).as_quat(), (Q, 0.7)),
    (lambda s, t: Slerp(TIMES * s, STACK)(t).as_rotvec(), (1.1, np.array([0.0, 0.3, 2.1]))),
    (lambda p: FIXED.apply(p), (V,)),
    (lambda p: (STACK * FIXED.inv()).apply(p), (W,)),
    (lambda t: BETWEEN(t).as_matrix(), (0.4,)),
]
OTHERS: list[calls.Row] = [
    (lambda q: len(Rotation.from_quat(q)), (Q,)),
    (lambda q: (Rotation.from_quat(q).single, Rotation.from_quat(q[0]).single), (Q,)),
    (lambda q: Rotation.from_quat(q).shape, (Q,)),
    (lambda q: Rotation.from_quat(q)[np.array([True, False, True])].as_quat(), (Q,)),
    (lambda q: Rotation.from_quat(q)[[2, 0]].as_quat(), (Q,)),
    (lambda q: Rotation.from_quat(q)[-1].as_quat(), (Q,)),
    (lambda q: Rotation.from_quat(q.reshape(2, 1, 4)).as_matrix(), (Q[:2],)),
    (lambda q, p: Rotation.from_quat(q[:1]).apply(p), (Q, POINTS)),
    (lambda q, p: Rotation.from_quat(q).apply(p), (Q, POINTS[:1])),
    (lambda q, p: Rotation.from_quat(q).apply(p), (Q.astype(np.float32), np.arange(3))),
    (lambda n: Rotation.identity(n).as_quat(), (2,)),
    (lambda: Rotation.identity().as_matrix(), ()),
    (lambda: Rotation.identity(shape=(2, 1)).as_quat(), ()),
    (lambda v: Rotation.from_rotvec(v).magnitude(), (np.zeros(3),)),
    (lambda q: Rotation.from_quat(q).as_euler("xyz", suppress_warnings=True), (np.eye(4),)),
    (lambda q: Rotation.from_quat(q).as_euler("XZX", suppress_warnings=True), (np.eye(4),)),
    (lambda q: (Rotation.from_quat(q) ** -1).as_quat(), (Q,)),
    (lambda q: (Rotation.from_quat(q) ** 0).as_quat(), (Q,)),
    (lambda q: Rotation.from_quat(q).approx_equal(Rotation.from_quat(q[0])), (Q,)),
    (lambda q: Rotation.from_quat(q).approx_equal(FIXED, 100.0, True), (Q,)),
    (lambda q: np.abs(Rotation.from_quat(q).mean().as_quat()), (Q,)),
    (lambda q: isinstance(Rotation.from_quat(q), Rotation), (Q,)),
    (lambda q: FIXED.as_euler("zyx", degrees=True) * q, (0.5,)),
]


test_values, test_derivatives, _ = calls.compared(SMOOTH, OTHERS)


@pytest.mark.full
@pytest.mark.parametrize("row", SMOOTH)
def test_second_derivatives(row: calls.Row) -> None:
    fn, args = row
    # The squares of a unit quaternion, or of a rotation matrix, have a constant sum.
    calls.check_second_derivatives(lambda *given: np.exp(0.7 * fn(*given)), args)


@pytest.mark.full
@pytest.mark.parametrize("form", ["as_quat", "as_rotvec", "as_matrix", "as_mrp", "as_euler"])
def test_many_rotations(form: str) -> None:
    """Compare forms of rotations by all kinds of angles, and of permutations of axes."""
    angles = np.array([0.0, 1e-9, 5e-4, 1e-3, 2e-3, 0.1, 1.0, 3.0, np.pi - 1e-8, np.pi, 4.0, 7.0])
    axes = RNG.standard_normal((40, 3))
    vectors = (axes / np.linalg.norm(axes, axis=1)[:, None])[:, None] * angles[:, None]
    vectors = vectors.reshape(-1, 3)
    for seq in ("xyz", "zxz", "YXZ", "XYX") if form == "as_euler" else ("",):
        more = (seq,) if seq else ()

        def of_vectors(v: Any, more: Any = more) -> Any:
            return getattr(Rotation.from_rotvec(v), form)(*more)

        def of_matrices(m: Any, more: Any = more) -> Any:
            return getattr(Rotation.from_matrix(m), form)(*more)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            calls.check_values(of_vectors, (vectors,), 1e-8 if form == "as_euler" else 1e-13)
            if form == "as_quat":
                steps = np.array([np.eye(3)[list(p)] for p in ((0, 1, 2), (1, 2, 0), (2, 0, 1))])
                signs = np.array([np.diag(d) for d in ((1, 1, 1), (1, -1, -1), (-1, -1, 1))])
                turned = (steps[:, None] @ signs).reshape(-1, 3, 3)
                calls.check_values(of_matrices, (turned,))


@pytest.mark.full
def test_identity_has_derivatives() -> None:
    def angle(v: Any) -> Any:
        return Rotation.from_rotvec(v).magnitude()

    def vector(v: Any) -> Any:
        return np.sum(Rotation.from_rotvec(v).as_rotvec() * np.array([1.0, 2.0, 3.0]))

    assert np.array_equal(adc.grad(angle)(np.zeros(3)), np.zeros(3))
    np.testing.assert_allclose(adc.grad(vector)(np.zeros(3)), [1.0, 2.0, 3.0], rtol=1e-14)
    assert np.all(np.isfinite(adc.hessian(vector)(np.zeros(3))))


def test_results_are_rotations_of_scipy() -> None:
    def turned(q: Any) -> Any:
        return Rotation.from_quat(q) * FIXED

    for q in (ONE, Q):
        found = adc.jit(turned)(q)
        assert isinstance(found, Rotation)
        assert found.shape == turned(q).shape
        np.testing.assert_allclose(found.as_quat(), turned(q).as_quat(), rtol=1e-14)


def test_arguments_may_be_rotations() -> None:
    def length(r: Any, p: Any) -> Any:
        return np.sum(r.apply(p)[..., 0] ** 2)

    for r in (FIXED, STACK):
        np.testing.assert_allclose(adc.jit(length)(r, V), length(r, V), rtol=1e-13)
        found = adc.grad(length, argnums=1)(r, V)
        assert found.shape == (3,)


def _axes(x: Any) -> Any:
    return Rotation.from_euler("xYz", x).as_quat()


def _same(x: Any) -> Any:
    return Rotation.from_euler("xxy", x).as_quat()


def _long(x: Any) -> Any:
    return Rotation.from_euler("xyzx", x).as_quat()


def _sizes(x: Any) -> Any:
    return Rotation.from_euler("xy", x).as_quat()


def _three(x: Any) -> Any:
    return Rotation.from_rotvec(x).as_euler("xy")


def _zero(x: Any) -> Any:
    return Rotation.from_quat(np.append(x, 0.0) * 0.0).as_quat()


def _four(x: Any) -> Any:
    return Rotation.from_quat(x).as_quat()


def _left(x: Any) -> Any:
    return Rotation.from_matrix(np.diag(-x)).as_quat()


def _square(x: Any) -> Any:
    return Rotation.from_matrix(np.outer(x, x[:2])).as_quat()


def _vector(x: Any) -> Any:
    return Rotation.from_rotvec(x[:2]).as_quat()


def _applied(x: Any) -> Any:
    return Rotation.from_rotvec(x).apply(x[:2])


def _many(x: Any) -> Any:
    return Rotation.from_rotvec(np.outer(x[:2], x)).apply(np.outer(x, x))


def _product(x: Any) -> Any:
    return (Rotation.identity(2) * Rotation.from_rotvec(np.outer(x, x))).as_quat()


def _subscript(x: Any) -> Any:
    return Rotation.from_rotvec(x)[0].as_quat()


def _length(x: Any) -> Any:
    return len(Rotation.from_rotvec(x)) * x


def _index(x: Any) -> Any:
    return Rotation.from_rotvec(np.outer(x, x))[3].as_quat()


def _times(x: Any) -> Any:
    return Slerp(-x, Rotation.identity(3))(0.5).as_quat()


def _outside(x: Any) -> Any:
    return Slerp(x, Rotation.identity(3))(5.5).as_quat()


def _few(x: Any) -> Any:
    return Slerp(x[:1], Rotation.identity(1))(5.5).as_quat()


def _weights(x: Any) -> Any:
    return Rotation.identity(3).mean(-x).as_quat()


def _number(x: Any) -> Any:
    return Rotation.from_rotvec(x) * 2.0


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "fn",
    [
        _axes, _same, _long, _sizes, _three, _zero, _four, _left, _square, _vector, _applied, _many,
        _product, _subscript, _length, _index, _times, _outside, _few, _weights, _number,
    ],
)  # fmt: skip
def test_errors_are_those_of_scipy(fn: calls.Call) -> None:
    x = np.array([0.5, 0.7, 1.1])
    with pytest.raises((ValueError, TypeError, IndexError), match=r"\w") as expected:
        fn(x)
    with pytest.raises((ValueError, TypeError, IndexError, AdcError)) as found:
        adc.jit(fn, target="python", cache=False)(x)
    assert str(expected.value)[:12].lower() in str(found.value).lower()


def test_locked_angles_give_a_warning() -> None:
    def program(a: Any) -> Any:
        return Rotation.from_euler("zyx", a, degrees=True).as_euler("zyx")

    with pytest.warns(UserWarning, match="Gimbal lock detected") as caught:
        program(np.array([10.0, 90.0, 20.0]))
    with pytest.warns(UserWarning, match="Gimbal lock detected") as found:
        adc.jit(program)(np.array([10.0, 90.0, 20.0]))
    assert str(found[-1].message) == str(caught[-1].message)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("fn", "what", "hint"),
    [
        (lambda x: Rotation.random().apply(x), "Rotation.random", "from_quat"),
        (lambda x: Rotation.align_vectors(x, x)[1], "align_vectors", "polar"),
        (lambda x: Rotation.from_davenport(x, "e", 0.1).apply(x), "from_davenport", "from_rotvec"),
        (lambda x: Rotation.create_group("I").apply(x), "create_group", "outside"),
        (lambda x: STACK.mean(axis=0).apply(x), "`axis`", "loop"),
        (lambda x: STACK.as_davenport(x, "e"), "as_davenport", "as_euler"),
    ],
)
def test_refused(fn: calls.Call, what: str, hint: str) -> None:
    with pytest.raises(UnsupportedError, match=what) as error:
        adc.jit(fn)(V)
    assert hint in error.value.hint
