# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    class A:  # ADC010: `class` inside a function
        pass
    return x
