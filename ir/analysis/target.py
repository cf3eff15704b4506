"""The target: the kind of machine that code is made for, and the options that users choose."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("cpu", "cuda")


@dataclass(frozen=True)
class Target:
    """What code is made for. Code for one target is not code for another.

    Attributes
    ----------
    kind : str
        ``"cpu"``, or ``"cuda"``, a GPU.
    parallel : bool
        Whether CPU threads share loops.
    offload : bool
        Whether tapes are elsewhere: those of the CPU on the disk, those of a GPU in host memory.
        They then take no memory.
    deterministic : bool
        Whether sums on a GPU are reproducible to the last bit; those on the CPU always are.
    python : bool
        Whether the source that is made for the CPU runs in CPython, and is not compiled.

    Examples
    --------
    >>> Target("cuda", offload=True).host
    Target(kind='cpu', parallel=False, offload=True, deterministic=False, python=False)
    """

    kind: str = "cpu"
    parallel: bool = False
    offload: bool = False
    deterministic: bool = False
    python: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is no kind of target: use one of {', '.join(KINDS)}")

    @property
    def cuda(self) -> bool:
        return self.kind == "cuda"

    @property
    def host(self) -> Target:
        """The CPU, with tapes where this target has them: plans for a GPU start from its plans."""
        return Target("cpu", self.parallel, self.offload)


CPU = Target()

__all__ = ["CPU", "KINDS", "Target"]
