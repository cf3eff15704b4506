# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    raise KeyError(x)  # ADC010: `KeyError` with an argument that is not a string
