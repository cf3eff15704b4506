# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    if isinstance(frozenset({1, 2}), set):  # ADC010: isinstance
        return x
    return x * x
