# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    if x > 0.0:
        y = x
    return y  # ADC011: 'y' may be unbound here
