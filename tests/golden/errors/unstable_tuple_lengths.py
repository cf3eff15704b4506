# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = (x,)
    if x > 0.0:
        y = (x, x)
    return y[0]  # ADC012: a tuple of
