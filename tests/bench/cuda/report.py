"""`CUDA.md`: what is known of code for GPUs, a section for each command that finds it out."""

from __future__ import annotations

import re
from pathlib import Path

RECORD = Path(__file__).with_name("CUDA.md")


def replaced(text: str, title: str, section: str) -> str:
    """Return a page with a section in place of the one with its title, or after all others.

    >>> replaced("# Page\\n\\n## A\\n\\nold\\n\\n## B\\n\\nkept\\n", "A", "new")
    '# Page\\n\\n## A\\n\\nnew\\n\\n## B\\n\\nkept\\n'
    >>> replaced("# Page\\n", "A", "new")
    '# Page\\n\\n## A\\n\\nnew\\n'
    """
    head, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    made = f"{title}\n\n{section.strip()}\n"
    places = [k for k, each in enumerate(sections) if each.startswith(f"{title}\n")]
    if places:
        sections[places[0]] = made
    else:
        sections.append(made)
    return "\n\n## ".join([head.strip(), *(each.strip() for each in sections)]) + "\n"


def record(title: str, section: str) -> None:
    """Write a section of the page."""
    RECORD.write_text(replaced(RECORD.read_text(encoding="utf-8"), title, section), "utf-8")
