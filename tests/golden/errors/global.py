# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)
G = 1.0


def count(k):
    global G  # ADC034: assigning to the global variable 'G'
    G = G + k
    return 1.0 if k == 0 else count(k - 1)


def program(x):
    return x * count(3)
