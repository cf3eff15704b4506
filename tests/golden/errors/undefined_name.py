# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    return x * undefined  # ADC011: name 'undefined' is not defined
