# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    a, *b = (x, x, x)  # ADC010: starred unpacking
    return x
