# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def ask(x):
    y = yield x  # ADC033: the value of `yield`
    yield x * y


def program(x):
    for v in ask(x):
        x = x * v
    return x
