# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def numbers(x):
    yield x
    yield x * x


def program(x):
    made = numbers(x)
    for v in made:
        if v > 1.0:
            break
    return sum(made)  # ADC033: numbers(), a generator from which another loop may have drawn,
