# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    return sorted((x, 1.0))[0]  # ADC010: `sorted`
