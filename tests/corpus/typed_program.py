"""A user's typed program that uses all of adc: `mypy --strict` takes it, and it runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import adc
from adc.testing import check_grads

Vector = NDArray[np.float64]


@dataclass
class Spring:
    rest: float
    stiffness: float


def energy(x: Vector, spring: Spring) -> float:
    total = 0.0
    for i in range(len(x) - 1):
        stretch = x[i + 1] - x[i] - spring.rest
        total += 0.5 * spring.stiffness * stretch**2
    return total


def residuals(x: Vector, y: Vector) -> tuple[Vector, float]:
    return np.sin(x) * y, float(x[0])


@adc.grad
def slope(x: float) -> float:
    return x**3


@adc.value_and_grad(argnums=(0, 1), remat="store")
def both(x: Vector, spring: Spring) -> float:
    return energy(x, spring)


@adc.grad(argnames="x", has_aux=True, cache=False)
def with_aux(x: Vector, scale: float = 2.0) -> tuple[float, dict[str, int]]:
    return float(scale * np.sum(x * adc.stop_gradient(x))), {"size": len(x)}


@adc.jit
def fast(x: Vector) -> Vector:
    return np.cumsum(x)


@adc.checkpoint
def layer(x: Vector) -> Vector:
    return np.tanh(x)


def main(folder: Path) -> list[str]:
    x, spring = np.linspace(0.0, 3.0, 4), Spring(0.5, 2.0)
    lines = [f"{slope(2.0)} {slope.__name__}"]
    value, (of_x, of_spring) = both(x, spring)
    lines.append(f"{value:.3f} {of_x.shape} {of_spring.stiffness:.3f}")
    gradient, aux = with_aux(x, scale=3.0)
    lines.append(f"{gradient.sum():.1f} {aux['size']}")
    lines.append(f"{fast(x)[-1]:.1f}")
    value, pull = adc.vjp(residuals, x, x)
    of_x, of_y = pull((np.ones(4), 1.0))
    lines.append(f"{of_x.shape} {of_y.shape}")
    (_, number), moved = adc.jvp(residuals, (x, x), (np.ones(4), None))
    lines.append(f"{number} {moved[1]}")
    lines.append(str(adc.jacrev(residuals, (0, 1))(x, x)[0][0].shape))
    lines.append(str(adc.jacfwd(residuals, argnums=[1])(x, x)[0][0].shape))
    lines.append(str(adc.hessian(energy)(x, spring).shape))
    lines.append(str(adc.hvp(energy, (x, spring), (np.ones(4), None))[0].shape))
    check_grads(lambda x: np.sum(layer(x)), (x,), order=2, modes=("fwd", "rev"))

    text: str = both.source()
    stage: str = both.ir(x, spring, after="adjoint")
    plan = both.plan()
    kept = [entry.bytes for entry in plan.entries if entry.decision == "kept"]
    assert text
    assert stage
    assert str(plan)
    lines.append(f"{len(kept) > 0} {both.signatures() != []} {both.cache_info()['hits']}")
    both.graph().save(folder / "both.dot")
    try:
        adc.grad(residuals)(x, x)
    except adc.AdcError as error:
        lines.append(f"{error.code} {error.hint != ''}")
    adc.release_memory()
    return [*lines, adc.__version__]
