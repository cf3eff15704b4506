# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = {x}  # ADC010: a set that holds a number
    return x
