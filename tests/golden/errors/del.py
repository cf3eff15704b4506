# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    del x  # ADC010: `del`
    return x
