# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    return x + "a"  # ADC014: `+` is not defined for str 'a'
