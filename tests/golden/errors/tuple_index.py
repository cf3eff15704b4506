# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    return (x, x)[2]  # ADC014: out of range for a tuple of 2
