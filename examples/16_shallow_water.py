"""Parameters of a shallow-water code whose rows are spread over ranks: `mpirun -n 2 python …`.

Waves in a basin with friction. The initial bump and the friction are found from the height of the
water at a few places; the gradient goes back through every exchange of rows.
"""

from typing import Any

import numpy as np
from mpi4py import MPI

import adc
import adc.distributed
import adc.scipy

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
up = rank + 1 if rank + 1 < size else MPI.PROC_NULL
down = rank - 1 if rank > 0 else MPI.PROC_NULL

N, STEPS, DT, DX, GRAVITY, DEPTH = 48, 40, 0.02, 0.05, 9.81, 0.1
ROWS = np.array_split(np.arange(N), size)[rank]


def exchange(field: np.ndarray) -> None:
    """Fill the rows around those of this rank, from its neighbours."""
    comm.Sendrecv(field[1], dest=down, recvbuf=field[-1], source=up)
    comm.Sendrecv(field[-2], dest=up, recvbuf=field[0], source=down)


def heights(bump: np.ndarray, friction: float) -> np.ndarray:
    """Return the height of the water in the rows of this rank, at the end."""
    y, x = np.meshgrid(DX * ROWS, DX * np.arange(N), indexing="ij")
    h = np.zeros((len(ROWS) + 2, N))
    u = np.zeros((len(ROWS) + 2, N))
    v = np.zeros((len(ROWS) + 2, N))
    h[1:-1] = bump[0] * np.exp(-((x - bump[1]) ** 2 + (y - bump[2]) ** 2) / 0.05)
    for _ in range(STEPS):
        exchange(h)
        u[1:-1, 1:] -= DT * (GRAVITY * (h[1:-1, 1:] - h[1:-1, :-1]) / DX + friction * u[1:-1, 1:])
        v[1:-1] -= DT * (GRAVITY * (h[1:-1] - h[:-2]) / DX + friction * v[1:-1])
        if rank == 0:
            v[1] = 0.0  # the wall
        exchange(v)
        h[1:-1, :-1] -= DT * DEPTH * (u[1:-1, 1:] - u[1:-1, :-1]) / DX
        h[1:-1, -1] += DT * DEPTH * u[1:-1, -1] / DX
        if rank + 1 == size:
            h[1:-2] -= DT * DEPTH * (v[2:-1] - v[1:-2]) / DX
            h[-2] += DT * DEPTH * v[-2] / DX
        else:
            h[1:-1] -= DT * DEPTH * (v[2:] - v[1:-1]) / DX
    return h[1:-1]


def loss(p: dict[str, Any], measured: np.ndarray) -> Any:
    """Return the misfit at every fourth place of all ranks."""
    p = adc.distributed.shared(p, comm)
    found = heights(p["bump"], p["friction"])
    return comm.allreduce(np.sum((found[:, ::4] - measured[:, ::4]) ** 2))


def main() -> None:
    truth: dict[str, Any] = {"bump": np.array([0.02, 1.1, 0.7]), "friction": 0.3}
    measured = heights(truth["bump"], truth["friction"])
    start: dict[str, Any] = {"bump": np.array([0.015, 1.0, 0.8]), "friction": 0.1}

    value, slope = adc.value_and_grad(loss)(start, measured)
    fit = adc.scipy.minimize(loss, start, (measured,), options={"gtol": 1e-9})
    if rank == 0:
        print(f"{size} ranks: loss {value:.6f} at the start, {fit.fun:.1e} after {fit.nit} steps")
        print(f"slope {np.round(slope['bump'], 5)}, {slope['friction']:.6f}")
        print(f"bump {np.round(fit.x['bump'], 4)}, friction {fit.x['friction']:.4f}")
    assert np.allclose(fit.x["bump"], truth["bump"], atol=1e-3)


if __name__ == "__main__":
    main()
