# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    @abs  # ADC014: `abs` is not defined for function 'inner'
    def inner():
        return x
    return inner()
