# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    while x < 0.0:
        y = x
        x = x + 1.0
    return y  # ADC011: 'y' may be unbound here
