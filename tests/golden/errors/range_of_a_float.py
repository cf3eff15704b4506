# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    for i in range(x):  # ADC014: range() needs integers
        pass
    return x
