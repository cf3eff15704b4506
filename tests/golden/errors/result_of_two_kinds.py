# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):  # ADC012: and a tuple of 2
    if x > 0.0:
        return x
    return x, x
