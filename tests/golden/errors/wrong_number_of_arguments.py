# mypy: ignore-errors
# ruff: noqa
def helper(a, b):
    return a * b


ARGS = (1.5,)


def program(x):
    return helper(x)  # ADC014: helper() is missing the argument 'b'
