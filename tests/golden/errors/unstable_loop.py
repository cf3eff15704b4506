# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = x
    for i in range(3):  # ADC012: before the loop
        y = (y, x)
    return x
