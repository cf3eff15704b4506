# mypy: ignore-errors
# ruff: noqa
ARGS = ("a",)


def program(n):  # ADC021: is str
    return 2.0
