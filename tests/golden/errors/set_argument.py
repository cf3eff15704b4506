# mypy: ignore-errors
# ruff: noqa
ARGS = ({1.0, 2.0},)


def program(x):  # ADC020: is a set
    return x[0]
