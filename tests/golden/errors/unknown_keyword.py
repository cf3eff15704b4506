# mypy: ignore-errors
# ruff: noqa
def helper(a, b):
    return a * b


ARGS = (1.5,)


def program(x):
    return helper(x, c=x)  # ADC014: got an unexpected keyword argument 'c'
