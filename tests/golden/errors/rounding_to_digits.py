# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    return round(x, 2)  # ADC010: `round` with a number of digits
