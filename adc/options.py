"""How a derivative is made."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """What the user chose; the same for every signature of a derivative."""

    remat: str = "auto"
    cache: bool = True
    memory: int | None = None
    offload: str | None = None
    parallel: bool | int = False

    def over(self, inner: Options) -> Options:
        """Return these for a derivative of a derivative, whose own hold where nothing is said."""
        plan = self if self.memory is not None or self.remat != "auto" else inner
        cache, offload = self.cache and inner.cache, self.offload or inner.offload
        parallel = self.parallel or inner.parallel
        return Options(plan.remat, cache, plan.memory, offload, parallel)
