"""The display of a derivative in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from adc.inspect.plan import PlanReport
from adc.passes.remat.plan import Plan


def derivative_html(name: str, signatures: Sequence[str], plan: Plan | None) -> str:
    """Return the HTML of a derivative: what it is compiled for, and its last plan.

    >>> derivative_html("<adc grad(f)>", [], None)
    '<div><code>&lt;adc grad(f)&gt;</code>, not compiled yet</div>'
    """
    if not signatures:
        return f"<div><code>{escape(name)}</code>, not compiled yet</div>"
    items = "".join(f"<li><code>{escape(text)}</code></li>" for text in signatures)
    table = PlanReport.of(plan)._repr_html_() if plan is not None else ""
    return f"<div><code>{escape(name)}</code>, compiled for<ul>{items}</ul>{table}</div>"
