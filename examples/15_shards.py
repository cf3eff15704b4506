"""Logistic regression over shards in files, by the processes of this machine."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import adc
import adc.distributed
import adc.scipy


def loss(p: dict[str, Any], data: np.ndarray) -> float:
    """Return minus the log-likelihood of a shard, whose last column has the labels."""
    logits = data[:, :-1] @ p["weights"] + p["intercept"]
    return float(np.sum(np.logaddexp(0.0, logits) - data[:, -1] * logits))


def main() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    data = np.column_stack([x[:, :5], y])

    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / f"{k}.npy") for k in range(6)]
        for file, part in zip(files, np.array_split(data, len(files)), strict=True):
            np.save(file, part)

        both = adc.distributed.value_and_grad(loss, loader=np.load)
        both.check({"weights": np.ones(5), "intercept": 0.1}, files)
        start = {"weights": np.zeros(5), "intercept": 0.0}
        value, slope = both(start, files)
        fit = adc.scipy.minimize(both, start, (files,), options={"gtol": 1e-6})

    whole = adc.value_and_grad(loss)(start, data)
    print(f"loss {value:.6f} at the start, {fit.fun:.6f} after {fit.nit} steps")
    print(f"difference from all rows at once: {abs(value - whole[0]):.1e}")
    assert np.allclose(slope["weights"], whole[1]["weights"])

    at_once = adc.scipy.minimize(loss, start, (data,), options={"gtol": 1e-6})
    print(f"weights {np.round(fit.x['weights'], 3)}")
    assert np.allclose(fit.x["weights"], at_once.x["weights"], atol=1e-4)


if __name__ == "__main__":
    main()
