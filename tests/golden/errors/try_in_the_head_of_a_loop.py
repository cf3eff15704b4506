# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    try:
        for k in range(0, 3, int(x)):  # ADC030: catching this `ValueError`
            x = x * k
    except ValueError:
        x = 0.0
    return x
