"""Functions of the IR that passes call: those of `adc.ir.schedule`, in the text form.

`schedule.ir` is what the front end makes of them; a test compares.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from adc.ir.core import Function
from adc.ir.text.parser import parse


@functools.cache
def schedules() -> Mapping[str, Function]:
    """Return the functions by their names."""
    text = Path(__file__).with_name("schedule.ir").read_text(encoding="utf-8")
    fn = parse(text)
    return {each.name: replace(each, callees=()) for each in (*fn.callees, fn)}


__all__ = ["schedules"]
