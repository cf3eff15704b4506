# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def numbers(x):
    yield x


def program(x):
    for v in numbers(x):  # ADC033: a generator
        x = x * v
    return x
