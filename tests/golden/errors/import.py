# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    import math  # ADC010: `import` inside a function
    return x
