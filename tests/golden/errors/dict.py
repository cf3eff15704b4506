# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = {x: 1.0}  # ADC010: a key known only at run time
    return x
