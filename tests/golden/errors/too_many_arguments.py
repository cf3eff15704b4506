# mypy: ignore-errors
# ruff: noqa
def helper(a, b):
    return a * b


ARGS = (1.5,)


def program(x):
    return helper(x, x, x)  # ADC014: takes 2 arguments but 3
