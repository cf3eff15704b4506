"""`map`, ranges as indices, `:=`, grids and counts: as NumPy and Python have them, or refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.frontend.inputs.trees import type_of
from adc.ir.errors import AdcError, LimitError
from tests.corpus.language.small_programs import SAMPLES, WEIGHTS, transformer_loss
from tests.corpus.program import X6


@pytest.mark.full
def test_a_transformer_is_differentiated_as_it_is_written() -> None:
    """With respect to all weights, in lists of dicts of dicts, compiled."""
    value, gradient = adc.value_and_grad(transformer_loss, argnums=(2, 3))(
        WEIGHTS["wte"], WEIGHTS["wpe"], WEIGHTS["blocks"], WEIGHTS["ln_f"]
    )
    np.testing.assert_allclose(value, transformer_loss(**WEIGHTS), rtol=1e-12)
    blocks, ln_f = gradient
    paths: list[tuple[Any, Any]] = [(WEIGHTS["ln_f"]["g"], ln_f["g"])]
    for block, slopes in zip(WEIGHTS["blocks"], blocks, strict=True):
        for part, inner in (("attn", "c_attn"), ("mlp", "c_proj")):
            paths += [(block[part][inner][name], slopes[part][inner][name]) for name in "wb"]
        paths.append((block["ln_1"]["b"], slopes["ln_1"]["b"]))
    for weights, slopes in paths:
        at = np.unravel_index(np.argmax(np.abs(slopes)), weights.shape)
        before, step = weights[at], 1e-5
        found = []
        for moved in (before + step, before - step):
            weights[at] = moved
            found.append(transformer_loss(**WEIGHTS))
        weights[at] = before
        np.testing.assert_allclose(slopes[at], (found[0] - found[1]) / (2 * step), rtol=1e-6)


def _same(fn: Callable[..., Any], *args: Any) -> None:
    """Check values, shapes and dtypes of all results against Python's, or the exception."""
    try:
        with np.errstate(all="ignore"):
            want = fn(*args)
    except Exception as error:
        with pytest.raises(type(error)):
            adc.jit(fn, target="python")(*args)
        return
    got = adc.jit(fn, target="python")(*args)
    if not isinstance(want, tuple | list):
        want, got = (want,), (got,)
    assert len(want) == len(got)
    for a, b in zip(got, want, strict=True):
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        single = np.asarray(b).dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=1e-6 if single else 1e-13, atol=1e-15)


EDGES = np.array([0.0, 1.0, 1.0, 2.0, 9.0])
DATA: list[Any] = [
    SAMPLES, np.array([3.0, 3.0]), np.array([]), np.array([0.0, 0.1, 0.7, 1.0]), np.arange(7),
    np.array([[0.5, -1.0], [2.0, 9.0]], np.float32),
]  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("data", DATA, ids=range(len(DATA)))
def test_histograms(data: Any) -> None:
    def counted(data: Any) -> Any:
        by_width, edges = np.histogram(data, 4)
        inside, limits = np.histogram(data, bins=3, range=(0.0, 2.5))
        found, _ = np.histogram(data, EDGES)
        return by_width, edges, inside, limits, found, np.digitize(np.ravel(data), EDGES[::2])

    def weighted(data: Any) -> Any:
        weights = np.arange(float(data.size)).reshape(data.shape)
        found, edges = np.histogram(data, 4, weights=weights)
        return found, edges, np.histogram(data, EDGES, weights=weights)[0]

    _same(counted, data)
    _same(weighted, data)


@pytest.mark.full
def test_histograms_that_numpy_refuses() -> None:
    _same(lambda x: np.histogram(x, 0), SAMPLES)
    _same(lambda x: np.histogram(x, 3, (2.0, 1.0)), SAMPLES)
    _same(lambda x: np.histogram(x, x), SAMPLES)
    _same(lambda x: np.digitize(x, x), SAMPLES)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kwargs", [{}, {"bias": True}, {"ddof": 0}, {"ddof": 2}])
def test_covariances(kwargs: dict[str, Any]) -> None:
    m = np.random.default_rng(2).normal(size=(3, 5))
    _same(lambda m: np.cov(m, **kwargs), m)
    _same(lambda m: np.cov(m, rowvar=False, **kwargs), m)
    _same(lambda m: np.cov(m[0], m[1], **kwargs), m)
    _same(lambda m: np.cov(m[0], **kwargs), m)
    _same(lambda m: np.cov(m, m[::-1], **kwargs), m.astype(np.float32))


def test_grids() -> None:
    def whole(a: Any) -> Any:
        return (
            np.mgrid[0:3, 1:2], np.mgrid[2:-1:-1], np.mgrid[0:1:5j], np.mgrid[0:1:1j, 3:5],
            np.mgrid[0 : a[1] : 0.5, 1:2:3j], np.mgrid[:4], np.mgrid[1:3:-2j],
        )  # fmt: skip

    _same(whole, np.array([0.3, 1.7]))
    _same(lambda n: (*np.ogrid[0:n, 1:2:3j], np.ogrid[0:n]), 4)
    _same(lambda n: np.mgrid[0:n, 0:2], -3)
    _same(lambda n: np.mgrid[0:n, 0 : 4 : n - 3], 3)


def test_ranges_as_indices() -> None:
    _same(lambda a, n: (a[range(n)], a[range(n, 0, -2)], a[range(-3, n)]), X6, 4)
    _same(lambda a, n: a[range(n)], X6, 0)
    _same(lambda a, n: a[range(n)], X6, 7)
    _same(lambda a, n: np.array(range(n)) * a[0], X6, 5)


def test_sorted() -> None:
    _same(lambda a: sorted(a), X6)
    _same(lambda a: sorted([a[0], a[1], a[2]], reverse=True), X6)
    _same(lambda a: [pair[1] for pair in sorted([(2, 1), (1, 5), (2, 0)])], X6)
    _same(lambda n: sorted([n, 3, 1])[0] + sorted(range(n))[1], 5)
    _same(lambda a: sorted([a[:1], a[1:2]], key=lambda v: v[0])[0], X6)
    _same(lambda a: sorted(a, key=lambda v: v * v, reverse=True), X6)
    _same(lambda a: sorted(a, key=lambda v: (v > 0.0, v)), X6)
    with pytest.raises(AdcError, match=r"ADC010.*keys .* that are neither numbers nor tuples of"):
        adc.jit(lambda a: sorted(a, key=lambda v: ((v, 1), (v, 2)))[0])(X6)
    with pytest.raises(LimitError, match="`sorted` of tuples with numbers as large"):
        adc.jit(lambda a: sorted((v * 1e17, k) for k, v in enumerate(a))[0])(X6)
    for order in (lambda a: sorted(a)[0], lambda a: sorted(a, key=lambda v: -v)[0]):
        with pytest.raises(LimitError, match="`sorted` of NaN"):
            adc.jit(order)(np.array([0.5, np.nan, 1.0]))
    with pytest.raises(AdcError, match=r"ADC014.*not supported between"):
        adc.jit(lambda a: sorted([1, "a"])[0])(X6)  # type: ignore[type-var]  # refused


def test_an_array_of_no_tuples() -> None:
    def program(a: Any) -> Any:
        pairs = []
        for v in a:
            if v > 0.0:
                pairs.append((v, v * v))
        return np.array(pairs)

    _same(program, X6)
    with pytest.raises(LimitError, match="this list of tuples is empty"):  # NumPy's has one axis
        adc.jit(program)(-np.ones(3))


def test_a_loop_that_no_break_leaves() -> None:
    """What its last iteration bound is there, if it bound it."""

    def of_all(x: Any, n: int) -> Any:
        for k in range(n):
            y = x * k
            if y[0] > 3.0:
                break
        return y

    def of_some(x: Any, n: int) -> Any:
        for k in range(n):
            if k == 1:
                y = x * k
            elif k > 3:
                y = x
                break
        return y

    def of_target(x: Any, n: int) -> Any:
        for row in x.reshape(n, -1):
            if row[0] > 2.0:
                break
        return row

    def of_as_many_as_are_known(x: Any, least: float) -> Any:
        for _ in range(50):
            y = np.cos(x) * 0.7
            if np.sum((y - x) ** 2) < least:
                break
            x = y
        else:
            y = y * 2.0
        return y

    for n in (2, 9, 0):
        _same(of_all, np.arange(1.0, 5.0), n)
    for least in (0.1, 0.0):
        _same(of_as_many_as_are_known, X6, least)
    for program, left, not_left in ((of_some, 9, 3), (of_target, 4, 1)):
        _same(program, np.arange(1.0, 5.0), left)
        _same(program, np.ones(4), not_left)

    def of_none(x: Any, n: int) -> Any:
        for k in range(n):
            if k == 3:
                continue
            if x[0] * k > 3.0:
                if k > 3:
                    y = x * k
                    break
                return x
        return y

    _same(of_none, X6, 3)
    _same(of_none, np.ones(2), 9)


def test_number_that_becomes_an_array() -> None:
    """After no iteration it would be a number: that is refused where it is read."""

    def in_a_variable(x: Any, read: bool) -> Any:
        total = 0.0
        for row in x:
            total = total + row * row
        return np.sum(total) if read else 1.5

    def in_a_dict(x: Any, read: bool) -> Any:
        sums = {"total": 0.0}
        for row in x:
            sums["total"] += row * row
        return np.sum(sums["total"]) if read else 1.5

    rows = np.arange(6.0).reshape(3, 2)
    for program in (in_a_variable, in_a_dict):
        _same(program, rows, True)
        _same(program, rows, False)
        with pytest.raises(LimitError, match="a number then, and an array otherwise"):
            adc.jit(program, target="python")(rows[:0], True)
    _same(in_a_variable, rows[:0], False)


def test_two_names_of_what_may_be_none() -> None:
    """After a condition on one, a condition on one still speaks for both."""

    def program(x: float) -> float:
        first = x if x > 0.0 else None
        second = first
        weight = 2.0 if first is None else 3.0
        return weight if first is None else second * weight  # type: ignore[operator]

    compiled = adc.jit(program, target="python")
    assert (compiled(1.5), compiled(-1.5)) == (4.5, 2.0)
    assert "TypeError" not in compiled.source()


@pytest.mark.parametrize("n", [2**62, -(2**62)])
def test_a_size_on_another_path_says_nothing_here(n: int) -> None:
    """Sizes of arrays have few bits, but no array of this size is made."""

    def program(x: Any, n: int) -> Any:
        s = 0.0
        if x > 5.0:
            s = np.sum(np.linspace(x, 2.0, n)) + np.sum(np.ones(n))
        return x + s + 4 * n

    with pytest.raises(LimitError, match="this product does not fit"):
        adc.jit(program, target="python", cache=False)(1.5, n)


def test_a_name_for_map_that_is_read_twice() -> None:
    """It is used up."""

    def program(a: Any) -> Any:
        squares = map(lambda v: v * v, a)
        return sum(squares) + sum(squares)

    np.testing.assert_allclose(adc.grad(program, target="python")(X6), 2.0 * X6)


def test_walrus_of_a_test_that_was_not_made() -> None:
    """Python raises where the name is read; so does compiled code."""

    def program(x: Any, n: int) -> Any:
        if n > 0 and (y := np.sum(np.exp(x[:n]))) > 1.0:
            return y
        return y * 2.0

    assert adc.jit(program)(X6, 1) == pytest.approx(program(X6, 1))
    assert adc.jit(program)(-5.0 - X6, 1) == pytest.approx(program(-5.0 - X6, 1))
    with pytest.raises(UnboundLocalError, match="'y'"):
        adc.jit(program)(X6, 0)


def test_an_array_at_an_odd_address_is_not_contiguous() -> None:
    """Compiled code for contiguous arrays takes their elements to be aligned."""
    odd = np.frombuffer(bytes(25), np.float64, 3, 1)
    assert str(type_of(odd)) == "f64[:]A"
    assert str(type_of(odd.copy())) == "f64[:]"


def test_the_shapes_that_are_not_broadcast_are_in_the_message() -> None:
    def program(a: Any, b: Any) -> Any:
        return np.sum(a * b)

    compiled = adc.jit(program, target="python", cache=False)
    for b in (np.ones(2), np.ones((2, 2))):
        with pytest.raises(ValueError, match="operands could not be") as wanted:
            program(np.ones(3), b)
        with pytest.raises(ValueError, match=re.escape(str(wanted.value).strip())):
            compiled(np.ones(3), b)


def _long(a: Any, b: Any, k: Any) -> Any:
    t = a[0]
    for _ in range(2):
        for each in (1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7):
            t = t * each + b[0]
            t = t / 1.7 + a[1]
            t = t + a[0]
    rest = None
    if t > 0.0:
        rest = [t, [t, k]]
    return a, b[:1] * t, [t, [b * t, k]], rest


@pytest.mark.full
def test_calls_share_a_function_that_returns_its_argument_and_lists() -> None:
    def program(x: Any) -> Any:
        s = 0.0
        for k in (1.0, 2.0, 3.0, 4.0):
            same, one, found, rest = _long(x, x * 2, k * x[0])
            s += np.sum(one) + np.sum(same * found[1][0]) + found[0] + found[1][1]
            if rest is not None:
                s += rest[0] + rest[1][0] * rest[1][1]
            found[1][0] = one
            s += found[1][0][0]
        return s

    x = np.array([1.5, -0.5, 2.0])
    compiled = adc.jit(program, target="python", cache=False)
    assert compiled(x) == pytest.approx(program(x), rel=1e-12)
    assert "_fn(" in compiled.source()


def test_what_is_refused_for_one_kind_is_an_error_for_that_one_only() -> None:
    def program(x: Any) -> Any:
        y: Any = "nothing"
        if x > 0.0:
            y = x
        return x * y

    _same(program, 1.5)
    with pytest.raises(LimitError, match="where `y` is str 'nothing'"):
        adc.jit(program, target="python")(-1.5)
