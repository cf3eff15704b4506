# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def numbers(x):
    try:  # ADC033: `yield` in `try` or `with`, in a generator that several places draw from,
        yield x
        yield x * x
    finally:
        print("done")


def program(x):
    made = numbers(x)
    return next(made) + sum(made)
