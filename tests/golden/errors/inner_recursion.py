# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    def f(n):
        return x if n == 0 else f(n - 1)  # ADC010: recursion of an inner function
    return f(3)
