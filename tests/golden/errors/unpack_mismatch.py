# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    a, b = (x, x, x)  # ADC014: 3 values for 2 names
    return x
