# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    y = x * x

    class A:  # ADC010: a class that captures 'y', which is no constant
        def f(self):
            return y

    return A().f()
