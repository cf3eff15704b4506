"""`np.fft`, `scipy.fft` and `scipy.fftpack`: calls of `adc.library`.

What takes complex arrays apart for it is here, too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from adc.frontend.core.bindings import NONE, ArrayRef, Binding, TupleOf
from adc.frontend.core.lower import Lowerer
from adc.frontend.numpy import library, linear
from adc.frontend.values import arguments, structures
from adc.frontend.values.arguments import Handler
from adc.library import cosines, fft, fourier
from adc.library.scipy import fftpack

_ALONG, _ALL = "n? axis? norm?", "s? axes? norm?"
_NUMPY, _SCIPY = "out?", "overwrite_x? workers? * plan?"
# Whether the memory of the argument is reused, and by how many threads: both change no result.
_IGNORED = ("overwrite_x", "workers")


def _transform(fn: Callable[..., Any], spec: str) -> Handler:
    def handler(
        lo: Lowerer, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
    ) -> Binding:
        given = arguments.match(lo, spec, args, kwargs, node)
        for name in ("out", "plan", "device", "xp"):
            if not arguments.is_none(given.pop(name, None)):
                hint = "assign to it: `out[:] = ...`" if name == "out" else f"leave out `{name}`"
                raise lo.unsupported(
                    f"the argument {name!r} of `{ast.unparse(node.func)}`", node, hint
                )
        for name in ("axis", "type"):
            if name in given:
                arguments.constant_int(lo, given[name], node, f"`{name}`")
        for item in arguments.sequence(lo, given.get("axes", NONE)) or ():
            arguments.constant_int(lo, item, node, "an axis")
        kept = {name: value for name, value in given.items() if name not in _IGNORED}
        first = kept.pop(spec.split()[0])
        return linear.run(lo, fn, [first], kept, node)

    return handler


def _parts(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    (z,) = args
    assert isinstance(z, ArrayRef)
    return TupleOf(structures.in_parts(lo, z, node).record.items)


def _whole(lo: Lowerer, args: list[Binding], kwargs: Any, node: ast.Call) -> Binding:
    re, im = (structures.detached(lo, arg, node, {}) for arg in args)
    return structures.whole(lo, re, im)


_HANDLERS: dict[Any, Handler] = {fourier.parts: _parts, fourier.whole: _whole}
_NAMED: dict[str, Handler] = {}

for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    for _each, _form in ((_name, _ALONG), (f"{_name}n", _ALL), (f"{_name}2", _ALL)):
        _fn = getattr(fft, _each)
        if hasattr(np.fft, _each):
            _HANDLERS[getattr(np.fft, _each)] = _transform(_fn, f"a {_form} {_NUMPY}")
        _NAMED[f"scipy.fft.{_each}"] = _transform(_fn, f"x {_form} {_SCIPY}")
for _name, _form in (
    ("fftfreq", "n d? * device? xp?"), ("rfftfreq", "n d? * device? xp?"),
    ("fftshift", "x axes?"), ("ifftshift", "x axes?"),
):  # fmt: skip
    _handler = _transform(getattr(fft, _name), _form)
    _HANDLERS[getattr(np.fft, _name)] = _NAMED[f"scipy.fft.{_name}"] = _handler
for _name in ("next_fast_len", "prev_fast_len"):
    _NAMED[f"scipy.fft.{_name}"] = _transform(getattr(fft, _name), "target real?")
for _name in ("dct", "idct", "dst", "idst"):
    for _each, _form in ((_name, "n? axis?"), (f"{_name}n", "s? axes?")):
        _NAMED[f"scipy.fft.{_each}"] = _transform(
            getattr(cosines, _each),
            f"x type? {_form} norm? overwrite_x? workers? orthogonalize?",
        )

# `scipy.fftpack` is the older package.
for _name in ("fft", "ifft"):
    _NAMED[f"scipy.fftpack.{_name}"] = _transform(getattr(fft, _name), "x n? axis? overwrite_x?")
for _name in ("fft2", "ifft2", "fftn", "ifftn"):
    _NAMED[f"scipy.fftpack.{_name}"] = _transform(
        getattr(fftpack, _name), "x shape? axes? overwrite_x?"
    )
for _name in ("dct", "idct", "dst", "idst"):
    _NAMED[f"scipy.fftpack.{_name}"] = _transform(
        getattr(fftpack, _name), "x type? n? axis? norm? overwrite_x?"
    )
_NAMED["scipy.fftpack.next_fast_len"] = _transform(fft.next_fast_len, "target")

library.enter(_HANDLERS)
library.enter_named(_NAMED)
for _name in ("ifft", "ifftn", "ifft2"):
    _fn, _form = getattr(fft, f"real_{_name}"), _ALONG if _name == "ifft" else _ALL
    library.enter_real(
        getattr(np.fft, _name), _transform(_fn, f"a {_form} {_NUMPY}"),
        f"scipy.fft.{_name}", _transform(_fn, f"x {_form} {_SCIPY}"),
    )  # fmt: skip
