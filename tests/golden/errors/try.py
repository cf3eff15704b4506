# mypy: ignore-errors
# ruff: noqa
import math

ARGS = (1.5,)


def noted(v, seen):
    seen.append(v)
    return math.sqrt(v)  # ADC030: may then raise an exception that is caught


def program(x):
    seen = []
    try:
        x = noted(x, seen)
    except ValueError:
        x = seen[0]
    return x
