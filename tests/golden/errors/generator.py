# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def numbers(x):
    yield x


def program(x):
    made = numbers(x)  # ADC033: a generator that no loop consumes
    for k in range(2):
        x = x * sum(made)
    return x
