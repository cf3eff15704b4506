# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    return x(1.0)  # ADC014: is not a function
