# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = (x, x)
    y[0] = 2.0  # ADC014: a tuple cannot be changed
    return x
