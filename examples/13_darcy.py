"""Find how permeable the ground is from pressures in wells: an inverse problem of Darcy's law.

Water is injected in one corner of a square and produced in the other one. The pressure solves
``-div(k grad p) = q``, by finite volumes on 40 x 40 cells: a sparse system that `spsolve` solves.
From pressures in 49 wells, with noise, the logarithm of `k` in each of the 1,600 cells is found by
`scipy.optimize.minimize`. The gradient by all of them takes one more solution, with the factors
that there are already.
"""

import sys

import matplotlib
import numpy as np
from numpy import ndarray
from scipy import sparse
from scipy.optimize import minimize
from scipy.sparse.linalg import spsolve

import adc

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # after the choice of what draws

SPREAD = 0.002  # of the noise
SMOOTH = 5e-2


def pressures(logk: ndarray, source: ndarray) -> ndarray:
    """Return the pressures in the cells, for the logarithms of permeabilities, both n x n."""
    n = logk.shape[0]
    k = np.exp(logk)
    cells = np.arange(n * n).reshape(n, n)
    # Harmonic means: through the halves of two cells one after the other.
    across = 2.0 / (1.0 / k[:, 1:] + 1.0 / k[:, :-1])
    down = 2.0 / (1.0 / k[1:] + 1.0 / k[:-1])
    flow = np.concatenate((across.ravel(), down.ravel()))
    first = np.concatenate((cells[:, :-1].ravel(), cells[:-1].ravel()))
    second = np.concatenate((cells[:, 1:].ravel(), cells[1:].ravel()))
    values = np.concatenate((flow, flow, -flow, -flow, np.full(1, 1.0)))
    rows = np.concatenate((first, second, first, second, np.zeros(1, int)))
    columns = np.concatenate((first, second, second, first, np.zeros(1, int)))
    # What has the same place is added. The first cell leaks: else pressures had no level.
    matrix = sparse.coo_array((values, (rows, columns)), shape=(n * n, n * n)).tocsc()
    found: ndarray = spsolve(matrix, source.ravel())
    return found


def misfit(logk: ndarray, source: ndarray, wells: ndarray, measured: ndarray) -> float:
    """Return how far the pressures are from the measured ones, and how rough the ground is."""
    n = source.shape[0]
    field = logk.reshape(n, n)
    off = (pressures(field, source)[wells] - measured) / SPREAD
    rough = np.sum(np.diff(field, axis=0) ** 2) + np.sum(np.diff(field, axis=1) ** 2)
    return float(0.5 * np.sum(off**2) / len(wells) + SMOOTH * rough)


def main(small: bool) -> None:
    """Compare the gradient with differences, minimise the misfit, and draw both fields."""
    n = 16 if small else 40
    at = (np.arange(n) + 0.5) / n
    y, x = np.meshgrid(at, at, indexing="ij")
    truth = 1.5 * np.exp(-((x - 0.65) ** 2 + (y - 0.35) ** 2) / 0.04)
    truth -= 1.5 * np.exp(-((x - 0.3) ** 2 + (y - 0.7) ** 2) / 0.05)
    source = np.zeros((n, n))
    source[0, 0], source[-1, -1] = 1.0, -1.0
    step = n // 8
    wells = np.arange(n * n).reshape(n, n)[step::step, step::step].ravel()
    rng = np.random.default_rng(0)
    measured = pressures(truth, source)[wells] + SPREAD * rng.standard_normal(len(wells))
    data = (source, wells, measured)

    slope = adc.value_and_grad(misfit)
    start = np.zeros(n * n)
    value, gradient = slope(start, *data)
    along = rng.standard_normal(n * n)
    ahead, behind = (misfit(start + h * along, *data) for h in (1e-5, -1e-5))
    off = abs(gradient @ along / ((ahead - behind) / 2e-5) - 1.0)
    print(f"the gradient by {n * n} numbers agrees with differences to {off:.0e}")
    assert off < 1e-6

    steps = 40 if small else 200
    fit = minimize(slope, start, data, "L-BFGS-B", jac=True, options={"maxiter": steps})
    found = fit.x.reshape(n, n)
    alike = np.corrcoef(found.ravel(), truth.ravel())[0, 1]
    print(f"misfit {value:.0f}, {fit.fun:.2f} after {fit.nit} steps; correlation {alike:.2f}")
    assert fit.fun < 0.05 * value
    assert alike > (0.5 if small else 0.6)

    figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.6))
    for each, field, title in zip(axes, (truth, found), ("ground", "found"), strict=True):
        image = each.imshow(field, vmin=-1.6, vmax=1.6, cmap="RdBu", extent=(0, 1, 1, 0))
        each.set(title=title)
    axes[1].plot(x.ravel()[wells], y.ravel()[wells], "k.", markersize=3)
    figure.colorbar(image, ax=axes, label="logarithm of permeability")
    figure.savefig("darcy.png", dpi=120)


if __name__ == "__main__":
    main("--small" in sys.argv)
