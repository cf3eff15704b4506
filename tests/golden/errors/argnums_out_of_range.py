# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)
ARGNUMS = 3


def program(x):  # ADC020: argnums=3
    return x
