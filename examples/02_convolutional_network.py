"""Train a convolutional network, written in plain NumPy, on scikit-learn's handwritten digits.

A layer is a function of arrays. One decorator makes the loss of a minibatch return its gradient
as well, with respect to every parameter, as another `Network`. `--small` trains for a moment only.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy import ndarray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import adc


class Network(NamedTuple):
    kernel1: ndarray  # height, width, channels in, channels out
    bias1: ndarray
    kernel2: ndarray
    bias2: ndarray
    weight: ndarray
    bias: ndarray


def convolve(images: ndarray, kernel: ndarray, bias: ndarray) -> ndarray:
    """Convolve images (number, height, width, channels), with a border of zeros around them."""
    n, height, width, _ = images.shape
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    out: ndarray = np.zeros((n, height, width, kernel.shape[3])) + bias
    for i in range(3):
        for j in range(3):
            out += padded[:, i : i + height, j : j + width] @ kernel[i, j]
    return out


def relu_and_pool(images: ndarray) -> ndarray:
    """Keep the largest of every 2 x 2 pixels, or 0.0."""
    n, height, width, channels = images.shape
    squares = images.reshape(n, height // 2, 2, width // 2, 2, channels)
    largest: ndarray = np.maximum(squares.max(axis=(2, 4)), 0.0)
    return largest


def scores(net: Network, images: ndarray) -> ndarray:
    """Return one number for each image and class."""
    hidden = relu_and_pool(convolve(images, net.kernel1, net.bias1))
    hidden = relu_and_pool(convolve(hidden, net.kernel2, net.bias2))
    z: ndarray = hidden.reshape(len(images), -1) @ net.weight + net.bias
    return z


@adc.value_and_grad
def loss(net: Network, images: ndarray, labels: ndarray) -> float:
    """Return the mean cross-entropy of the softmax of the scores."""
    z = scores(net, images)
    z -= z.max(axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -float(np.mean(logp[np.arange(len(labels)), labels]))


small = "--small" in sys.argv
images, labels = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8, 1) / 16.0
x, x_test, y, y_test = train_test_split(images, labels, test_size=0.25, random_state=0)
rng = np.random.default_rng(0)
net = Network(
    kernel1=rng.normal(0.0, np.sqrt(2 / 9), (3, 3, 1, 8)),
    bias1=np.full(8, 0.1),  # not 0.0, where the empty margins of the images would meet relu's kink
    kernel2=rng.normal(0.0, np.sqrt(2 / 72), (3, 3, 8, 16)),
    bias2=np.zeros(16),
    weight=rng.normal(0.0, np.sqrt(1 / 64), (64, 10)),
    bias=np.zeros(10),
)

# Is the gradient right? Compare it with a finite difference along a random direction.
gradient = loss(net, x[:32], y[:32])[1]
direction = Network(*[1e-6 * rng.normal(size=p.shape) for p in net])
above, below = Network(*map(np.add, net, direction)), Network(*map(np.subtract, net, direction))
difference = (loss(above, x[:32], y[:32])[0] - loss(below, x[:32], y[:32])[0]) / 2
change = sum(map(np.vdot, gradient, direction))
print(f"change along a random direction: {change:.9g}, by differences {difference:.9g}")
assert np.isclose(change, difference, rtol=1e-4)

mean, square = [np.zeros_like(p) for p in net], [np.zeros_like(p) for p in net]
epochs = 8 if small else 40
order = np.concatenate([rng.permutation(len(y)) for _ in range(epochs)])
batches = np.array_split(order, len(order) // 32)
with Progress() as progress:
    task = progress.add_task("training", total=len(batches))
    for step, batch in enumerate(batches):
        value, gradient = loss(net, x[batch], y[batch])
        rate = 0.005 * (1.0 - step / len(batches)) / (1.0 - 0.9 ** (step + 1))
        for p, g, m, s in zip(net, gradient, mean, square, strict=True):  # Adam
            m += 0.1 * (g - m)
            s += 0.01 * (g * g - s)
            p -= rate * m / np.sqrt(s / (1.0 - 0.99 ** (step + 1)) + 1e-12)
        progress.update(task, advance=1, description=f"loss {value:.4f}")

found = scores(net, x_test).argmax(axis=1)
table = Table("digit", "images", "right", title="Test images")
for digit in range(10):
    right = found[y_test == digit] == digit
    table.add_row(str(digit), str(len(right)), f"{100 * right.mean():.1f} %")
Console().print(table)
figure = Figure(figsize=(8, 1.2), layout="constrained")
for k, ax in enumerate(figure.subplots(1, 8, subplot_kw={"xticks": [], "yticks": []})):
    ax.imshow(net.kernel1[:, :, 0, k], cmap="RdBu", vmin=-1.5, vmax=1.5)
figure.savefig("digit_filters.png", dpi=150)
accuracy = np.mean(found == y_test)
print("filters of the first layer:", Path("digit_filters.png").resolve())
print(f"test accuracy: {100 * accuracy:.2f} %")
assert accuracy >= (0.9 if small else 0.97)
