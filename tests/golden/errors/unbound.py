# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = factor * x  # ADC011: 'factor' may be unbound here
    factor = 2.0
    return y
