# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def weigh(scale):
    return lambda x: x * scale


@adc.custom_vjp
def apply(fn, x):
    return fn(x)


apply.defvjp(lambda fn, x: (fn(x), None), lambda kept, ct: (None, ct))


def program(x):
    return apply(lambda y: y * x, 2.0)  # ADC024: the rule of apply() says nothing about 'x'
