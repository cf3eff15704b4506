# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = x
    def inner():
        nonlocal y  # ADC034: `nonlocal`
        y = 2.0
    inner()
    return y
