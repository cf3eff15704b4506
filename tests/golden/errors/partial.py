# mypy: ignore-errors
# ruff: noqa
import functools


ARGS = (1.5,)


def program(x):
    return functools.partial(max, x)()  # ADC010: `functools.partial`
