"""What `view()` returns: a page that notebooks show and that can be written to a file."""

from __future__ import annotations

from collections.abc import Collection
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adc.view.page import page

if TYPE_CHECKING:
    from adc.compiler.dispatch import Code
    from adc.frontend.inputs.places import Arguments

PANES = ("source", "steps", "memory", "plan", "graph", "schedule", "growth")


class View:
    """A page about one call of a derivative; notebooks show it.

    Attributes
    ----------
    facts : dict
        All that the page shows; `adc.view.facts` describes it.
    """

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts

    def html(self, pane: str = "") -> str:
        """Return the page, opened at a pane, such as ``"plan"``."""
        return page(self.facts, pane)

    def save(self, path: str | Path, pane: str = "") -> None:
        """Write the page to a file."""
        Path(path).write_text(self.html(pane), encoding="utf-8")

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html())}" width="100%" height="760" '
            'style="border: 1px solid #8888" sandbox="allow-scripts" '
            f'title="{escape(str(self.facts["title"]))}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<adc view of {self.facts['title']}: {len(self.facts['steps'])} steps>"


def view(
    code: Code, title: str, values: Arguments, *, show: bool = False, measure: bool = True,
    iterations: Collection[int] = (),
) -> View:  # fmt: skip
    """Return the page of a derivative; `adc.view.facts.facts` says what these are."""
    from adc.view.facts import facts  # all of the compiler, which a page does not need

    return View(facts(code, title, values, show=show, measure=measure, iterations=iterations))


__all__ = ["PANES", "View", "view"]
