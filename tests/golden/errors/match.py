# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    match x:
        case float():  # ADC010: this pattern
            return x
