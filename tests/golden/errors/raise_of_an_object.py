# mypy: ignore-errors
# ruff: noqa
problem = ValueError("no")
ARGS = (1.5,)


def program(x):
    raise problem  # ADC010: this `raise`
