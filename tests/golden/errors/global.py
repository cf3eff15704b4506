# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    global G  # ADC010: `global`
    return x
