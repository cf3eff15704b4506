# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    yield x  # ADC033: `yield`
