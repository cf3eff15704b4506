# mypy: ignore-errors
# ruff: noqa
ARGS = (1.0, 2**70,)


def program(x, n):  # ADC020: 64 bits
    return x * n
