# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = {f"{x}": x}  # ADC010: an f-string of run-time values
    return x
