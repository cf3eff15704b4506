# mypy: ignore-errors
# ruff: noqa
import adc

ARGS = (1.5,)


def made():
    y = 1.0

    def inner(x):
        nonlocal y  # ADC034: assigning to 'y', a variable of a function outside
        y = 2.0
        return x * x

    return inner


inner = made()


def program(x):
    return x * adc.grad(inner)(x)
