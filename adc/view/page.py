"""Facts to a page: one file without a server, a network, or anything to install."""

from __future__ import annotations

import json
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

# In the order in which they run.
SCRIPTS = (
    "draw.js", "steps.js", "source.js", "memory.js", "graph.js", "schedule.js", "growth.js",
    "main.js",
)  # fmt: skip
# Nothing is loaded, and nothing but the page's own scripts runs.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "form-action 'none'; base-uri 'none'"
)


def page(facts: dict[str, Any], pane: str = "") -> str:
    """Return the page of a document of facts, opened at a pane.

    All text is data in JSON, in which no sign has a meaning in HTML; scripts put it into the page
    as text.
    """
    script = "\n".join(_part(name) for name in SCRIPTS)
    parts = {
        "TITLE": escape(str(facts.get("title", ""))),
        "POLICY": escape(POLICY),
        "PANE": escape(pane),
        "STYLE": _part("page.css"),
        "FACTS": embedded(facts),
        "SCRIPT": f'"use strict";\n(() => {{\n{script}\n}})();',
    }
    text = _part("page.html")
    found = []
    # One walk over the template: what is put in is not looked at again.
    for part in text.split("{{"):
        name, end, rest = part.partition("}}")
        found.append(parts[name] + rest if end and name in parts else part)
    return "".join(found)


def embedded(facts: Any) -> str:
    """Return JSON that can stand in a script element, whatever its strings are.

    >>> embedded({"</script>": "&"})
    '{"\\\\u003c/script\\\\u003e":"\\\\u0026"}'
    """
    text = json.dumps(facts, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@cache
def _part(name: str) -> str:
    return (files(__package__) / "page" / name).read_text(encoding="utf-8")


__all__ = ["embedded", "page"]
