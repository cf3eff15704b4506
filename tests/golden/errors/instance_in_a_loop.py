# mypy: ignore-errors
# ruff: noqa
ARGS = (1.5,)


class Layers:
    def __init__(self, weights):
        self.weights = weights

    def __getitem__(self, k):
        return self.weights[k]


def program(x):
    for w in Layers([x, 2.0]):  # ADC014: cannot loop over a Layers
        x = x * w
    return x
