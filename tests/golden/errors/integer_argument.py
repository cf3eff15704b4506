# mypy: ignore-errors
# ruff: noqa
ARGS = (3,)


def program(n):  # ADC021: is an int
    return 2.0 * n
