"""The program of a seed: one of all kinds, of any size."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np

from tests.fuzz import names
from tests.fuzz.campaign import composed
from tests.fuzz.families import (
    fuzz_arrays,
    fuzz_complex,
    fuzz_functions,
    fuzz_jumps,
    fuzz_layers,
    fuzz_library,
    fuzz_nests,
    fuzz_pools,
    fuzz_scalars,
    fuzz_threads,
)
from tests.fuzz.program import Generated, load

# Small programs are many more per second; in large ones more meets.
_SIZES = (2, 3, 3, 4, 4, 5, 6, 8, 11, 18)


def _scalars(seed: int, size: int) -> Generated:
    return fuzz_scalars.generate(seed, size)


def _draws(seed: int, size: int) -> Generated:
    return fuzz_scalars.generate(seed, size, draws=True)


def _arrays(kind: str) -> Callable[[int, int], Generated]:
    return lambda seed, size: fuzz_arrays.generate(seed, size, kind)


def _text(kind: str, write: Callable[[int, int], str]) -> Callable[[int, int], Generated]:
    """Return the generator of programs of one argument, which may raise and print."""

    def generate(seed: int, size: int) -> Generated:
        source = write(seed, size)
        return Generated(source, load(source, seed), (fuzz_jumps.X,), (0,), seed, kind)

    return generate


# By kind: how many of 100 programs, and the generator.
KINDS: dict[str, tuple[float, Callable[[int, int], Generated]]] = {
    "scalars": (14.0, _scalars),
    "draws": (4.0, _draws),
    "arrays": (12.0, _arrays("arrays")),
    "stencils": (4.0, _arrays("stencils")),
    "containers": (6.0, _arrays("containers")),
    "mixed": (8.0, _arrays("mixed")),
    "nests": (4.0, lambda seed, size: fuzz_nests.generate(seed, max(size // 6, 1))),
    "threads": (6.0, lambda seed, size: fuzz_threads.generate(seed, max(size // 3, 1))),
    "complex": (8.0, lambda seed, size: fuzz_complex.generate(seed, max(size // 3, 1))),
    "jumps": (
        10.0,
        _text("jumps", lambda seed, size: fuzz_jumps.generate(seed, 2 if size < 8 else 3)),
    ),
    "functions": (10.0, _text("functions", lambda seed, size: fuzz_functions.generate(seed))),
    "library": (16.0, lambda seed, size: fuzz_library.generate(seed, 1 + size // 4)),
    "pools": (4.0, lambda seed, size: fuzz_pools.generate(seed)),
    "layers": (1.0, lambda seed, size: fuzz_layers.generate(seed)[0]),
}
_PARTS = ("scalars", "arrays", "stencils", "containers", "mixed", "complex", "threads", "library",
          "jumps", "functions")  # fmt: skip
_MAKERS = [KINDS[name][1] for name in _PARTS]
KINDS["composed"] = (8.0, lambda seed, size: composed.composed(_MAKERS, seed, size))
KINDS["nested"] = (3.0, lambda seed, size: composed.nested(_MAKERS, seed, size))


def generate(seed: int, kind: str = "") -> Generated:
    """Return the program of a seed; of a kind, or of the one that the seed draws."""
    rng = random.Random(f"campaign {seed}")
    drawn = rng.choices(list(KINDS), [weight for weight, _ in KINDS.values()])[0]
    size = rng.choice(_SIZES)
    generated = KINDS[kind or drawn][1](seed, size)
    source = names.reused(generated.source, seed) if rng.random() < 0.5 else generated.source
    return generated if source == generated.source else generated.with_source(source)


def fixed(generated: Generated) -> tuple[tuple[int, int], ...]:
    """Return the elements of arguments at which a program has a kink: they stay."""
    alike = (n for n, arg in enumerate(generated.args) if np.array_equal(arg, fuzz_jumps.X))
    return tuple((n, 3) for n in alike)


def may_raise(generated: Generated) -> bool:
    """Whether the programs of this kind may raise exceptions."""
    return generated.kind in ("jumps", "functions", "pools")


def may_be_refused(generated: Generated) -> bool:
    """Whether adc may refuse programs of this kind."""
    return may_raise(generated) or generated.kind in ("library", "composed", "nested")


def in_single(generated: Generated) -> bool:
    """Whether a program has numbers of lower than double precision."""
    return bool(fuzz_arrays.LOWER.search(generated.source)) or any(
        getattr(arg, "dtype", None) == "float32" for arg in generated.args
    )


def finite(value: float) -> bool:
    """Whether a value is one that derivatives can be compared for."""
    return math.isfinite(value) and abs(value) < 1e6


__all__ = ["KINDS", "fixed", "generate", "in_single", "may_be_refused", "may_raise"]
