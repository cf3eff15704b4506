# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = (z := x)  # ADC010: `:=`
    return x
