# mypy: ignore-errors
# ruff: noqa
ARGS = (bytearray(b"ab"),)


def program(x):  # ADC020: is a bytearray
    return x[0]
