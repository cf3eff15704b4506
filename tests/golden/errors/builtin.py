# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    return next(iter((x, 1.0)))  # ADC010: `iter`
