# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    return x * hash(x)  # ADC010: `hash`
