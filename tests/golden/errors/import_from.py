# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    from math import sin  # ADC010: `import` inside a function
    return x
