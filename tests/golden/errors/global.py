# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)
G = 1.0


def halved(y):
    global G  # ADC034: assigning to the global variable 'G'
    G = G + y
    return y if y < 1.0 else halved(0.5 * y)


def program(x):
    return halved(x)
