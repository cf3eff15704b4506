"""`scipy.sparse`: its classes, which code uses as classes of `adc.library`, and its functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import library
from adc.frontend.values import elementwise, objects
from adc.frontend.values.arguments import Handler
from adc.ir.foreign import STAND_INS, StandIn
from adc.library.scipy.sparse import arrays

# What is kept of a pattern, by format.
_PATTERNS = {
    "csr": ("indices", "indptr", "shape"),
    "csc": ("indices", "indptr", "shape"),
    "coo": ("row", "col", "shape"),
    "dia": ("offsets", "shape"),
}


def _maker(name: str, pattern: tuple[str, ...]) -> Callable[[dict[str, Any]], Any]:
    """Return what makes an array of SciPy's of its attributes."""
    *places, _ = pattern

    def made(items: dict[str, Any]) -> Any:
        cls = getattr(sys.modules["scipy.sparse"], name)
        held = [items[place] for place in places]
        if "row" in pattern:
            held = [tuple(held)]
        return cls((items["data"], *held), shape=items["shape"])

    return made


def _constructed(cls: type) -> Handler:
    def handler(lo: Lowerer, args: Any, kwargs: Any, node: Any) -> Any:
        args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
        return objects.construct(lo, cls, args, kwargs, node)

    return handler


for _name in arrays.__all__:
    _cls, _pattern = getattr(arrays, _name), _PATTERNS[_name[:3]]
    STAND_INS[f"scipy.sparse.{_name}"] = StandIn(
        _cls, ("data", *_pattern), _pattern, _maker(_name, _pattern)
    )
    library.enter_named({f"scipy.sparse.{_name}": _constructed(_cls)})
