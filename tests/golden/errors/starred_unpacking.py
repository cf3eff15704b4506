# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    a, *b = range(int(x))  # ADC010: known only at run time
    return x
