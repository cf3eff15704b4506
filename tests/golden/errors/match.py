# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    match x:  # ADC010: `match`
        case _:
            return x
