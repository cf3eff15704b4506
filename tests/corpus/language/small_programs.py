"""Programs of things that are small but common: `map`, ranges as indices, `:=`, grids, counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.program import P4, X3, X6, Program, recorder, uniform

SMALL_PROGRAMS: list[Program] = []
program = recorder(SMALL_PROGRAMS, "small")

# -- a transformer, as it is written in plain NumPy ------------------------------------------------


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def softmax(x: Any) -> Any:
    exp_x = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return exp_x / np.sum(exp_x, axis=-1, keepdims=True)


def layer_norm(x: Any, g: Any, b: Any, eps: Any = 1e-5) -> Any:
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return g * ((x - mean) / np.sqrt(variance + eps)) + b


def linear(x: Any, w: Any, b: Any) -> Any:
    return x @ w + b


def feed_forward(x: Any, c_fc: Any, c_proj: Any) -> Any:
    return linear(gelu(linear(x, **c_fc)), **c_proj)


def attention(q: Any, k: Any, v: Any, mask: Any) -> Any:
    return softmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v


def many_heads(x: Any, c_attn: Any, c_proj: Any, n_head: Any) -> Any:
    x = linear(x, **c_attn)
    heads = list(map(lambda x: np.split(x, n_head, axis=-1), np.split(x, 3, axis=-1)))
    causal_mask = (1 - np.tri(x.shape[0], dtype=x.dtype)) * -1e10
    out_heads = [attention(q, k, v, causal_mask) for q, k, v in zip(*heads)]  # noqa: B905  (as it is written)
    return linear(np.hstack(out_heads), **c_proj)


def transformer_block(x: Any, mlp: Any, attn: Any, ln_1: Any, ln_2: Any, n_head: Any) -> Any:
    x = x + many_heads(layer_norm(x, **ln_1), **attn, n_head=n_head)
    return x + feed_forward(layer_norm(x, **ln_2), **mlp)


def transformer(inputs: Any, wte: Any, wpe: Any, blocks: Any, ln_f: Any, n_head: Any) -> Any:
    x = wte[inputs] + wpe[range(len(inputs))]
    for block in blocks:
        x = transformer_block(x, **block, n_head=n_head)
    return layer_norm(x, **ln_f) @ wte.T


def _weights(width: int = 4, layers: int = 2, words: int = 5, places: int = 6) -> dict[str, Any]:
    rng = np.random.default_rng(7)

    def dense(n: int, m: int) -> dict[str, Any]:
        return {"w": 0.5 * rng.normal(size=(n, m)), "b": 0.1 * rng.normal(size=m)}

    def norm() -> dict[str, Any]:
        return {"g": 1.0 + 0.1 * rng.normal(size=width), "b": 0.1 * rng.normal(size=width)}

    def block() -> dict[str, Any]:
        mlp = {"c_fc": dense(width, 2 * width), "c_proj": dense(2 * width, width)}
        attn = {"c_attn": dense(width, 3 * width), "c_proj": dense(width, width)}
        return {"mlp": mlp, "attn": attn, "ln_1": norm(), "ln_2": norm()}

    return {
        "wte": rng.normal(size=(words, width)),
        "wpe": 0.3 * rng.normal(size=(places, width)),
        "blocks": [block() for _ in range(layers)],
        "ln_f": norm(),
    }


WEIGHTS = _weights()
SENTENCE = [1, 4, 0, 2]


def transformer_loss(wte: Any, wpe: Any, blocks: Any, ln_f: Any) -> Any:
    """Of the next word, for weights in lists of dicts of dicts."""
    logits = transformer(SENTENCE[:-1], wte, wpe, blocks, ln_f, n_head=2)
    probabilities = softmax(logits)
    return -np.mean(np.log(probabilities[range(len(SENTENCE) - 1), SENTENCE[1:]]))


@program(WEIGHTS["wte"], WEIGHTS["wpe"], argnums=(0, 1))
def transformer_embeddings(wte: Any, wpe: Any) -> Any:
    return transformer_loss(wte, wpe, WEIGHTS["blocks"], WEIGHTS["ln_f"])


# -- ranges as indices -----------------------------------------------------------------------------


@program(X6)
def range_read(a: Any) -> Any:
    n = len(a) - 2
    return np.sum(a[range(n)] * a[range(n, 0, -1)]) + np.sum(a[range(1, 6, 2)] ** 2)


@program(X6)
def range_written(a: Any) -> Any:
    b = a.copy()
    b[range(1, 4)] = 2.0 * b[range(3)]
    b[range(2)] += a[range(4, 6)]
    b[range(0)] = 5.0
    return np.sum(b**2)


@program(uniform(3, 3, 4))
def range_pairs(m: Any) -> Any:
    rows = range(m.shape[0])
    return np.sum(m[rows, range(3)] ** 3) + np.sum(m[rows, (1, 0, 3)] * m[:, range(2)][:, 0])


# -- map, filter, sorted, list ---------------------------------------------------------------------


@program(X6)
def mapped(a: Any) -> Any:
    parts = list(map(lambda v, w: v * w, np.split(a, 3), np.split(a[::-1], 3)))
    first, second = map(np.sum, parts[:2])
    pairs = tuple(map(lambda v: (v, v * v), [a[0], a[1]]))
    return first * second + np.sum(parts[2]) + pairs[0][1] * pairs[1][0]


@program(X6)
def mapped_numbers(a: Any) -> Any:
    total = sum(map(np.sin, a)) + max(map(lambda v: v * v, a[:3])) - min(map(abs, a))
    if any(map(lambda v: v > 2.0, a)) and all(map(np.isfinite, a)):
        total = total * 2.0
    return total + sum(filter(lambda v: v > 0.0, a)) + sum(list(filter(None, [0.0, a[0], 0])))


@program(X6)
def mapped_when_due(a: Any) -> Any:
    """Each call sees what the iterations before it wrote."""
    b = a.copy()
    for v in map(lambda k: b[k] * a[k], range(len(a) - 1)):
        b[1:] += 0.1 * v
    for k in filter(lambda k: b[k] > 0.5, range(len(a))):
        b[(k + 1) % 6] -= b[k] * 0.5
        if k == 4:
            break
    return np.sum(b**2)


@program(X6)
def sorted_things(a: Any) -> Any:
    named = sorted([("c", a[0]), ("a", a[1]), ("b", a[2])], key=lambda pair: pair[0])
    weights = {"w": a[3], "b": a[4] * a[5]}
    total = named[0][1] * named[1][1] - named[2][1]
    for name in sorted(weights, reverse=True):
        total = total * 0.5 + weights[name]
    low, middle, high = sorted([a[0], a[2], a[4]])
    everything = sorted(a, reverse=True)
    return total + low * middle - high + everything[0] * everything[1]


@program(X6)
def listed(a: Any) -> Any:
    pairs = list(zip(a, a[1:]))  # noqa: B905, RUF007
    total = 0.0
    for p, q in pairs:
        total += p * q
    numbered = list(enumerate(a, 1))
    back = list(reversed(a))
    n = len(a) - 1
    return total + numbered[2][0] * numbered[2][1] + back[0] * back[1] + len(list(range(n))) * a[0]


# -- := --------------------------------------------------------------------------------------------


@program(X6)
def walrus_in_while(x: Any) -> Any:
    while (s := np.sum(x * x)) < 100.0:
        x = 1.5 * x
    return s


@program(P4)
def walrus_left_early(x: Any) -> Any:
    k = 0.0
    while (s := x[0] + k) < 30.0 and (t := s * x[1]) < 50.0:
        k += 1.0
        if k > 3.0:
            return s * t
    return s


@program(P4)
def walrus_in_conditions(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if (p := x[i]) > 0.7 and (q := x[i - int(p)] * p) > 0.5:
            total += p * q
        else:
            total -= p
        if (r := p * 2.0) < 1.5 or (u := np.log(r)) < 1.0:
            total += r
        else:
            total += r * u
    return total * (v if (v := x[0] * x[1]) > 0.0 else -v)


# -- arrays made, counted, compared ----------------------------------------------------------------


@program(X6)
def grids(a: Any) -> Any:
    y, x = np.mgrid[0:2, 0:3]
    rows, columns = np.ogrid[-1:1:2j, 0:1.5:0.5]
    points = np.mgrid[0:1:6j] + np.mgrid[0.5 : len(a)]
    box = np.mgrid[0:1:2j, 0 : a[0] : 3j]
    b = a.reshape(2, 3)
    total = np.sum(b * (y + 2 * x)) + np.sum(b**2 * rows * columns) + np.sum(points * a)
    return total + np.sum(box[0] * box[1] * b)


@program(X6)
def empty_arrays(a: Any) -> Any:
    b = np.ndarray((3,))
    b[:] = 2.0 * a[:3]
    c = np.ndarray(shape=(2, 3), dtype=np.float64, order="F")
    c[:] = a.reshape(2, 3)
    c[0] += b
    return np.sum(c**2)


@program(uniform(9, 3, 5))
def covariances(m: Any) -> Any:
    total = np.sum(np.cov(m) ** 2) + np.cov(m[0]) + np.sum(np.cov(m[0], m[1], ddof=0) ** 3)
    total += np.sum(np.cov(m[:, :2], rowvar=False, bias=True) ** 2)
    return total + np.corrcoef(m)[0, 1] + np.corrcoef(m[0], m[2])[1, 0]


SAMPLES = np.array([1.0, 2.0, 1.0, 4.0, 3.5, 0.2, 9.0, 2.5])


@program(uniform(4, 8))
def histograms(w: Any) -> Any:
    counts, edges = np.histogram(SAMPLES, 4)
    total = np.sum(counts * w[:4]) * edges[1]
    weighted, _ = np.histogram(SAMPLES, bins=[0.0, 1.0, 2.0, 5.0], weights=w)
    shares, _ = np.histogram(SAMPLES, bins=3, range=(0, 5), density=True)
    places = np.digitize(SAMPLES, np.array([0.0, 1.0, 2.0, 3.5]))
    return total + np.sum(weighted**3) + np.sum(shares * w[:3]) + np.sum(w[places] ** 2)


@program(X6)
def identity_of_views(x: Any) -> Any:
    a, b = x[:3], x[3:]
    c = a
    total = np.sum(a) if a is b else np.sum(a * b)
    return total + (np.sum(a * a) if c is a else 0.0)


@program(X6)
def methods_of_strings(x: Any) -> Any:
    layers = {"w_1": x[:3], "w_2": x[3:], "Bias_1": x[1:4]}
    total = 0.0
    for name, value in layers.items():
        kind, number = name.split("_")
        scale = int(number) * (0.1 if kind.lower().startswith("b") else 1.0)
        total += scale * np.sum(value**2) + ("w" in name) * value[0]
    for k in range(1, 3):
        total += np.prod(layers["_".join(["w", str(k)])]) * len("w%d".ljust(k + 2)[1:])
    try:
        total *= int(name[::-1])
    except ValueError:
        total += np.sin(x[-1])
    return total


# --- None before a loop, and a number from its first iteration on ---------------------------------


@program(X3, 2.0, argnums=(0, 1))
def none_before_the_first(x: Any, p: Any) -> Any:
    previous = None
    total = 0.0
    for v in x:
        if previous is not None:
            total += abs(v - previous) ** p
        previous = v * p
    return total


@program(X3, 40, argnums=(0,))
def none_before_the_first_array(x: Any, n: Any) -> Any:
    total = 0.0
    for j in range(3):
        last = None
        for i in range(n):
            last = x if last is None else last * 0.9 + x[j]
            if i == 1:
                continue
            total += last[0]
    return total


class _Controller:
    def __init__(self, gain: Any, rate: Any) -> None:
        self.gain, self.rate = gain, rate
        self.last: Any = None

    def __call__(self, error: Any, dt: Any) -> Any:
        slope = 0.0 if self.last is None else (error - self.last) / dt
        self.last = error
        return max(-5.0, min(5.0, self.gain * error + self.rate * slope))


@program(2.0, 0.1, argnums=(0, 1))
def attribute_that_is_none_first(gain: Any, rate: Any) -> Any:
    control = _Controller(gain, rate)
    x = v = cost = 0.0
    for _ in range(60):
        v += 0.05 * (control(1.0 - x, 0.05) - v)
        x += 0.05 * v
        cost += abs(1.0 - x) * 0.05
    return cost
