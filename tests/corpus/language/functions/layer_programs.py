"""Programs that call a function again and again, as models of many layers do.

`test_shared` runs them with each function lowered once and called, however small it is.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc import checkpoint
from tests.corpus.arrays.array_programs import weighted
from tests.corpus.program import Program, recorder, uniform

LAYER_PROGRAMS: list[Program] = []
program = recorder(LAYER_PROGRAMS)

X54 = uniform(60, 5, 4)
W0, W1, W2 = (uniform(61 + k, 4, 4) for k in range(3))
BIAS = uniform(64, 4)


def _layer(x: Any, w: Any) -> Any:
    return np.tanh(x @ w)


@program(X54, W0, W1, W2, argnums=(0, 1, 2, 3))
def layers_in_a_list(x: Any, w0: Any, w1: Any, w2: Any) -> Any:
    for w in [w0, w1, w2]:
        x = _layer(x, w)
    return weighted(x)


@program(X54, W0, W1, W2, argnums=(0, 1, 2, 3))
def layers_under_numbered_keys(x: Any, w0: Any, w1: Any, w2: Any) -> Any:
    weights = {"w1": w0, "w2": w1, "w3": w2}
    kept = {"a0": x}
    for k in range(1, len(weights) + 1):
        x = _layer(x, weights["w" + str(k)])
        kept[f"a{k}"] = x
    return weighted(x) + np.sum(kept["a1"] * kept[f"a{len(weights) - 1}"])


@program(X54, W0, uniform(65, 4, 3), uniform(66, 3, 2), argnums=(0, 1, 2, 3))
def layers_of_several_shapes_by_index(x: Any, w0: Any, w1: Any, w2: Any) -> Any:
    weights = [w0, w1, w2]
    for k in range(len(weights)):
        x = _layer(x, weights[k])
        if k < len(weights) - 1:
            x = x * 2.0
    return np.sum(x)


def _linear(x: Any, w: Any, b: Any) -> Any:
    return x @ w + b


def _normalized(x: Any, g: Any, b: Any, eps: float = 1e-5) -> Any:
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return g * (x - mean) / np.sqrt(variance + eps) + b


def _block(x: Any, linear: Any, norm: Any, heads: int) -> Any:
    y = _linear(_normalized(x, **norm), **linear)
    parts = np.split(y, heads, axis=-1)
    return x + np.hstack([np.tanh(part) * part[0] for part in parts])


@program(X54, W0, W1, BIAS, argnums=(0, 1, 2, 3))
def layers_of_dicts(x: Any, w0: Any, w1: Any, b: Any) -> Any:
    norm = {"g": b, "b": b * 0.5}
    blocks = [{"linear": {"w": w, "b": b}, "norm": norm} for w in (w0, w1, w0)]
    for block in blocks:
        x = _block(x, **block, heads=2)
    return weighted(x)


def _update(x: Any, w: Any) -> None:
    x[0] = np.sin(x[1])
    x *= np.sum(w)


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_change_what_they_are_given(x: Any, w0: Any, w1: Any) -> Any:
    x = x * 1.0
    for w in (w0, w1, w0):
        _update(x, w)
    return weighted(x)


def _first_of(x: Any, y: Any) -> Any:
    x[0] = y[1] * 2.0
    return x


@program(X54)
def layers_given_one_array_twice(x: Any) -> Any:
    x = x * 1.0
    y = _first_of(x, x)
    z = _first_of(x * 2.0, x)
    y[0] *= 3.0
    return weighted(x * z)


def _pair(x: Any, w: Any) -> Any:
    y = x @ w
    return y, y, np.sum(w)


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_return_one_array_twice(x: Any, w0: Any, w1: Any) -> Any:
    total = 0.0
    for w in (w0, w1):
        a, b, s = _pair(x, w)
        a[0] = 1.0
        total = total + s * np.sum(b * b)
    return total


def _cached(x: Any, w: Any) -> Any:
    return [x @ w, {"sin": np.sin(w), "all": [x * 2.0]}]


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_return_lists(x: Any, w0: Any, w1: Any) -> Any:
    total = 0.0
    for w in (w0, w1):
        y, cache = _cached(x, w)
        cache["all"].append(y)
        total = total + np.sum(cache["sin"]) * np.sum(cache["all"][0] * cache["all"][1])
        x = y
    return total


def _parts(x: Any, w: Any) -> Any:
    return x[1:], w.T


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_return_views(x: Any, w0: Any, w1: Any) -> Any:
    total = 0.0
    for w in (w0, w1):
        x = x * 1.0
        a, b = _parts(x, w)
        a[0] = 5.0
        total = total + np.sum(x) * np.sum(b @ b)
    return total


def _squared(v: Any) -> Any:
    v[...] = v * v
    return np.sum(v)


@program(X54)
def layers_given_views(x: Any) -> Any:
    x = x * 1.0
    total = 0.0
    for k in range(3):
        total = total + _squared(x[k : k + 2])
    return total * _squared(x[:, 0]) * _squared(x[:, 1]) + weighted(x)


def _appended(found: Any, v: Any) -> None:
    found.append(v * 2.0)


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_append(x: Any, w0: Any, w1: Any) -> Any:
    found: list[Any] = []
    for w in (w0, w1):
        _appended(found, x @ w)
    return weighted(found[0] * found[1])


def _applied(f: Any, x: Any, w: Any) -> Any:
    return f(x @ w)


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_given_functions(x: Any, w0: Any, w1: Any) -> Any:
    total = 0.0
    for k, w in enumerate((w0, w1, w0)):
        total = total + weighted(_applied(np.sin if k % 2 else np.cos, x, w))
        total = total + weighted(_applied(lambda v, k=k: v * k + x, x, w))
    return total


def _either(x: Any, w: Any, scaled: bool = True) -> Any:
    if np.sum(w) > 0.0:
        return x @ w
    return x * 2.0 if scaled else x


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_with_branches(x: Any, w0: Any, w1: Any) -> Any:
    for w in (w0, w1):
        x = _either(x, w)
    for w in (w0, -w0, w1):
        x = _either(x, w, scaled=False)
    return weighted(x)


def _checked(x: Any, w: Any) -> Any:
    if np.sum(w) > 1e9:
        raise ValueError("too large")
    return x @ w


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_that_may_raise(x: Any, w0: Any, w1: Any) -> Any:
    for w in (w0, w1):
        x = _checked(x, w)
    return weighted(x)


def _biased(x: Any, w: Any) -> Any:
    return x @ w + BIAS


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_with_a_global(x: Any, w0: Any, w1: Any) -> Any:
    for w in (w0, w1):
        x = _biased(x, w)
    return weighted(x)


@dataclass
class _Dense:
    w: Any
    b: Any

    def apply(self, x: Any) -> Any:
        return np.tanh(x @ self.w + self.b)


@program(X54, W0, W1, BIAS, argnums=(0, 1, 2, 3))
def layers_of_dataclasses(x: Any, w0: Any, w1: Any, b: Any) -> Any:
    for each in [_Dense(w0, b), _Dense(w1, b), _Dense(w0, b)]:
        x = each.apply(x)
    return weighted(x)


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_checkpointed(x: Any, w0: Any, w1: Any) -> Any:
    for w in (w0, w1):
        x = checkpoint(_layer)(x, w)
    return weighted(_layer(_layer(x, w0), w1))


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_in_a_loop_too(x: Any, w0: Any, w1: Any) -> Any:
    for w in (w0, w1):
        x = _layer(x, w)
    for _ in range(3):
        x = _layer(_layer(x, w0), w1)
    return weighted(x)


def _power(n: int, x: Any) -> Any:
    return 1.0 if n == 0 else x * _power(n - 1, x)


def _scaled(x: Any, w: Any) -> Any:
    return _layer(x, w) * _power(3, x[0, 0])


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_that_call_a_recursion(x: Any, w0: Any, w1: Any) -> Any:
    for w in (w0, w1):
        x = _scaled(x, w)
    return weighted(x)


def _times(x: Any, y: Any) -> Any:
    return x * y


@program(X54, W0, argnums=(0, 1))
def layers_that_broadcast(x: Any, w: Any) -> Any:
    total = _times(x, w[0]) + _times(x, np.sum(w)) + _times(x, x[:, :1]) + _times(x, x[:, 1:2])
    return weighted(total * _times(x[:1], x) * _times(x, x[:1]))


def _drawn(x: Any, w: Any, rng: Any) -> Any:
    return x @ w + rng.standard_normal(4)


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_that_draw(x: Any, w0: Any, w1: Any) -> Any:
    rng = np.random.default_rng(3)
    for w in (w0, w1):
        x = _drawn(x, w, rng)
    return weighted(x)


def _sized(x: Any, parts: int) -> Any:
    return np.tanh(x), x.shape[1], parts, 2 * parts


@program(X54)
def layers_return_constants(x: Any) -> Any:
    total = 0.0
    for each in (x, x * 2.0):
        y, n, parts, more = _sized(each, 2)
        halves = np.split(y[:, :n], parts, axis=1)
        total = total + weighted(halves[0] * halves[1]) * more
    return total + weighted(np.zeros((more, 3)) + x[0, 0])


def _toward(x: Any, zero: float) -> Any:
    return np.sum(x * x * np.copysign(1.0, zero))


@program(X54)
def layers_given_signed_zeros(x: Any) -> Any:
    return _toward(x, 0.0) * 2.0 + _toward(x, -0.0) + 3.0 * _toward(x, 0.0)


def _plain(x: Any, v: Any) -> Any:
    return (v + 1.0) * x


@program(X54)
def layers_given_zero_dimensional_arrays(x: Any) -> Any:
    a = np.asarray(x[0, 0] * 2.0)
    total = _plain(x, a) + _plain(x, x[0, 1]) + _plain(x, a * 3.0)
    return weighted(total) + _plain(a, a) + _plain(x[1, 1], x[0, 1])


@program(X54, W0, uniform(65, 4, 3), uniform(66, 3, 2), 0.1, argnums=(0, 1, 2, 3, 4))
def layers_trained_by_hand(x: Any, w0: Any, w1: Any, w2: Any, rate: Any) -> Any:
    """Backpropagation as it is written in NumPy, by indices that fall."""
    weights = [w0, w1, w2]
    for _ in range(3):
        kept = [x]
        for w in weights:
            kept.append(_layer(kept[-1], w))
        ct = 2.0 * kept[-1]
        slopes = []
        for k in reversed(range(len(weights))):
            ct = ct * (1.0 - kept[k + 1] ** 2)
            slopes.append(kept[k].T @ ct)
            ct = ct @ weights[k].T
        slopes = slopes[::-1]
        weights = [w - rate * slope for w, slope in zip(weights, slopes, strict=True)]
    for w in weights:
        x = np.tanh(x @ w)
    return np.sum(x * x)


@program(X54)
def layers_of_known_sizes_trained_by_hand(x: Any) -> Any:
    weights = [np.ones((4, 3)) * x[0, 0], np.ones((3, 2)) * x[1, 1]]
    start = np.linspace(0.0, 1.0, 20).reshape(5, 4)
    for _ in range(2):
        kept = [start]
        for w in weights:
            kept.append(np.tanh(kept[-1] @ w))
        ct = 2.0 * kept[-1]
        slopes = []
        for k in reversed(range(len(weights))):
            ct = ct * (1.0 - kept[k + 1] ** 2)
            slopes.append(kept[k].T @ ct)
            ct = ct @ weights[k].T
        weights = [w - 0.1 * slope for w, slope in zip(weights, slopes[::-1], strict=True)]
    return np.sum(_layer(_layer(x, weights[0]), weights[1]))


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_by_numbers_in_pairs(x: Any, w0: Any, w1: Any) -> Any:
    weights, kept = [w0, w1, w0 * w1], {}
    for number, k in enumerate(range(2, -1, -1)):
        x = _layer(x, weights[k]) * (number + 1.0)
        kept[k] = x
    for k, before in zip(range(1, 3), reversed(range(2)), strict=True):
        x = x + kept[k] * kept[before]
    return weighted(x)


class _Tanh:
    slope = 1.0

    def __init__(self, w: Any) -> None:
        self.w = w


class _Steeper(_Tanh):
    slope = 2.0


def _activated(x: Any, layer: Any) -> Any:
    return np.tanh(layer.slope * (x @ layer.w))


@program(X54, W0, W1, argnums=(0, 1, 2))
def layers_of_classes_that_differ_in_constants(x: Any, w0: Any, w1: Any) -> Any:
    for layer in (_Tanh(w0), _Steeper(w1), _Tanh(w1), _Steeper(w0)):
        x = _activated(x, layer)
    return weighted(x)


def _last(x: Any, kept: Any) -> Any:
    kept = kept.copy()
    for k in range(3):
        kept.append(x[k])
    return sum(kept) * x


@program(X54)
def deques_of_several_lengths(x: Any) -> Any:
    for most in (2, 3, 2, 3):
        x = _last(x, deque([x[4]], maxlen=most)) * 0.1
    return weighted(x)
