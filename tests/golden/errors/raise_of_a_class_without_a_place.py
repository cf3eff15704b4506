# mypy: ignore-errors
# ruff: noqa
def made():
    class Mine(Exception):
        pass

    return Mine


Mine = made()
ARGS = (1.5,)


def program(x):
    raise Mine("no")  # ADC010: raising `Mine`
