# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):  # ADC010: returning a range
    return range(3)
