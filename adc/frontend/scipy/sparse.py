"""`scipy.sparse`: its classes, which code uses as classes of `adc.library`, and its functions."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.frontend.control import program
from adc.frontend.core import classes
from adc.frontend.core.bindings import NONE, Binding, Num, Static, static
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.outside import pin
from adc.frontend.numpy import library
from adc.frontend.numpy.plain import composed
from adc.frontend.values import arguments, elementwise, views
from adc.frontend.values import (
    arrays as arrays_,
)
from adc.ir.builder import integer
from adc.ir.core import Literal
from adc.ir.foreign import STAND_INS, StandIn
from adc.library.scipy import sessions
from adc.library.scipy.sparse import (
    assembled,
    construction,
    formats,
    host,
    iterative,
    spectra,
    systems,
)
from adc.library.scipy.sparse.base import Sparse

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


def _assembled(name: str) -> Callable[[dict[str, Any]], Any]:
    """Return what makes an array of SciPy's of its entries (`adc.library.scipy.sparse.tables`)."""

    def made(items: dict[str, Any]) -> Any:
        module, table = sys.modules["scipy.sparse"], items["_table"]
        at = np.nonzero(table.state)[0]
        dtype = np.asarray(table.data[0]).dtype
        found = getattr(module, name)(items["shape"], dtype=dtype)
        for k in at:
            found[table.row[k], table.col[k]] = dtype.type(table.data[k])
        return found

    return made


def _enter(name: str, stand_in: StandIn) -> None:
    STAND_INS[f"scipy.sparse.{name}"] = stand_in
    library.enter_named({f"scipy.sparse.{name}": composed.constructed(stand_in.cls)})


for _name in formats.__all__:
    _cls, _pattern = getattr(formats, _name), _PATTERNS[_name[:3]]
    _enter(_name, StandIn(_cls, ("data", *_pattern), _pattern, _maker(_name, _pattern)))
for _name in assembled.__all__:
    _enter(_name, StandIn(getattr(assembled, _name), (), (), _assembled(_name)))

library.enter_named(
    {
        f"scipy.sparse.linalg.{name}": composed.in_python(getattr(systems, name))
        for name in ("factorized", "splu")
    }
)


def _spsolve(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    given = arguments.match(lo, "A b permc_spec? use_umfpack?", args, kwargs, node)
    a, b = (elementwise.materialised(lo, given[name], node) for name in "Ab")
    one = False
    if not classes.is_instance(b):
        dims = views.dims_of(lo, arrays_.as_array(lo, b, node))
        one = len(dims) == 2 and dims[1] == integer(1)
    whole = [a, b, given.get("permc_spec", NONE), lo.num(one)]
    fn = systems.spsolve
    assert isinstance(fn, types.FunctionType)
    return program.call_function(lo, fn, whole, {}, node)


library.enter_named({"scipy.sparse.linalg.spsolve": _spsolve})


def _solved_outside(
    lo: Lowerer, callee: Static, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding | None:
    """Lower a call of `solve` of factors that the program has made before."""
    owner: Any = getattr(callee.value, "__self__", None)
    cls = getattr(sys.modules.get("scipy.sparse.linalg"), "SuperLU", None)
    if cls is None or type(owner) is not cls or callee.value.__name__ != "solve":
        return None
    pin(lo, callee)
    given = arguments.match(lo, "rhs trans?", args, kwargs, node)
    solve = sessions.solver(lambda b, trans: owner.solve(b, "NT"[trans]), host.like_right_side)
    is_complex = owner.solve(np.zeros(owner.shape[0])).dtype.kind == "c"
    whole: list[Binding] = [
        Static(solve), lo.num(is_complex), elementwise.materialised(lo, given["rhs"], node),
        given.get("trans", static("N")),
    ]  # fmt: skip
    fn = systems.solved_outside
    assert isinstance(fn, types.FunctionType)
    return program.call_function(lo, fn, whole, {}, node)


library.enter_objects(_solved_outside)
library.enter_named(
    {
        f"scipy.sparse.{name}": composed.in_python(getattr(construction, name), ("k",))
        for name in construction.__all__
    }
)


library.enter_named(
    {
        f"scipy.sparse.linalg.{name}": composed.in_python(getattr(iterative, name))
        for name in iterative.__all__
        if name != "LinearOperator"
    }
)
library.enter_named(
    {"scipy.sparse.linalg.LinearOperator": composed.constructed(iterative.LinearOperator)}
)


library.enter_named(
    {
        f"scipy.sparse.linalg.{name}": composed.in_python(getattr(spectra, name), ("k",))
        for name in spectra.__all__
    }
)


def _is_zero(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    (given,) = args
    if isinstance(given, Num):
        return lo.num(isinstance(given.operand, Literal) and given.operand.value == 0)
    return lo.num(False)


library.enter({assembled.is_zero: _is_zero})


def _issparse(
    lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    given = arguments.match(lo, "x", args, kwargs, node)["x"]
    cls = classes.instance_class(given) if classes.is_instance(given) else None
    return lo.num(cls is not None and issubclass(cls, Sparse))


library.enter_named({"scipy.sparse.issparse": _issparse})
