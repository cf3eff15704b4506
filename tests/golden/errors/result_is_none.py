# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):  # ADC023: None
    pass
