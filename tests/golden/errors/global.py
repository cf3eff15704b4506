# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    global G  # ADC034: `global`
    return x
