# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    return x * 1j  # ADC010: a complex number
