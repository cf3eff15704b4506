# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    count = 0

    def f(n):
        nonlocal count
        count += 1
        return x if n == 0 else f(n - 1)

    return f(3) * count  # ADC010: a function with `nonlocal` here
