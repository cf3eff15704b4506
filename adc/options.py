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
    progress: bool = True
    target: str = "cpu"

    def over(self, inner: Options) -> Options:
        """Return these for a derivative of a derivative, whose own hold where nothing is said."""
        plan = self if self.memory is not None or self.remat != "auto" else inner
        return Options(
            plan.remat,
            self.cache and inner.cache,
            plan.memory,
            self.offload or inner.offload,
            self.parallel or inner.parallel,
            self.progress and inner.progress,
            inner.target if self.target == "cpu" else self.target,
        )
