"""Results are the user's alone: once they are dropped, their memory is free at once."""

import gc
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import adc


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Held:
    first: Any
    second: Any


def a_tuple(x: Any) -> Any:
    return x * 2.0, x + 1.0


def a_list(x: Any) -> Any:
    return [x * 2.0, {"more": x + 1.0}]


def named(x: Any) -> Any:
    return Pair(x * 2.0, Held(x + 1.0, x))


def loss(x: Any) -> Any:
    return np.sum(x * x)


def with_more(x: Any) -> Any:
    return np.sum(x * x), x * 2.0


def arrays_in(result: Any) -> list[Any]:
    match result:
        case np.ndarray():
            return [result]
        case dict():
            return arrays_in(list(result.values()))
        case Held():
            return arrays_in([result.first, result.second])
        case tuple() | list():
            return [array for each in result for array in arrays_in(each)]
    return []


X = np.linspace(0.0, 1.0, 5)
CALLS: dict[str, Callable[[], Any]] = {
    "tuple": lambda: adc.jit(a_tuple)(X),
    "list": lambda: adc.jit(a_list)(X),
    "named tuple": lambda: adc.jit(named)(X),
    "gradient": lambda: adc.value_and_grad(loss)(X),
    "gradient and more": lambda: adc.value_and_grad(with_more, has_aux=True)(X),
    "tangents": lambda: adc.jvp(a_tuple, (X,), (X,)),
    "cotangents": lambda: adc.vjp(a_tuple, X)[1]((X, X)),
    "value of vjp": lambda: adc.vjp(a_tuple, X)[0],
    "jacrev": lambda: adc.jacrev(a_tuple)(X),
    "jacfwd": lambda: adc.jacfwd(a_list)(X),
    "hessian": lambda: adc.hessian(loss)(X),
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", CALLS)
def test_nothing_but_the_caller_holds_results(name: str) -> None:
    """No cycle of references waits for the garbage collector with them.

    Large results are made in pages that were used before: if those come back late, every call
    takes new ones, which cost more than what is computed.
    """
    CALLS[name]()
    gc.collect()
    gc.disable()
    try:
        held = [weakref.ref(array) for array in arrays_in(CALLS[name]())]
        assert held
        assert all(each() is None for each in held)
    finally:
        gc.enable()
