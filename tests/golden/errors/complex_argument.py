# mypy: ignore-errors
# ruff: noqa
ARGS = (1j,)


def program(x):  # ADC020: complex
    return x
