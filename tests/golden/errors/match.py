# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


class Point:
    pass


def program(x):
    p = Point()
    if x > 1.0:
        p.v = x
    match p:
        case Point(v=v):  # ADC010: a pattern with the attribute `v`, which only some paths set,
            return v
