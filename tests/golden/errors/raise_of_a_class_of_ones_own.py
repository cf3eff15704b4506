# mypy: ignore-errors
# ruff: noqa
class Mine(Exception):
    pass


ARGS = (1.5,)


def program(x):
    raise Mine("no")  # ADC010: this `raise`
