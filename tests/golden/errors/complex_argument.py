# mypy: ignore-errors
# ruff: noqa
ARGS = (1j,)


def program(x):  # ADC023: returns a complex number
    return x
