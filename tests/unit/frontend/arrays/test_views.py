"""Writes that NumPy does not allow, arguments that share memory, arrays outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.ir.errors import AdcError, ArgumentError, GlobalStateError, OverlapError
from adc.ir.interp import ProgramError
from tests.oracle import chain as chains

X = np.array([0.5, -1.5, 2.5])
W = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, -0.6], [0.7, -0.8, 0.9]])


def raised(fn: Callable[..., Any], *args: Any) -> tuple[Exception, int]:
    """Return what a program raises in adc's interpreter, and at which of its lines."""
    chain = chains.Chain.of(fn, args, (0,))
    with pytest.raises(ProgramError) as caught:
        chain.run(chain.lowered.fn)
    loc = caught.value.check.loc
    assert loc is not None
    return caught.value.error, loc.line - fn.__code__.co_firstlineno


def element_of_broadcast(x: Any, w: Any) -> Any:
    y = np.broadcast_to(x, (2, 3))
    y[0, 0] = 1.0
    return np.sum(y)


def broadcast_to_its_own_shape(x: Any, w: Any) -> Any:
    y = np.broadcast_to(x, (3,))
    y[:] = 1.0
    return np.sum(y)


def broadcast_expression(x: Any, w: Any) -> Any:
    y = np.broadcast_to(x * 2.0, (2, 3))
    y[0] *= 2.0
    return np.sum(y)


def diagonal(x: Any, w: Any) -> Any:
    d = np.diagonal(w * x)
    d[0] = 1.0
    return np.sum(d)


def view_of_a_diagonal(x: Any, w: Any) -> Any:
    d = np.diag(w, 1)[::-1]
    d[...] = x[:2]
    return np.sum(d)


def diagonal_in_place(x: Any, w: Any) -> Any:
    d = w.diagonal()
    d += x
    return np.sum(d)


def diagonal_as_out(x: Any, w: Any) -> Any:
    d = np.diag(w)
    np.add(x, x, out=d)
    return np.sum(d)


def diagonal_at_indices(x: Any, w: Any) -> Any:
    d = np.diag(w)
    d[[0, 1]] = x[:2]
    return np.sum(d)


def diagonal_filled(x: Any, w: Any) -> Any:
    d = np.broadcast_to(x, (3,))
    d.fill(2.0)
    return np.sum(d)


def _put(a: Any, v: Any) -> None:
    a[0] = v


def diagonal_in_a_helper(x: Any, w: Any) -> Any:
    d = np.diag(w)
    if x[2] > 0.0:
        _put(d, x[0])
    return np.sum(d)


@pytest.mark.parametrize(
    "fn",
    [element_of_broadcast, broadcast_to_its_own_shape, broadcast_expression, diagonal,
     view_of_a_diagonal, diagonal_in_place, diagonal_as_out, diagonal_at_indices,
     diagonal_filled],
)  # fmt: skip
def test_what_numpy_does_not_write_to(fn: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="read-only") as caught:
        fn(X.copy(), W.copy())
    error, line = raised(fn, X.copy(), W.copy())
    assert type(error) is ValueError
    assert str(error) == str(caught.value)
    assert line == 2


def test_read_only_on_the_path_taken() -> None:
    error, _ = raised(diagonal_in_a_helper, X.copy(), W.copy())
    assert str(error) == "assignment destination is read-only"
    chain = chains.Chain.of(diagonal_in_a_helper, (-X, W), (0,))
    assert chain.run(chain.lowered.fn)[0] == pytest.approx(np.trace(W))


def test_compiled_code_raises_with_the_line() -> None:
    with pytest.raises(ValueError, match="assignment destination is read-only") as caught:
        adc.grad(diagonal)(X, W)
    assert caught.traceback[-1].lineno == diagonal.__code__.co_firstlineno + 1


@pytest.mark.parametrize(
    "make",
    [lambda x: np.array([x[0]], copy=False), lambda x: np.asarray(x, np.float32, copy=False)],
)
def test_a_copy_that_cannot_be_avoided(make: Callable[..., Any]) -> None:
    def program(x: Any) -> Any:
        return np.sum(make(x))

    with pytest.raises(ValueError, match="Unable to avoid copy") as caught:
        program(X)
    assert str(raised(program, X)[0]) == str(caught.value).splitlines()[0]


@pytest.mark.parametrize("shape", [(3,), (2, 3, 3)])
def test_diagonals_that_cannot_be_filled(shape: tuple[int, ...]) -> None:
    def program(a: Any) -> Any:
        np.fill_diagonal(a, 1.0)
        return np.sum(a)

    with pytest.raises(ValueError, match=r"array must be at least|All dimensions") as caught:
        program(np.ones(shape))
    assert str(raised(program, np.ones(shape))[0]) == str(caught.value)


# --- arguments ------------------------------------------------------------------------------------


def writes(x: Any) -> Any:
    x[0] = 3.0
    x[1] = 2.0 * x[1]
    return np.sum(x * x)


def writes_through_a_name_of_a_loop(x: Any) -> Any:
    y = x
    for _ in range(2):
        y[0] = 5.0
        y = y * 2.0
    return np.sum(y)


def reads(x: Any) -> Any:
    y = x.copy()
    y[0] = 1.0
    return np.sum(y * x)


def read_only(a: Any) -> Any:
    a.flags.writeable = False
    return a


@pytest.mark.parametrize("fn", [writes, writes_through_a_name_of_a_loop])
@pytest.mark.parametrize("make", [lambda: read_only(np.ones(4)), lambda: np.ones(4)[::2]])
def test_read_only_arguments(fn: Callable[..., Any], make: Callable[[], Any]) -> None:
    x = make()
    gradient = adc.grad(fn)
    if x.flags.writeable:
        x = read_only(x)
    with pytest.raises(ArgumentError, match=r"argument 'x' of writes.* is read-only"):
        gradient(x)
    np.testing.assert_array_equal(adc.grad(reads)(x), adc.grad(reads)(x.copy()))


def test_elements_that_share_memory() -> None:
    strided = np.lib.stride_tricks.as_strided
    overlapping = strided(np.arange(6.0), (4, 3), (8, 8))
    repeated = strided(np.arange(3.0), (4, 3), (0, 8))
    for x in (overlapping, repeated):
        with pytest.raises(OverlapError, match="elements of argument 'x' of writes"):
            adc.grad(writes)(x)
        np.testing.assert_array_equal(adc.grad(reads)(x), adc.grad(reads)(x.copy()))
    # These lie between each other, but nowhere twice.
    for x in (
        strided(np.arange(30.0), (2, 2), (24, 40)),
        strided(np.arange(30.0), (3, 2), (24, 40)),
    ):
        np.testing.assert_array_equal(adc.grad(writes)(x), adc.grad(writes)(x.copy()))
    turned = np.arange(12.0).reshape(3, 4).T[:, ::-1]
    np.testing.assert_array_equal(adc.grad(writes)(turned), adc.grad(writes)(turned.copy()))


def test_an_array_under_another_name_is_written() -> None:
    def program(x: Any, z: Any) -> Any:
        return writes_through_a_name_of_a_loop(x) + np.sum(z * x)

    x = np.ones(3)
    with pytest.raises(AdcError, match="may or may not be the same"):
        adc.grad(program)(x, x.copy())

    def other(x: Any, z: Any) -> Any:
        return writes_through_a_name_of_a_loop(x) + np.sum(z)

    with pytest.raises(OverlapError, match=r"'x' and 'z' of other.* overlap"):
        adc.grad(other)(x, x)


def test_arguments_without_axes() -> None:
    def program(x: Any, y: Any) -> Any:
        x[...] = 3.0 * x
        return x * y

    x = np.array(2.0)
    value, gradient = adc.value_and_grad(program)(x, 5.0)
    assert value == 30.0
    assert gradient == 15.0
    assert x == 2.0
    with pytest.raises(OverlapError, match=r"'x' and 'y' of program.* overlap"):
        adc.grad(program)(x, x)
    with pytest.raises(ArgumentError, match=r"'x' of program.* is read-only"):
        adc.grad(program)(read_only(np.array(2.0)), 5.0)
    with pytest.raises(AdcError, match="cannot assign to an element of a number"):
        adc.grad(program)(np.float64(2.0), 5.0)


# --- arrays outside -------------------------------------------------------------------------------

G = np.ones(3)


class Holder:
    def __init__(self) -> None:
        self.a = np.ones(3)


HOLDER = Holder()


def test_arrays_outside_are_written() -> None:
    own = np.ones(3)

    def element(x: Any) -> Any:
        G[0] += 1.0
        return np.sum(x * G)

    def view(x: Any) -> Any:
        y = G[1:]
        y *= 2.0
        return np.sum(x[1:] * y)

    def attribute(x: Any) -> Any:
        HOLDER.a[0] = x[0]
        return np.sum(x * HOLDER.a)

    def closed_over(x: Any) -> Any:
        own[1] = x[0]
        return np.sum(x * own)

    def one_of_two(x: Any) -> Any:
        y = G if x[0] > 0.0 else x * 1.0
        y[0] = 2.0
        return np.sum(y)

    with pytest.raises(GlobalStateError, match="an array outside the function, `G`, would be"):
        adc.grad(one_of_two)(np.ones(3))
    before = G.copy()
    for fn, array, gradient, after in (
        (element, G, [2.0, 1.0, 1.0], [2.0, 1.0, 1.0]),
        (view, G, [0.0, 2.0, 2.0], [2.0, 2.0, 2.0]),
        (closed_over, own, [2.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
        (attribute, HOLDER.a, [2.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
    ):
        np.testing.assert_array_equal(adc.grad(fn)(np.ones(3)), gradient)
        np.testing.assert_array_equal(array, after)
    G[:] = before

    def copied(x: Any) -> Any:
        y = G.copy()
        y[0] = x[0]
        return np.sum(x * y)

    np.testing.assert_array_equal(adc.grad(copied)(np.ones(3)), [2.0, 1.0, 1.0])


def derivative_that_changes_something(x: Any) -> Any:
    a, b = np.ones(1), np.ones(1)

    def changing(u: Any) -> Any:
        c = a if x[0] > 0.0 else b
        c[0] = 3.0 * u
        return u * u

    return adc.grad(changing)(x[0]) * a[0]


def test_derivatives_change_nothing_else() -> None:
    with pytest.raises(GlobalStateError, match="outside the function, `a`, would be changed"):
        derivative_that_changes_something(X)
    with pytest.raises(AdcError, match="which changes 'a'"):
        adc.grad(derivative_that_changes_something)(X)
