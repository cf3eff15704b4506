"""Forecast sunspots with a recurrent network (gated recurrent units), one year ahead.

The network is a loop over the years. It is trained on 1700 to 1929 and compared on 1930 to 2008
with next year like this year, and with a linear regression on the two years before.
"""

import sys
from pathlib import Path

import numpy as np
from numpy import ndarray

import adc

Parameters = dict[str, ndarray]


def sigmoid(x: ndarray) -> ndarray:
    y: ndarray = 1.0 / (1.0 + np.exp(-x))
    return y


def forecast(net: Parameters, series: ndarray) -> ndarray:
    """Return what the network expects to follow each number of the series."""
    state = np.zeros(len(net["out"]))
    expected = np.zeros(len(series))
    for t in range(len(series)):
        seen = np.concatenate([series[t : t + 1], state])
        update = sigmoid(net["update"] @ seen + net["update_bias"])
        reset = sigmoid(net["reset"] @ seen + net["reset_bias"])
        seen[1:] *= reset
        state = (1.0 - update) * state + update * np.tanh(net["new"] @ seen + net["new_bias"])
        expected[t] = series[t] + net["out"] @ state  # the network says what changes
    return expected


@adc.value_and_grad
def loss(net: Parameters, series: ndarray, decay: float) -> float:
    """Return the mean squared error after the first ten years, and a penalty on the weights."""
    error = forecast(net, series[:-1])[10:] - series[11:]
    penalty = 0.0
    for parameter in net.values():
        penalty += np.sum(parameter**2)
    return float(np.mean(error**2) + decay * penalty)


table = np.loadtxt(Path(__file__).parent / "data" / "sunspots.csv", delimiter=",", skiprows=3)
years, series = table[:, 0], np.sqrt(table[:, 1]) / 5.0  # the root evens out the noise
train = series[years < 1930]

rng = np.random.default_rng(0)
hidden = 8
decay = 3e-3  # of 1e-4, 1e-3 and 3e-3 the best on 1870 to 1929, when trained on what is before
net = {"out": 0.1 * rng.normal(size=hidden)}
for name in ["update", "reset", "new"]:
    net[name] = rng.normal(size=(hidden, hidden + 1)) / np.sqrt(hidden + 1)
    net[name + "_bias"] = np.zeros(hidden)

_, gradient = loss(net, train, decay)
for name, parameter in net.items():
    change = 1e-6 * rng.normal(size=parameter.shape)
    above = loss(net | {name: parameter + change}, train, decay)[0]
    below = loss(net | {name: parameter - change}, train, decay)[0]
    assert np.isclose(np.vdot(gradient[name], change), (above - below) / 2, rtol=1e-4), name

mean = {name: np.zeros_like(parameter) for name, parameter in net.items()}
square = {name: np.zeros_like(parameter) for name, parameter in net.items()}
steps = 300 if "--small" in sys.argv else 1000
for step in range(steps):
    value, gradient = loss(net, train, decay)
    for name in net:  # Adam
        mean[name] += 0.1 * (gradient[name] - mean[name])
        square[name] += 0.01 * (gradient[name] ** 2 - square[name])
        scale = np.sqrt(square[name] / (1.0 - 0.99 ** (step + 1))) + 1e-8
        rate = 0.01 * (1.0 - step / steps) / (1.0 - 0.9 ** (step + 1))
        net[name] -= rate * mean[name] / scale
    if step % (steps // 10) == 0:
        print(f"step {step:5}   loss {value:.5f}")


def rms(expected: ndarray) -> float:
    """Return the error of forecasts for the years from 1930 on."""
    return float(np.sqrt(np.mean((expected - series[1:])[years[1:] >= 1930] ** 2)))


lagged = np.column_stack([series[1:-1], series[:-2], np.ones(len(series) - 2)])
known = years[2:] < 1930
line = np.linalg.lstsq(lagged[known], series[2:][known])[0]
network = rms(forecast(net, series)[:-1])
linear = rms(np.append(np.nan, lagged @ line))
persistent = rms(series[:-1])
print("root mean square error from 1930 on, of the scaled root of the number of sunspots")
print(f"  like this year     {persistent:.4f}")
print(f"  linear regression  {linear:.4f}")
print(f"  recurrent network  {network:.4f}")
assert network < 0.75 * persistent
