# mypy: ignore-errors
# ruff: noqa
import numpy as np

import adc

ARGS = (1.5, 3)


def program(x, n):
    rows = adc.jacrev(lambda p: [p["a"] * k for k in range(n)])
    return rows({"a": x})[1]["a"]  # ADC010: a list of structures whose length
