# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = "nothing"
    if x > 0.0:
        y = x
    return x * y  # ADC012: 'y' is a number
