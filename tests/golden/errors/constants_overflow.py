# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    return x * (9223372036854775807 + 1)  # ADC010: the integer 9223372036854775808
