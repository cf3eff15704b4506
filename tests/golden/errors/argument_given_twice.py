# mypy: ignore-errors
# ruff: noqa
def helper(a, b):
    return a * b


ARGS = (1.5,)


def program(x):
    return helper(x, a=x)  # ADC014: got multiple values for argument 'a'
