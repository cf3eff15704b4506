"""Calls that are differentiated by what is declared of the callee, not by its statements.

A callee may have a `Rule`, which a user gave, or be `Derived`: a derivative of another function.
The derivatives of these are derivatives of the same function again. With ``f`` a function of ``x``
that returns one number, ``g`` its gradient and ``D[v]`` a derivative along ``v``, ::

    r = D[v] g(x)         r.dot  =  D[v] D[x.dot] g(x)  +  D[v.dot] g(x)
                          x.ct  +=  D[v] D[r.ct] g(x)
                          v.ct  +=  D[r.ct] g(x)

because derivatives commute. Reverse over reverse is forward over reverse: there is no second tape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from adc.ir.builder import Builder, zero
from adc.ir.core import (
    Block,
    Call,
    Derived,
    For,
    Function,
    If,
    Operand,
    Print,
    Reverse,
    Rule,
    Stmt,
    Value,
    While,
    derivative_type,
    walk,
)
from adc.ir.errors import NotDifferentiableError, Span
from adc.ir.types import INT, Array, Scalar
from adc.ir.walk import Names, map_blocks

Groups = tuple[tuple[int, ...], ...]


class Derivatives:
    """The derivatives of functions that a function calls; asking for one may add it."""

    def __init__(self, fn: Function) -> None:
        self.functions: Mapping[str, Function] = {each.name: each for each in fn.callees}
        self.declared = {each.name: each for each in fn.derived}
        self._taken = {*self.functions, *self.declared, fn.name}

    def all(self) -> tuple[Derived, ...]:
        return tuple(self.declared.values())

    def opaque(self, name: str) -> Derived | Function | None:
        """Return what is declared of a callee; None if its statements are differentiated."""
        if name in self.declared:
            return self.declared[name]
        found = self.functions.get(name)
        return found if found is not None and found.rule is not None else None

    def get(self, of: Function, wrt: tuple[int, ...], along: Groups, loc: Span | None) -> Derived:
        """Return a derivative of `of`, in reverse mode."""
        for each in self.declared.values():
            if (each.mode, each.wrt, each.along) == ("reverse", wrt, along) and each.of == of:
                return each
        if along:
            _check_symmetric(of, loc)
        name = base = f"{of.name}_d{len(along) + 1}"
        count = 1
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        made = Derived(name, "reverse", without_prints(of) if along else of, wrt, along)
        self.declared[name] = made
        return made

    def transposed(self, rule: Rule, wrt: tuple[int, ...], loc: Span | None) -> Derived:
        """Return what pulls cotangents back through a tangent function, which is linear."""
        assert rule.kind == "jvp"
        tangent = self._closed(self.functions[rule.functions[0]])
        half = len(tangent.results) - sum(r.type.kind == "f" for r in tangent.results) // 2
        moving = range(half, len(tangent.results))
        return self.get(contracted(without_prints(tangent), moving), wrt, (), loc)

    def _closed(self, fn: Function) -> Function:
        """Return a callee with the functions that it may call."""
        others = tuple(each for each in self.functions.values() if each.name != fn.name)
        return reached(replace(fn, callees=others, derived=self.all()))


def _check_symmetric(of: Function, loc: Span | None) -> None:
    """Raise where a rule of a user's decides: derivatives by it need not commute."""
    for each in (of, *of.callees):
        if each.rule is not None:
            raise NotDifferentiableError(
                f"a gradient of {of.name} is differentiated in reverse, and {each.name} in it has "
                "a custom rule",
                loc,
                "use `adc.hvp` or `adc.jvp` of the gradient: second derivatives that follow a "
                "custom rule are taken forward over reverse",
            )


# -- functions -------------------------------------------------------------------------------------


def called(fn: Function) -> Iterator[str]:
    """Yield the names of the functions that `fn` itself may call."""
    for stmt in walk(fn.body):
        if isinstance(stmt, Call):
            yield stmt.callee
    if fn.rule is not None:
        yield from fn.rule.functions
    if fn.mirror:
        yield fn.mirror


def reached(fn: Function) -> Function:
    """Return `fn` without the callees and derivatives that no call can reach."""
    table = {each.name: each for each in fn.callees}
    found: set[str] = set()
    todo = [fn]
    while todo:
        names = set(called(todo.pop())) - found
        found |= names
        todo += [table[name] for name in names if name in table]
    return replace(
        fn,
        callees=tuple(each for each in fn.callees if each.name in found),
        derived=tuple(each for each in fn.derived if each.name in found),
    )


def without_prints(fn: Function) -> Function:
    """Return a function that prints nothing: what it computes was printed elsewhere."""

    def quiet(stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
        return tuple(
            map_blocks(stmt, lambda b: Block(b.params, quiet(b.stmts), b.yields))
            if isinstance(stmt, If | For | While | Reverse)
            else stmt
            for stmt in stmts
            if not isinstance(stmt, Print)
        )

    callees = tuple(replace(each, body=quiet(each.body)) for each in fn.callees)
    return replace(fn, body=quiet(fn.body), callees=callees)


def contracted(fn: Function, which: Sequence[int]) -> Function:
    """Return the function of the parameters of `fn`, and of weights, that weights its results.

    Its one result is the sum of all elements of the results `which`, each times its weight.
    """
    builder = Builder(Names.of(fn))
    total: Operand = zero(Scalar("f64"))
    weights: list[Value] = []
    for k in which:
        result = fn.results[k]
        weights.append(builder.value("weight", derivative_type(result.type)))
        if isinstance(result, Value) and isinstance(result.type, Array):
            total = _dot(builder, result, weights[-1], total, ())
        else:
            total = _plus(builder, total, result, weights[-1])
    return replace(
        fn,
        name=f"{fn.name}_weighted",
        params=(*fn.params, *weights),
        body=(*fn.body, *builder.stmts),
        results=(total,),
    )


def _plus(builder: Builder, total: Operand, a: Operand, b: Operand) -> Value:
    product: Operand = builder.apply("mul", a, b)
    if product.type.dtype != "f64":
        product = builder.apply("cast", product, params=("f64",))
    return builder.apply("add", total, product, hint="total")


def _dot(builder: Builder, a: Value, b: Value, total: Operand, index: tuple[Value, ...]) -> Operand:
    axis = len(index)
    assert isinstance(a.type, Array)
    if axis == a.type.rank:
        return _plus(builder, total, builder.load(a, index), builder.load(b, index))
    size = builder.apply("dim", a, params=(axis,), hint="n")
    i, carried = builder.value("i", INT), builder.value("total", Scalar("f64"))
    with builder.block() as stmts:
        found = _dot(builder, a, b, carried, (*index, i))
    result = builder.value("total", Scalar("f64"))
    label = builder.names.fresh("L")
    body = Block((carried,), tuple(stmts), (found,))
    builder.emit(For((result,), label, i, size, (total,), body))
    return result


__all__ = ["Derivatives", "called", "contracted", "reached", "without_prints"]
