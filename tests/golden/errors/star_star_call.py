# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    return max(x, **x)  # ADC014: `**` needs a dict
