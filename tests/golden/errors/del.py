# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    del x
    return x  # ADC011: was deleted
