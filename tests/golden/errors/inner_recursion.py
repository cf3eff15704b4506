# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    count = 0

    def f(y):
        nonlocal count
        count += 1
        return y if y < 1.0 else f(0.5 * y)

    return f(x) * count  # ADC010: a function with `nonlocal` here
