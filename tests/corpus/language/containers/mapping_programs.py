"""Subclasses of `dict`, and other mappings: attribute dicts, parameters with methods."""

from __future__ import annotations

import collections
import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tests.corpus.program import Program, recorder

MAPPING_PROGRAMS: list[Program] = []
program = recorder(MAPPING_PROGRAMS)


class Config(dict[str, Any]):
    """Items are attributes, of nested dicts as well."""

    def __init__(self, items: Any = (), **more: Any) -> None:
        super().__init__()
        for key, value in {**dict(items), **more}.items():
            self[key] = Config(value) if isinstance(value, dict) else value

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class Shared(dict[str, Any]):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class Parameters(dict[str, Any]):
    """As of a fit: those that are free, and what the others are by default."""

    def __init__(self, scale: Any, **items: Any) -> None:
        dict.__init__(self, **items)
        self.scale = scale

    def __missing__(self, key: str) -> Any:
        return 0.5 * self.scale

    def norm(self) -> Any:
        return np.sqrt(sum(v * v for v in self.values()))


OPTIONS = Config({"opt": {"rate": 0.1, "steps": 3}, "w": np.array([0.4, 1.3])})
STATE: Any = Shared(gain=2.0, offset=np.array([0.1, 0.2]))


@program(np.array([0.7, 1.2]))
def descent_with_options_in_attribute_dicts(x: Any) -> Any:
    for _ in range(OPTIONS.opt.steps):
        x = x - OPTIONS.opt.rate * 2.0 * x * OPTIONS["w"]
    return np.sum(x**2 * STATE.gain + STATE["offset"] * x)


@program(np.array([0.7, 1.2]))
def attribute_dicts_that_change_in_a_loop(x: Any) -> Any:
    state = Config(s=0.0, last=1.0)
    kept = copy.deepcopy(state)
    shared: Any = Shared(t=x[0])
    for k in range(len(x)):
        state.s += x[k] * (k + 1) * state.last
        state["last"] = x[k]
        shared.t = shared["t"] * state.s
    if hasattr(state, "nothing") or kept.s > 0.0:
        state.s = 0.0
    return state.s * state.last + shared.t * getattr(state, "factor", 3.0)


@program(0.8, np.array([0.3, 1.1]), argnums=(0, 1))
def parameters_that_are_a_dict_with_methods(scale: Any, x: Any) -> Any:
    given = Parameters(scale, a=x[0], b=x[1] * scale)
    given["c"] = given["missing"] * x[0]

    def model(a: Any, b: Any, c: Any) -> Any:
        return a * b + np.sin(c)

    return given.norm() + model(**given) + sum({**given}.values()) * len(given)


class Defaults(collections.UserDict[str, Any]):
    def __missing__(self, key: str) -> Any:
        return self.data["base." + key]


DEFAULTS = Defaults({"a": 1.5, "base.b": 2.5})


class Table(Mapping[str, Any]):
    def __init__(self, **items: Any) -> None:
        self.held = items

    def __getitem__(self, key: str) -> Any:
        return self.held[key]

    def __iter__(self) -> Iterator[str]:
        yield from self.held

    def __len__(self) -> int:
        return len(self.held)


@program(np.array([0.7, 1.2]))
def mappings_of_the_standard_library(x: Any) -> Any:
    table = Table(ab=x[0], cd=x[1] * x[0])
    plain = dict(table)  # of its keys, which are no pairs
    total = sum(v * len(k) for k, v in table.items()) + table.get("ef", x[1]) * plain["ab"]
    for key, weight in zip(table.keys(), x, strict=True):
        total += table[key] * weight
    return total * DEFAULTS["a"] + DEFAULTS["b"] * x[1]
