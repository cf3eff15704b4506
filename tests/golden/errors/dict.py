# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = {"a": x}  # ADC010: a dict
    return x
