# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.5,)


def program(x):
    rows = adc.jacrev(lambda p: [p["a"] * k for k in range(int(2.0 * x))])
    return rows({"a": x})[1]["a"]  # ADC010: a list of structures whose length
