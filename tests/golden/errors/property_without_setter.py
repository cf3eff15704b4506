# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


class Spring:
    def __init__(self, stiffness):
        self._stiffness = stiffness

    @property
    def stiffness(self):
        return self._stiffness


def program(x):
    spring = Spring(x)
    spring.stiffness = 2.0 * x  # ADC014: property 'stiffness' of 'Spring' object has no setter
    return spring.stiffness
