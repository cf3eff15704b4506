# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = {f"{x}": x}  # ADC010: a key known only at run time
    return x
