# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x, step=1):
    try:
        for k in range(0, 3, step):  # ADC030: catching this `ValueError`
            x = x * k
    except ValueError:
        x = 0.0
    return x
