"""See the textbook network run: matmul, add, relu, matmul and a loss, forward and reverse.

It writes `five_operations.html`, a page for a browser that shows every step of the gradient, what
it keeps and why, and prints the same in words. The notebook `14_five_operations.ipynb` is the same
walk. `--small` takes a smaller batch.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

import adc


@adc.value_and_grad(argnums=(1, 2, 3))
def loss(x: ndarray, w1: ndarray, b1: ndarray, w2: ndarray, y: ndarray) -> Any:
    h = x @ w1 + b1
    a = np.maximum(h, 0.0)
    out = a @ w2
    return np.mean((out - y) ** 2)


def data(batch: int = 64) -> tuple[ndarray, ...]:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(batch, 8)), rng.normal(size=(batch, 1))
    return x, rng.normal(size=(8, 32)), np.zeros(32), rng.normal(size=(32, 1)), y


def main(batch: int) -> None:
    given = data(batch)
    page = loss.view(*given)
    page.save("five_operations.html")
    facts = page.facts
    hidden = given[0].shape[0] * given[1].shape[1] * 8

    print(f"{len(facts['steps'])} steps are in {Path('five_operations.html').absolute()}\n")
    print("What the reverse pass needs, and where it gets it from:")
    for line in facts["lines"]:
        for entry in line.get("entries", ()):
            print(f"  line {line['line']}: {entry['text']}")
    memory = facts["memory"]
    print(
        f"\nA call holds {memory['plan']} bytes at most, and the run needed {memory['run']}. Two\n"
        f"arrays of {hidden} bytes are nearly all of it: x @ w1, and the derivative by h, which\n"
        "the gradient of w1 multiplies with x. All else happens in one loop over the rows:\n"
        f"of relu it keeps {memory['tape']} bytes, a bit of truth for each number of a row, until\n"
        "the reverse code of the row has read it."
    )
    policies = facts["growth"]["policies"]
    print(
        f"If all values were stored, it would be {policies['store']['bytes']} bytes: with one\n"
        "loop over the rows there is little to store."
    )


if __name__ == "__main__":
    main(16 if "--small" in sys.argv else 64)
