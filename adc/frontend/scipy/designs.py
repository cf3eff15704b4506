"""Functions of constants: filters, nodes of quadrature rules, zeros, matrices, constants of nature.

They are called while code is compiled, and what they return is part of the code.
"""

from __future__ import annotations

import ast
import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.frontend.core import dispatch, numbers
from adc.frontend.core.bindings import Binding, Num, Static, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.numpy import library
from adc.frontend.values import arguments
from adc.frontend.values.arguments import Handler
from adc.ir.core import Literal
from adc.ir.types import BOOL, F64, I64

_HINT = "write it as a constant, or call the function outside and pass what it returns"


def _value(lo: Lowerer, given: Binding, what: str, node: ast.Call) -> Any:
    """Return an argument that is a constant."""
    items = arguments.sequence(lo, given)
    if items is not None:
        found = [_value(lo, item, what, node) for item in items]
        return tuple(found) if isinstance(given, TupleOf) else found
    match given:
        case Num(operand=Literal(value=value)):
            return value
        case Static(value=bool() | str() | None as value):
            return value
        case Num():
            error = lo.constant_needed(given, what, node)
            error.hint = _HINT
            raise error
    raise lo.unsupported(f"{kind_of(given)} as {what}", node, _HINT)


def _binding(lo: Lowerer, value: Any, what: str, node: ast.Call) -> Binding:
    """Return what a function has returned, as a part of the program."""
    if isinstance(value, tuple):
        return TupleOf(tuple(_binding(lo, item, what, node) for item in value))
    if isinstance(value, np.ndarray) and value.dtype in (np.float64, np.int64):
        if 0 < value.size <= numbers.MAX_TUPLE:
            return dispatch.apply(lo, Static(np.array), [_nested(lo, value.tolist())], {}, node)
    elif isinstance(value, np.float64):
        return Num(Literal(float(value), F64))
    elif isinstance(value, np.int64):
        return Num(Literal(int(value), I64))
    elif isinstance(value, int | float):
        return lo.num(value)
    elif isinstance(value, str):
        return Static(value)
    raise lo.unsupported(f"this result of {what}", node, "call it outside and pass the result")


def _nested(lo: Lowerer, value: Any) -> Binding:
    if isinstance(value, list):
        return TupleOf(tuple(_nested(lo, item) for item in value))
    return lo.num(value)


def _called(name: str) -> Handler:
    module, _, own = name.rpartition(".")
    what = f"`{name}`"

    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        argument = f"an argument of {what}"
        given = [_value(lo, arg, argument, node) for arg in args]
        named = {key: _value(lo, arg, argument, node) for key, arg in kwargs.items()}
        function: Callable[..., Any] = getattr(importlib.import_module(module), own)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                found = function(*given, **named)
            except (KeyError, TypeError, ValueError) as error:
                text = numbers.escaped(str(error.args[0] if error.args else error))
                numbers.check(lo, Literal(False, BOOL), type(error).__name__, text)
        if warned:
            raise lo.unsupported(f"{what} with a warning ({warned[0].message})", node, _HINT)
        return _binding(lo, found, what, node)

    return handler


_SIGNAL = (
    "bessel", "buttord", "butter", "cheb1ord", "cheb2ord", "cheby1", "cheby2", "ellip", "ellipord",
    "firls", "firwin", "firwin2", "iircomb", "iirdesign", "iirfilter", "iirnotch", "iirpeak",
    "kaiser_atten", "kaiser_beta", "kaiserord", "remez",
)  # fmt: skip
_SPECIAL = (
    "jn_zeros", "jnp_zeros", "roots_chebyc", "roots_chebys", "roots_chebyt", "roots_chebyu",
    "roots_gegenbauer", "roots_genlaguerre", "roots_hermite", "roots_hermitenorm", "roots_jacobi",
    "roots_laguerre", "roots_legendre", "roots_sh_chebyt", "roots_sh_chebyu", "roots_sh_jacobi",
    "roots_sh_legendre", "yn_zeros", "ynp_zeros",
)  # fmt: skip
_LINALG = ("hadamard", "helmert", "hilbert", "invhilbert", "invpascal")
_POLYNOMIAL = (
    "chebyshev.chebgauss", "chebyshev.chebpts1", "chebyshev.chebpts2", "hermite.hermgauss",
    "hermite_e.hermegauss", "laguerre.laggauss", "legendre.leggauss",
)  # fmt: skip

library.enter_named(
    {
        name: _called(name)
        for package, names in (
            ("signal", _SIGNAL),
            ("special", _SPECIAL),
            ("linalg", _LINALG),
            ("constants", ("precision", "unit", "value")),
        )
        for name in (f"scipy.{package}.{each}" for each in names)
    }
)
library.enter_named({"scipy.integrate.newton_cotes": _called("scipy.integrate.newton_cotes")})
for _name in _POLYNOMIAL:
    _module, _, _own = _name.partition(".")
    library.enter(
        {getattr(getattr(np.polynomial, _module), _own): _called(f"numpy.polynomial.{_name}")}
    )
