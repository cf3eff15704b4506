# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)
SEEN = []


def program(x):
    SEEN.append(x)
    return x * len(SEEN)  # ADC034: outside the function, `SEEN`, is appended to, and read
