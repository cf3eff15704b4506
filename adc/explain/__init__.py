"""What `adc explain` shows: a page for every error code, and guides.

The page of an error code (`ADC012.md`) has its meaning, a program that raises it, and a fix. A
guide (`memory.md`) is about a subject; the README lists the guides.
"""

from __future__ import annotations

from importlib import resources

from adc.ir.errors import CODES

GUIDES = (
    "memory", "threads", "gpu", "scale", "mpi", "frameworks", "external", "random", "complex",
    "numerics", "errors", "security", "benchmarks", "internals",
)  # fmt: skip


def page(topic: str) -> str:
    """Return the page of an error code or a guide, in Markdown.

    Parameters
    ----------
    topic : str
        A guide, or a code such as ``"ADC012"``; its letters and leading zeros may be left out.

    Raises
    ------
    KeyError
        If there is no such page.

    Examples
    --------
    >>> page("12").splitlines()[0]
    '# ADC012: A variable whose kind of value depends on the path taken'
    >>> page("threads").splitlines()[0]
    '# Threads'
    """
    name = topic.lower()
    if name not in GUIDES:
        name = f"ADC{topic.upper().removeprefix('ADC').zfill(3)}"
        if name not in CODES:
            raise KeyError(topic)
    return resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")


def titles() -> dict[str, str]:
    """Return the title of every page: of guides, then of error codes."""
    return {
        topic: page(topic).splitlines()[0].removeprefix("# ").removeprefix(f"{topic}: ")
        for topic in (*GUIDES, *sorted(CODES))
    }
