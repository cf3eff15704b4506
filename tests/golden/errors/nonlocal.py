# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


def made():
    y = 1.0

    def program(x):
        nonlocal y  # ADC034: assigning to 'y', a variable of a function outside
        y = 2.0
        return x

    return program


program = made()
