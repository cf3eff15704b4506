# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    for i in x:  # ADC014: cannot loop over a number
        pass
    return 1.0
