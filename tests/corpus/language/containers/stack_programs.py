"""Programs over lists of elements that are alike, as the layers of a model are.

`test_stacks` runs them with each list passed as arrays, and again with its elements one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tests.corpus.program import Program, recorder, uniform

STACK_PROGRAMS: list[Program] = []
program = recorder(STACK_PROGRAMS)
# What is done with the elements needs them one by one.
ONE_BY_ONE: list[Program] = []
one_by_one = recorder(ONE_BY_ONE)

X54 = uniform(80, 5, 4)


def matrices(count: int, *shape: int, seed: int = 81) -> list[Any]:
    return [uniform(seed + k, *(shape or (4, 4))) for k in range(count)]


def layers(count: int = 3, seed: int = 81) -> list[Any]:
    return [{"w": uniform(seed + k, 4, 4), "b": uniform(seed + 50 + k, 4)} for k in range(count)]


def dense(x: Any, w: Any, b: Any) -> Any:
    return np.tanh(x @ w + b)


@program(X54, layers(), argnums=(0, 1))
def dicts(x: Any, layers: Any) -> Any:
    for layer in layers:
        x = dense(x, **layer)
    return np.sum(x * x)


@program(X54, matrices(4), argnums=(0, 1))
def arrays(x: Any, ws: Any) -> Any:
    for w in ws:
        x = np.tanh(x @ w) + x
    return np.sum(x)


@program(X54, matrices(3), matrices(3, 4, seed=91), argnums=(0, 1, 2))
def by_index(x: Any, ws: Any, bs: Any) -> Any:
    for k in range(len(ws)):
        x = np.tanh(x @ ws[k] + bs[k])
    return np.sum(x * ws[-1][0])


@program(X54, matrices(3), matrices(3, 4, seed=91), argnums=(0, 1, 2))
def in_pairs(x: Any, ws: Any, bs: Any) -> Any:
    for w, b in zip(ws, bs):  # noqa: B905 - as it is written
        x = np.tanh(x @ w + b)
    return np.sum(x)


@program(X54, layers(4), argnums=(0, 1))
def backwards_and_numbered(x: Any, layers: Any) -> Any:
    for k, layer in enumerate(reversed(layers)):
        x = dense(x, **layer) * (k + 1)
    return np.sum(x)


@program(X54, layers(4), argnums=(0, 1))
def the_last_without_activation(x: Any, layers: Any) -> Any:
    for k, layer in enumerate(layers):
        x = x @ layer["w"] + layer["b"]
        if k < len(layers) - 1:
            x = np.tanh(x)
    return np.sum(x * x) / len(layers)


@program(X54, [(w, w[0]) for w in matrices(3)], argnums=(0, 1))
def tuples(x: Any, layers: Any) -> Any:
    for w, b in layers:
        x = np.tanh(x @ w + b)
    return np.sum(x)


class Pair(NamedTuple):
    w: Any
    b: Any


@program(X54, [Pair(w, w[0]) for w in matrices(3)], argnums=(0, 1))
def named_tuples(x: Any, layers: Any) -> Any:
    for layer in layers:
        x = np.tanh(x @ layer.w + layer.b)
    return np.sum(x)


@dataclass(frozen=True)
class Frozen:
    w: Any
    scale: float

    def __call__(self, x: Any) -> Any:
        return np.tanh(x @ self.w) * self.scale


@program(X54, [Frozen(w, 1.0 + w[0, 0]) for w in matrices(3)], argnums=(0, 1))
def frozen_objects(x: Any, layers: Any) -> Any:
    for layer in layers:
        x = layer(x)
    return np.sum(x)


class Layer:
    def __init__(self, w: Any, heads: int) -> None:
        self.w = w
        self.b = w[0] * 2.0
        self.heads = heads
        self.kind = "tanh"

    def __call__(self, x: Any) -> Any:
        y = x @ self.w + self.b
        parts = np.split(y, self.heads, axis=-1)
        parts = [part * np.sum(part, axis=-1, keepdims=True) for part in parts]
        return self.activated(np.hstack(parts))

    def activated(self, x: Any) -> Any:
        return np.tanh(x) if self.kind == "tanh" else np.exp(x)


@program(X54, [Layer(w, 2) for w in matrices(3)], argnums=(0, 1))
def objects(x: Any, layers: Any) -> Any:
    for layer in layers:
        x = layer(x)
    return np.sum(x)


class Model:
    def __init__(self) -> None:
        self.layers = [Layer(w, 2) for w in matrices(3)]
        self.out = uniform(99, 4)

    def loss(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x) + x
        return np.sum(x @ self.out)


@program(X54, Model(), argnums=(0, 1))
def a_list_in_an_object(x: Any, model: Any) -> Any:
    return model.loss(x)


@program(X54, {"blocks": layers(), "out": uniform(98, 4)}, argnums=(0, 1))
def a_list_in_a_dict(x: Any, params: Any) -> Any:
    for block in params["blocks"]:
        x = dense(x, **block)
    return np.sum(x @ params["out"])


@program(X54, [{"heads": matrices(2, seed=81 + 5 * k), "g": uniform(k, 4)} for k in range(3)],
         argnums=(0, 1))  # fmt: skip
def lists_in_elements(x: Any, blocks: Any) -> Any:
    for block in blocks:
        x = x + block["g"] * sum(np.tanh(x @ head) for head in block["heads"])
    return np.sum(x)


@program(X54, [{"w": w, "s": 0.5 + k, "t": np.float64(k), "n": None}
               for k, w in enumerate(matrices(3))], argnums=(0, 1))  # fmt: skip
def numbers_in_elements(x: Any, layers: Any) -> Any:
    for layer in layers:
        x = np.tanh(x @ layer["w"]) * layer["s"] + layer["t"]
        if layer["n"] is None:
            x = x * 0.5
    return np.sum(x)


@program(X54, [{"g": uniform(k, 1, 4), "c": uniform(k, 5, 1)} for k in range(3)], argnums=(0, 1))
def axes_of_size_1(x: Any, layers: Any) -> Any:
    for layer in layers:
        x = np.tanh(x * layer["g"]) + layer["c"]
    return np.sum(x)


@program(X54, matrices(3), argnums=(0, 1))
def a_sum_over_all(x: Any, ws: Any) -> Any:
    y = x
    for w in ws:
        y = np.tanh(y @ w)
    return np.sum(y) + 0.1 * sum(np.sum(w * w) for w in ws)


@program(X54, layers(4), argnums=(0, 1))
def exits(x: Any, layers: Any) -> Any:
    total = 0.0
    for layer in layers:
        x = dense(x, **layer)
        if np.sum(x) > 100.0:
            break
        if np.sum(x) < -100.0:
            continue
        total = total + np.sum(x)
    return total


@program(X54, layers(4), argnums=(0, 1))
def a_result_in_the_loop(x: Any, layers: Any) -> Any:
    for k, layer in enumerate(layers):
        x = dense(x, **layer)
        if k == 2:
            return np.sum(x * layer["b"])
    return np.sum(x)


@program(X54, layers(3), layers(3, seed=111), argnums=(0, 1, 2))
def there_and_back(x: Any, down: Any, up: Any) -> Any:
    kept = []
    for layer in down:
        x = dense(x, **layer)
        kept.append(x)
    for layer in up:
        x = dense(x, **layer) + kept.pop()
    return np.sum(x)


@program(X54, layers(3), argnums=(0, 1))
def layers_twice(x: Any, layers: Any) -> Any:
    for _ in range(2):
        for layer in layers:
            x = dense(x, **layer)
    return np.sum(x)


@program(X54, [(m := layers(1)[0]), m, m], argnums=(0, 1))
def one_element_again_and_again(x: Any, layers: Any) -> Any:
    for layer in layers:
        x = dense(x, **layer)
    return np.sum(x)


@program(uniform(80, 5, 4).astype(np.float32), [w.astype(np.float32) for w in matrices(3)],
         argnums=(0, 1), tags="float32")  # fmt: skip
def float32_arrays(x: Any, ws: Any) -> Any:
    for w in ws:
        x = np.tanh(x @ w)
    return np.sum(x)


@program(X54, [{"w": w, "at": np.array([k, 2, 0])} for k, w in enumerate(matrices(3))],
         argnums=(0,))  # fmt: skip
def integers_in_elements(x: Any, layers: Any) -> Any:
    for layer in layers:
        x = x + np.tanh(x @ layer["w"])[layer["at"][0]] * x[:, layer["at"]].sum()
    return np.sum(x)


@program(X54, layers(4), argnums=(0, 1))
def while_there_are_layers(x: Any, layers: Any) -> Any:
    k = 0
    while k < len(layers):
        x = dense(x, layers[k]["w"], layers[k]["b"])
        k += 1
    return np.sum(x)


@program(X54, layers(4), argnums=(0, 1))
def views_of_elements(x: Any, layers: Any) -> Any:
    for layer in layers:
        w = layer["w"].T
        x = np.tanh(x @ w[:, ::-1]) + layer["w"][1] * layer["b"][::-1]
    return np.sum(x)


@program(X54, layers(3), argnums=(0, 1))
def keys_and_values(x: Any, layers: Any) -> Any:
    total = 0.0
    for layer in layers:
        for name, value in layer.items():
            total = total + np.sum(value * value) * (2.0 if name == "w" else 1.0)
        if "b" in layer and layer.get("c") is None:
            x = dense(x, **layer)
    return np.sum(x) + total


@program(X54, layers(3), argnums=(0, 1))
def copies_of_elements(x: Any, layers: Any) -> Any:
    for layer in layers:
        own = dict(layer)
        own["w"] = own["w"] * 2.0
        w = layer["w"].copy()
        w[0] = 0.5
        x = dense(x, **own) @ w
    return np.sum(x)


@program(X54, layers(3), argnums=(0, 1))
def functions_with_layers(x: Any, layers: Any) -> Any:
    def forward(f: Callable[..., Any], y: Any) -> Any:
        for layer in layers:
            y = f(y, layer["w"], layer["b"])
        return y

    return np.sum(forward(dense, x) + forward(lambda y, w, b: y @ w - b, x))


# -- elements one by one ---------------------------------------------------------------------------


@one_by_one(X54, layers(3), argnums=(0, 1))
def written_elements(x: Any, layers: Any) -> Any:
    for layer in layers:
        layer["w"][0] *= 2.0
        x = dense(x, **layer)
    return np.sum(x)


@one_by_one(X54, layers(3), argnums=(0, 1))
def changed_dicts(x: Any, layers: Any) -> Any:
    for layer in layers:
        layer["w"] = layer["w"] * 2.0
    for layer in layers:
        x = dense(x, **layer)
    return np.sum(x)


@one_by_one(X54, layers(3), argnums=(0, 1))
def a_changed_list(x: Any, layers: Any) -> Any:
    layers.append({"w": x[:4, :4], "b": x[0]})
    for layer in layers:
        x = dense(x, **layer)
    return np.sum(x)


@one_by_one(X54, matrices(3), argnums=(0, 1))
def another_array_is_written(x: Any, ws: Any) -> Any:
    x[0] = 1.0
    y = x
    for w in ws:
        y = np.tanh(y @ w)
    return np.sum(y)


@one_by_one(X54, layers(3), argnums=(0, 1))
def other_kinds_on_the_way(x: Any, layers: Any) -> Any:
    parts: Any = ()
    for layer in layers:
        x = dense(x, **layer)
        parts = (*parts, x)
    a, b, c = parts
    return np.sum(a * b * c)


__all__ = ["ONE_BY_ONE", "STACK_PROGRAMS"]
