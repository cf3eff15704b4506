# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    try:  # ADC030: `try`
        return x
    except ValueError:
        return 0.0
