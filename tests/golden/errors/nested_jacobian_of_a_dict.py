# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.0,)


def program(x):
    return adc.jacrev(lambda p: p["a"])({"a": x})  # ADC010: `adc.jacrev` with respect to a dict
