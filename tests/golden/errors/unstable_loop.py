# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = x
    for i in range(300):
        y = (y, x)  # ADC012: before the loop
    return x
