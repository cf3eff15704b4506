# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    a, b = (x, x, x)  # ADC014: cannot unpack 3 values into 2 names
    return x
