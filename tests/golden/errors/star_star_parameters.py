# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    f = lambda **k: x
    return f()  # ADC010: `**` parameters
