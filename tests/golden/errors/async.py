# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def program(x):
    async def f():  # ADC032: `async def`
        return x

    return x
