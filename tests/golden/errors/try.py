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
        x = sum([noted(v, seen) for v in (x, 2.0 * x)])
    except ValueError:
        x = seen[0]
    return x
