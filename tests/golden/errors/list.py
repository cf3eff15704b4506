# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = [x, x]  # ADC010: a list is not
    return x
