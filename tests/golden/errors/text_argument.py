# mypy: ignore-errors
# ruff: noqa
ARGS = ("a",)


def program(n):  # ADC021: only floating-point
    return 2.0
