"""Differentiate in reverse mode: return the results and the cotangents of the parameters.

The forward code is unchanged; reverse code follows it, from the last statement to the first. It
refers to the forward values that it needs by `recall`; whether they are stored or recomputed is
decided by `remat`. ::

    fn f(%x: f64[:], %w: f64) -> f64 {
      %n = dim[0] %x
      %s = for L %i in 0 to %n carrying (%acc = 0.0:f64) {
        %v = load %x[%i]
        %t = mul %v %w
        %u = sin %t
        %acc.1 = add %acc %u
        yield %acc.1
      }
      return %s
    }

becomes, with respect to `%w`, ::

    fn f.adjoint(%x: f64[:], %w: f64) -> f64, f64 {
      … as above …
      %w.ct.3 = reverse L %i.r carrying (%w.ct = 0.0:f64) {
        %t.r = recall %t
        %d = cos %t.r
        %t.ct = mul 1.0:f64 %d
        %v.r = recall %v
        %w.ct.1 = mul %t.ct %v.r
        %w.ct.2 = add %w.ct %w.ct.1
        yield %w.ct.2
      }
      return %s %w.ct.3
    }

A callee `g` between the arguments and the result gets a function `g.rev` that `mirrors` it: it
takes cotangents of g's results and returns those of g's parameters, and its `recall`s refer to
values of the call of `g` that it mirrors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from adc.ir.analysis.activity import ENTRY, Activity, analyse
from adc.ir.analysis.activity import differentiated as differentiated_by
from adc.ir.builder import zero
from adc.ir.core import (
    Apply,
    Call,
    Function,
    Gemm,
    Literal,
    Load,
    Operand,
    Stmt,
    Value,
    blocks,
    derivative_type,
    operands,
    walk,
)
from adc.ir.errors import IntegerArgumentError, NonScalarError
from adc.ir.functions import reached
from adc.ir.types import Array, Scalar
from adc.ir.walk import Names, map_stmts
from adc.passes.ad.adjoint.control import Reverser, Signature
from adc.passes.ad.opaque import Derivatives, valued


class _Callees:
    """The reverse functions, each made when reverse code first asks for its signature."""

    def __init__(self, activity: Activity, derivatives: Derivatives) -> None:
        self._activity = activity
        self._derivatives = derivatives
        self._functions = activity.functions
        self._read_only = read_only(activity.functions)
        self._signatures: dict[str, Signature] = {}
        self._waiting: list[str] = []
        # A callee's body may gain `dim` statements.
        self.forward: dict[str, Function] = {}

    def signature(self, callee: str) -> Signature:
        if callee not in self._signatures:
            fn, active = self._functions[callee], self._activity.active[callee]
            params = tuple(k for k, param in enumerate(fn.params) if param in active)
            self._signatures[callee] = Signature(
                _fresh_function(f"{callee}.rev", self._functions),
                tuple(k for k, result in enumerate(fn.results) if result in active),
                params,
                tuple(k for k in params if k in self._read_only[callee]),
            )
            self._waiting.append(callee)
        return self._signatures[callee]

    def build(self) -> list[Function]:
        """Return the reverse functions that are used, directly or by each other."""
        built = []
        while self._waiting:
            callee = self._waiting.pop(0)
            signature = self._signatures[callee]
            if signature.params and signature.results:
                built.append(self._build(self._functions[callee], callee, signature))
        return built

    def _build(self, fn: Function, callee: str, signature: Signature) -> Function:
        # The names of the callee are reserved: the recalls of the reverse function mention them.
        names = Names.of(fn)
        reverser = Reverser(
            fn, self._activity.active[callee], names, self.signature, self._derivatives
        )
        params = []
        for k in signature.results:
            params.append(_ct_param(fn.results[k], names))
            reverser.add(fn.results[k], params[-1])
        for k in signature.grown:
            params.append(_ct_param(fn.params[k], names))
            reverser.add(fn.params[k], params[-1])
        reverser.stmts(fn.body)
        results = tuple(reverser.ct(fn.params[k]) for k in signature.params)
        self.forward[callee] = replace(fn, body=reverser.shapes.body(), callees=())
        return Function(signature.name, tuple(params), tuple(reverser.code), results, mirror=callee)


def _ct_param(value: Operand, names: Names) -> Value:
    assert isinstance(value, Value)
    return Value(names.fresh(f"{value.name}.ct"), derivative_type(value.type))


def _fresh_function(name: str, taken: Mapping[str, Function]) -> str:
    while name in taken:
        name += ".1"
    return name


def read_only(functions: Mapping[str, Function]) -> dict[str, set[int]]:
    """Return for each function the positions of the array parameters that it only reads."""
    found = {
        name: {k for k, param in enumerate(fn.params) if isinstance(param.type, Array)}
        for name, fn in functions.items()
    }
    # Calls pass arrays on: assume that all are only read, and iterate to a fixed point.
    before = -1
    while before != (before := sum(map(len, found.values()))):
        for name, fn in functions.items():
            passed = set(fn.results)
            for stmt in walk(fn.body):
                match stmt:
                    case Apply(op=op) if op.asks_shape:
                        pass
                    case Load():
                        pass
                    case Gemm(array=array):
                        passed.add(array)
                    case Call(callee=callee, args=args):
                        passed |= {
                            arg for k, arg in enumerate(args) if k not in found.get(callee, ())
                        }
                    case _:
                        passed |= set(operands(stmt))
                for block in blocks(stmt):
                    passed |= set(block.yields)
            found[name] = {k for k in found[name] if fn.params[k] not in passed}
    return found


def _check(fn: Function, wrt: Sequence[int], seed: bool) -> None:
    for k in wrt:
        if fn.params[k].type.kind != "f":
            raise IntegerArgumentError(
                f"{fn.name}: {fn.params[k].name} is {fn.params[k].type}, not floating-point"
            )
    if seed and not (fn.results and isinstance(fn.results[0].type, Scalar)):
        raise NonScalarError(f"{fn.name} does not return a scalar")


def adjoint(fn: Function, wrt: Sequence[int], *, seed: bool = True, value: bool = True) -> Function:
    """Return `fn` with the cotangents of its parameters `wrt` as further results.

    With `seed`, the first result is differentiated, further ones are passed through; a result
    that is no float has zero cotangents. Otherwise parameters ``ct0, ct1, …`` follow those of
    `fn`, one for each float result. Cotangents of arrays have C layout, those of numbers are
    NumPy scalars. Without `value`, the first result is zero: code that computes nothing else is
    dead.

    Raises
    ------
    IntegerArgumentError
        Where a parameter in `wrt` is no float.
    NonScalarError
        With `seed`, where the first result is no scalar.
    NotDifferentiableError
        Where an operation without a derivative rule lies on the path.
    """
    _check(fn, wrt, seed)
    floats = [k for k, result in enumerate(fn.results) if result.type.kind == "f"]
    differentiated = [k for k in floats if k == 0 or not seed]
    fn = _recording(fn, wrt, differentiated)
    activity = analyse(fn, wrt, differentiated)
    derivatives = Derivatives(fn)
    callees = _Callees(activity, derivatives)
    names = Names.of(fn)
    reverser = Reverser(fn, activity.active[ENTRY], names, callees.signature, derivatives)
    params = list(fn.params)
    for k in differentiated:
        ty = derivative_type(fn.results[k].type)
        if seed:
            reverser.add(fn.results[k], Literal(1.0, ty))
        else:
            params.append(Value(names.fresh(f"ct{len(params) - len(fn.params)}"), ty))
            reverser.add(fn.results[k], params[-1])
    reverser.stmts(fn.body)
    cotangents = [reverser.ct(fn.params[k]) for k in wrt]
    body = (*reverser.shapes.body(), *reverser.code)
    results = fn.results if value else (zero(fn.results[0].type), *fn.results[1:])
    reversed_ = callees.build()
    # The adjoint has a name of its own: recursive calls still mean the primal.
    primal = [
        replace(_plain(f), callees=(), derived=())
        for name, f in activity.functions.items()
        if name != ENTRY
    ]
    return reached(
        Function(
            _fresh_function(f"{fn.name}.adjoint", activity.functions),
            tuple(params),
            body,
            (*results, *cotangents),
            (*(callees.forward.get(callee.name, callee) for callee in primal), *reversed_),
            fn.mirror,
            derived=derivatives.all(),
        )
    )


def _recording(fn: Function, wrt: Sequence[int], differentiated: Sequence[int]) -> Function:
    """Return `fn` with calls that follow a rule replaced by calls of what the rule has for them.

    That is the recording part of a reverse rule, and the value that a tangent rule returns.
    """
    recorders: dict[str, Function] = {}
    table = {each.name: each for each in fn.callees}
    for each in fn.callees:
        if each.rule is None or not each.rule.functions:
            continue
        if each.rule.kind == "vjp":
            recorders[each.name] = table[each.rule.functions[0]]
        elif each.rule.kind == "jvp":
            made = valued(each, table[each.rule.functions[0]])
            recorders[each.name] = replace(made, name=_fresh_function(made.name, table))
    if not recorders:
        return fn
    always = {each.name for each in fn.callees if each.rule is not None and each.rule.always}
    reached_ = differentiated_by(fn) if always else frozenset()
    activity = analyse(fn, wrt, differentiated)
    names = Names.of(fn)
    for each in fn.callees:
        names.add(Names.of(each))

    def record(where: str, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        active = activity.active.get(where, frozenset())
        done: list[Stmt] = []
        for stmt in stmts:
            if (
                isinstance(stmt, Call)
                and (recorder := recorders.get(stmt.callee))
                and (
                    (stmt.callee in always and where in reached_)
                    or any(result in active for result in stmt.results)
                )
            ):
                more = recorder.results[len(stmt.results) :]
                kept = tuple(Value(names.fresh("kept"), result.type) for result in more)
                done.append(replace(stmt, callee=recorder.name, results=(*stmt.results, *kept)))
                continue
            done.append(map_stmts(stmt, lambda stmts: record(where, stmts)))
        return tuple(done)

    callees = {each.name: each for each in (*fn.callees, *recorders.values())}
    bodies = {name: record(name, each.body) for name, each in callees.items()}
    recorded = tuple(replace(each, body=bodies[name]) for name, each in callees.items())
    return replace(fn, body=record(ENTRY, fn.body), callees=recorded)


def _plain(fn: Function) -> Function:
    """Drop the rule of a function that stands for another, once its calls have been reversed."""
    own = fn.rule is not None and fn.rule.kind in ("recorded", "valued")
    return replace(fn, rule=None) if own else fn


__all__ = ["adjoint", "read_only"]
