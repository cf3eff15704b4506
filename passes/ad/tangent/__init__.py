"""Differentiate in forward mode: also return the tangents of the results.

Every statement is followed by the one that computes the tangents of its results::

    fn f(%x: f64, %w: f64) -> f64 {       fn f.dot(%x: f64, %w: f64, %x.dot: f64) -> f64, f64 {
      %t = mul %x %w                        %t = mul %x %w
      %y = sin %t                           %t.dot = mul %x.dot %w
      return %y                             %y = sin %t
    }                                       %d = cos %t
                                            %y.dot = mul %t.dot %d
                                            return %y %y.dot
                                          }

Only values that depend on a parameter in `wrt` have tangents. The pass works on any value form,
reverse code included: ``%v.r = recall %v`` is followed by ``%v.r.dot = recall %v.dot``. So
Hessian-vector products are the tangent of the adjoint, and the tangent of that is the third
derivative.

Operations on numbers need no rule of their own: their `vjp` multiplies the derivative by the
cotangent as it would by the tangent. Operations on whole arrays are in `tangent.body.ARRAYS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.analysis.activity import ENTRY, functions, varied
from adc.ir.core import Function, Value, derivative_type
from adc.ir.errors import IntegerArgumentError
from adc.ir.functions import reached
from adc.ir.types import Array
from adc.ir.walk import Names
from adc.passes.ad.opaque import Derivatives, with_tangents
from adc.passes.ad.tangent.body import Program, Tangents


class _Functions:
    """Makes the tangent functions of a function and of the callees that need one."""

    def __init__(
        self, fn: Function, wrt: Sequence[int], suffix: str, writer: type[Tangents]
    ) -> None:
        self.functions = functions(fn)
        self._writer = writer
        self.varied = varied(fn, wrt)
        self.renamed: dict[str, str] = {}
        self.suffix = suffix
        for name, each in self.functions.items():
            # A callee without tangents stays as it is, unless it mirrors one that has some.
            mirrored = bool(each.mirror) and bool(self.varied.get(each.mirror))
            if name != ENTRY and (self.varied[name] or mirrored):
                self.renamed[name] = self._fresh(name + suffix)
        self.derivatives = Derivatives(fn)
        self._program = Program(self.functions, self.varied, self.renamed, suffix, self.derivatives)
        self._done: dict[str, tuple[Tangents, Function]] = {}
        # A mirroring function must not take the names that it may recall.
        self._names: dict[str, Names] = {}
        for name, each in self.functions.items():
            names = self._names.setdefault(each.mirror or name, Names())
            names.add(Names.of(each))

    def _fresh(self, name: str) -> str:
        while name in self.functions or name in self.renamed.values():
            name += ".1"
        return name

    def _tangents(self, name: str) -> Tangents:
        """Return a writer for the function `name`."""
        fn = self.functions[name]
        tangents = self._writer(name, self._program, self._names[fn.mirror or name])
        if fn.mirror in self.renamed:
            tangents.recalled = self._callee(fn.mirror)[0].dots
        elif fn.mirror:
            tangents.recalled = {}
        return tangents

    def _callee(self, name: str) -> tuple[Tangents, Function]:
        if name not in self._done:
            fn, t = self.functions[name], self._tangents(name)
            params = [t.fresh(param) for param in fn.params if t.varied(param)]
            self._done[name] = t, self._finish(fn, t, self.renamed[name], params, sparse=True)
        return self._done[name]

    def _finish(
        self, fn: Function, t: Tangents, name: str, params: Sequence[Value], *, sparse: bool
    ) -> Function:
        t.stmts(fn.body)
        which = [
            k
            for k, result in enumerate(fn.results)
            if t.varied(result) or (not sparse and result.type.kind == "f")
        ]
        results = t.with_dots(fn.results, which)
        mirror = self.renamed.get(fn.mirror, fn.mirror)
        body = tuple(t.builder.stmts)
        return Function(name, (*fn.params, *params), body, results, mirror=mirror)

    def entry(self, wrt: Sequence[int]) -> Function:
        fn, t = self.functions[ENTRY], self._tangents(ENTRY)
        params = []
        for k in wrt:
            param = fn.params[k]
            ty = derivative_type(param.type)
            if isinstance(param.type, Array):
                ty = replace(param.type, dtype=ty.dtype)
            params.append(Value(t.builder.names.fresh(t.hint(param)), ty))
            t.dots[param] = params[-1]
            if ty != derivative_type(ty):
                t.dots[param] = t.builder.apply("copy", params[-1], hint=t.hint(param))
        made = self._finish(fn, t, self._fresh(fn.name + self.suffix), params, sparse=False)
        callees: list[Function] = []
        for name, each in self.functions.items():
            if name != ENTRY:
                callees.append(replace(each, callees=(), derived=()))
            if name in self.renamed:
                callees.append(self._callee(name)[1])
        return reached(replace(made, callees=tuple(callees), derived=self.derivatives.all()))


def tangent(
    fn: Function,
    wrt: Sequence[int],
    *,
    suffix: str = ".dot",
    writer: type[Tangents] = Tangents,
) -> Function:
    """Return `fn` with tangents of the parameters `wrt` and of every float result.

    The tangents of the parameters follow the parameters, those of the results follow the results.
    Those of numbers are NumPy scalars; a result that depends on no parameter in `wrt` has zeros.
    `writer` writes the statements.

    Raises
    ------
    IntegerArgumentError
        Where a parameter in `wrt` is no float.
    NotDifferentiableError
        Where an operation without a derivative rule depends on such a parameter.
    """
    for k in wrt:
        if fn.params[k].type.kind != "f":
            raise IntegerArgumentError(
                f"{fn.name}: {fn.params[k].name} is {fn.params[k].type}, not floating-point"
            )
    return _Functions(with_tangents(fn), wrt, suffix, writer).entry(wrt)


__all__ = ["tangent"]
