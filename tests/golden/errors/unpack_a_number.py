# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    a, b = x  # ADC014: cannot unpack
    return x
