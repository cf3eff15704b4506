# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    @abs  # ADC010: a decorator on an inner function
    def inner():
        return x
    return inner()
