# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    with open(x):  # ADC031: `with`
        return x
