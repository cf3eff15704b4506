# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    @abs  # ADC014: this operation on function
    def inner():
        return x
    return inner()
