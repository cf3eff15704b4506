# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def ask(x):
    y = x * (yield x)  # ADC033: the value of `yield`
    yield y


def program(x):
    for v in ask(x):
        x = x * v
    return x
