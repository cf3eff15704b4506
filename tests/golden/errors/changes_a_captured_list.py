# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)
SEEN = []


def program(x):
    SEEN.append(x)  # ADC034: outside the function, `SEEN`
    return x
