# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    raise KeyError(x)  # ADC010: `KeyError` of anything but a text
