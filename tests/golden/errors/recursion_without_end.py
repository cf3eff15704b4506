# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):  # ADC010: calls itself on every path
    return program(x * 0.5)
