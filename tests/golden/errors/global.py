# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)
G = 1.0


def program(x):
    global G  # ADC034: assigning to the global variable 'G'
    G = 2.0
    return x
