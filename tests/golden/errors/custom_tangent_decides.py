# mypy: ignore-errors
# ruff: noqa
import adc

ARGS = (0.3,)


@adc.custom_jvp
def hinge(x):
    return max(x, 0.0)


@hinge.defjvp
def rule(primals, tangents):
    (x,), (dx,) = primals, tangents
    return hinge(x), max(dx, 0.0)  # ADC024: the rule of hinge() is not linear


def program(x):
    return hinge(x) * x
