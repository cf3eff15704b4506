"""Do not return arrays that a callee was passed and has written in place.

In buffer form, a result that always is a parameter tells the caller nothing new::

    fn f(%a: f64[:]) -> f64, f64[:] {          fn f(%a: f64[:]) -> f64 {
      write %a[0] 1.0:f64                        write %a[0] 1.0:f64
      return 2.0:f64 %a                          return 2.0:f64
    }                                          }
    …                                          …
      %t, %x.1 = call C0 f(%x)                   %t = call C0 f(%x)
      write %x.1[1] %t                           write %x[1] %t

Arrays that branches and loops carry for that reason only are no longer yielded. For recursive
functions, results are assumed to be parameters until that is refuted (Wegman and Zadeck's
optimism). Returning an array takes longer than a short function does. Functions that recompute
iterations (`checkpoint`) do return the cotangents that they were passed; `peak` relies on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adc.ir.core import Apply, Block, Call, For, Function, If, Operand, Pop, Stmt, Value, While
from adc.ir.functions import is_of_schedule, recomputes_iterations
from adc.ir.types import Array
from adc.ir.walk import carried_yields, map_operands, substitute


class _Roots:
    """Which array of a function each of its values is; None as long as nothing is known."""

    def __init__(self, fn: Function, known: dict[str, tuple[int | None, ...]]) -> None:
        # For each result of each callee, the parameter that it is, -1 if it is none.
        self.known = known
        self.of: dict[Value, Value] = {p: p for p in fn.params if isinstance(p.type, Array)}
        self.fn = fn

    def run(self) -> None:
        before: dict[Value, Value] | None = None
        while before != self.of:
            before = dict(self.of)
            self.stmts(self.fn.body)

    def results(self) -> tuple[int | None, ...]:
        """Return the parameter that each result is, -1 if it is none, None if unknown."""
        found: list[int | None] = []
        for result in self.fn.results:
            root = self.root(result)
            if isinstance(result.type, Array) and root is None:
                found.append(None)
            else:
                found.append(self.fn.params.index(root) if root in self.fn.params else -1)
        return tuple(found)

    def root(self, operand: Operand) -> Value | None:
        return self.of.get(operand) if isinstance(operand, Value) else None

    def join(self, value: Value, *sources: Operand) -> None:
        """Let `value` be the array of all known sources; itself if they differ."""
        if not isinstance(value.type, Array) or self.of.get(value) == value:
            return
        found = {root for source in sources if (root := self.root(source)) is not None}
        if len(found) == 1 and next(iter(found)).type == value.type:
            self.of[value] = found.pop()
        elif found:
            self.of[value] = value

    def stmts(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            match stmt:
                case Apply(results=results) | Pop(results=results):
                    self.of.update((v, v) for v in results if isinstance(v.type, Array))
                case If(results=results, then=then, orelse=orelse):
                    self.stmts(then.stmts)
                    self.stmts(orelse.stmts)
                    for k, value in enumerate(results):
                        self.join(value, then.yields[k], orelse.yields[k])
                case For(results=results, body=body) | While(results=results, body=body):
                    for k, end in enumerate(carried_yields(stmt)):
                        self.join(body.params[k], stmt.init[k], end)
                    self.stmts(body.stmts)
                    for value, param in zip(results, body.params, strict=True):
                        # It has the same type inside and after the loop, or is its own array.
                        if isinstance(value.type, Array) and value.type != param.type:
                            self.of.update({param: param, value: value})
                        elif param in self.of:
                            self.of[value] = value if self.of[param] == param else self.of[param]
                case Call(results=results, callee=callee, args=args):
                    places = self.known.get(callee) or (-1,) * len(results)
                    for value, place in zip(results, places, strict=True):
                        if not isinstance(value.type, Array) or place is None:
                            continue
                        if place == -1:
                            self.of[value] = value
                        else:
                            self.join(value, args[place])


class _Rewriter:
    def __init__(self, roots: _Roots, known: dict[str, tuple[int | None, ...]]) -> None:
        self.known = known
        self.env: dict[Value, Operand] = {v: r for v, r in roots.of.items() if v != r}

    def own(self, values: Sequence[Value]) -> list[int]:
        """Return the positions of the values that are arrays of their own."""
        return [k for k, value in enumerate(values) if value not in self.env]

    def operand(self, operand: Operand) -> Operand:
        return substitute(operand, self.env)

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        return tuple(self.stmt(stmt) for stmt in stmts)

    def stmt(self, stmt: Stmt) -> Stmt:
        stmt = map_operands(stmt, self.operand)
        match stmt:
            case If(results=results, then=then, orelse=orelse):
                kept = self.own(results)
                arms = [self.block(arm, kept, (), 0) for arm in (then, orelse)]
                left = tuple(results[k] for k in kept)
                return replace(stmt, results=left, then=arms[0], orelse=arms[1])
            case For(results=results, body=body) | While(results=results, body=body):
                kept = self.own(body.params)
                inner = self.block(body, kept, body.params, int(isinstance(stmt, While)))
                left = tuple(results[k] for k in kept)
                init = tuple(stmt.init[k] for k in kept)
                return replace(stmt, results=left, init=init, body=inner)
            case Call(results=results, callee=callee) if callee in self.known:
                places = self.known[callee]
                left = tuple(v for v, p in zip(results, places, strict=True) if p == -1)
                return replace(stmt, results=left)
        return stmt

    def block(
        self, block: Block, kept: Sequence[int], params: Sequence[Value], first: int
    ) -> Block:
        """Return a block that yields its first `first` values, and the others in `kept`."""
        yields = (*block.yields[:first], *(block.yields[k + first] for k in kept))
        return Block(
            tuple(params[k] for k in kept if params),
            self.stmts(block.stmts),
            tuple(map(self.operand, yields)),
        )


def in_place(fn: Function) -> Function:
    """Return `fn`, which is in buffer form, with callees that return only what they create."""
    known: dict[str, tuple[int | None, ...]] = {
        each.name: (-1 if _is_kept(each) else None,) * len(each.results) for each in fn.callees
    }
    alone = {name for name, places in known.items() if -1 in places}
    changed = True
    while changed:
        found = {
            name: known[name] if name in alone else roots.results()
            for name, roots in _roots(fn, known).items()
            if name in known
        }
        changed, known = found != known, found
    # Only results of functions that never return are still unknown.
    known = {name: tuple(-1 if p is None else p for p in places) for name, places in known.items()}
    roots = _roots(fn, known)
    callees: list[Function] = []
    for callee in fn.callees:
        rewriter = _Rewriter(roots[callee.name], known)
        kept = [k for k, place in enumerate(known[callee.name]) if place == -1]
        results = tuple(rewriter.operand(callee.results[k]) for k in kept)
        callees.append(replace(callee, body=rewriter.stmts(callee.body), results=results))
    rewriter = _Rewriter(roots[fn.name], known)
    results = tuple(map(rewriter.operand, fn.results))
    return replace(fn, body=rewriter.stmts(fn.body), results=results, callees=tuple(callees))


def _is_kept(fn: Function) -> bool:
    """Whether a function keeps its results: one that `checkpoint` or `online` made or calls."""
    return recomputes_iterations(fn) or is_of_schedule(fn)


def _roots(fn: Function, known: dict[str, tuple[int | None, ...]]) -> dict[str, _Roots]:
    found = {each.name: _Roots(each, known) for each in (*fn.callees, fn)}
    for roots in found.values():
        roots.run()
    return found


__all__ = ["in_place"]
