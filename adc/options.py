"""How a derivative is made."""

from __future__ import annotations

from dataclasses import dataclass

from adc.ir.analysis.target import Target
from adc.ir.errors import ArgumentError


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
    deterministic: bool = False

    def __post_init__(self) -> None:
        on_device = self.target == "cuda"
        if on_device and self.parallel:
            raise ArgumentError(
                'parallel does not go with target="cuda"', None, "leave one of them out"
            )
        where = "host" if on_device else "disk"
        if self.offload not in (None, where):
            what = "code on a GPU" if on_device else "code on the CPU, whose memory the host's is,"
            raise ArgumentError(
                f"offload={self.offload!r} is no place for what reverse {what} needs",
                None,
                f'use "{where}", or leave it out',
            )

    @property
    def machine(self) -> Target:
        """What code is made for."""
        return Target(
            self.target,
            parallel=bool(self.parallel),
            offload=self.offload is not None,
            # Code for the CPU is so anyway.
            deterministic=self.target == "cuda" and self.deterministic,
        )

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
            self.deterministic or inner.deterministic,
        )
