# mypy: ignore-errors
# ruff: noqa
ARGS = (True,)


def program(n):  # ADC021: is a bool
    return 2.0 * n
