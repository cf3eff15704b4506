"""Split complex numbers into real and imaginary parts; arrays of them into two arrays.

Before::

    %z = complex %z.re %z.im
    for L0 %i in 0 to %n carrying (%w = %w0) {
      %a = load %z[%i]
      %b = mul %a %a
      %w.1 = store %w[%i] %b
      yield %w.1
    }

After::

    for L0 %i in 0 to %n carrying (%w.re = %w0.re, %w.im = %w0.im) {
      %a.re = load %z.re[%i]
      %a.im = load %z.im[%i]
      %d = mul %a.re %a.re
      %d.1 = mul %a.im %a.im
      %d.2 = sub %d %d.1
      …
      %w.1.re = store %w.re[%i] %d.2
      %w.1.im = store %w.im[%i] %d.5
      yield %w.1.re %w.1.im
    }

Parameters and results of the function are real already: only those of its callees are split. What
a row does to the parts is its trait `parts`. Later passes, rules and back ends know real numbers
only, so derivatives, plans and machine code of complex programs need nothing of their own.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from adc.ir.builder import Builder
from adc.ir.core import (
    ELEMENT,
    SHAPE,
    Apply,
    Block,
    Call,
    Check,
    CustomRule,
    Derived,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Load,
    Operand,
    Print,
    Stmt,
    Store,
    Value,
    While,
    operands,
)
from adc.ir.errors import IRError
from adc.ir.opdef import OPS
from adc.ir.ops.complexes import imag, real, whole
from adc.ir.rules import parts_rule
from adc.ir.types import INT, Array, Scalar, Type, parse_type
from adc.ir.walk import Names, defined, map_blocks, map_operands, with_results

Parts = tuple[Operand, ...]


def split_complex(fn: Function) -> Function:
    """Return `fn` with two real numbers in place of each complex one."""
    derived = tuple(map(in_parts, fn.derived))
    callees = tuple(map(_split, fn.callees))
    done = _split(fn)
    if done is fn and all(map(_is, zip(callees, fn.callees, strict=True))) and all(
        map(_is, zip(derived, fn.derived, strict=True))
    ):  # fmt: skip
        return fn
    return replace(done, callees=callees, derived=derived)


def in_parts(derived: Derived) -> Derived:
    """Return a derivative of what a function becomes: its parameters have other positions."""
    of = split_complex(derived.of)
    if of is derived.of:
        return derived
    places = _places(derived.of.params)

    def moved(positions: tuple[int, ...]) -> tuple[int, ...]:
        return tuple([places[k] for k in positions])

    along = tuple(map(moved, derived.along))
    return replace(derived, of=of, wrt=moved(derived.wrt), along=along)


def _places(params: Sequence[Value]) -> list[int]:
    """Return the positions of parameters among what they become."""
    places: list[int] = []
    count = 0
    for param in params:
        places.append(count)
        count += 2 if _is_complex(param) else 1
    return places


def _rule(fn: Function) -> CustomRule | None:
    """Return the rule of what a function becomes: parameters with derivatives are real already."""
    rule = fn.rule
    if rule is None:
        return None
    places = _places(fn.params)
    first = rule.positions[:1] if rule.kind == "recorded" else ()  # the number of real results
    rest = [places[k] for k in rule.positions[len(first) :]]
    return replace(rule, positions=(*first, *rest))


def _is(pair: tuple[object, object]) -> bool:
    return pair[0] is pair[1]


def _is_complex(operand: Operand) -> bool:
    return operand.type.kind == "c"


def _split(fn: Function) -> Function:
    """Return one function without complex numbers: itself if it has none."""
    if not any(map(_is_complex, defined(fn))):
        return fn
    splitting = _Splitting(fn)
    params = tuple([part for param in fn.params for part in splitting.define(param)])
    with splitting.builder.block() as stmts:
        splitting.run(fn.body)
    return replace(
        fn, params=params, body=tuple(stmts), results=splitting.read_all(fn.results), rule=_rule(fn)
    )


class _Splitting:
    """The rewriting of one function; `parts` maps values that are gone to what they are now."""

    def __init__(self, fn: Function) -> None:
        self.builder = Builder(Names.of(fn))
        self.parts: dict[Value, Parts] = {}
        # Where values were loaded from: storing such a value there again changes nothing.
        self.loaded: dict[Operand, tuple[Value, Parts]] = {}

    def define(self, value: Value) -> tuple[Value, ...]:
        """Return the values in place of `value`."""
        if not _is_complex(value):
            return (value,)
        ty = value.type.part
        names = self.builder.names
        made = tuple([
            Value(names.fresh(f"{value.name}.{part}"), ty, value.mark) for part in ("re", "im")
        ])  # fmt: skip
        self.parts[value] = made
        return made

    def define_all(self, values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple([part for value in values for part in self.define(value)])

    def read(self, operand: Operand) -> Parts:
        if isinstance(operand, Value):
            return self.parts.get(operand, (operand,))
        if isinstance(operand.value, complex) or _is_complex(operand):
            found = complex(operand.value)
            return Literal(found.real, operand.type.part), Literal(found.imag, operand.type.part)
        return (operand,)

    def read_all(self, operands: Sequence[Operand]) -> Parts:
        return tuple([part for operand in operands for part in self.read(operand)])

    def one(self, operand: Operand) -> Operand:
        (found,) = self.read(operand)
        return found

    def arrays(self, operand: Operand) -> list[Value]:
        return [part for part in self.read(operand) if isinstance(part, Value)]

    # -- statements ----------------------------------------------------------------------------

    def run(self, stmts: Sequence[Stmt]) -> None:
        for stmt in stmts:
            self.builder.loc = stmt.loc
            self.stmt(stmt)

    def block(self, block: Block) -> Block:
        params = self.define_all(block.params)
        with self.builder.block() as stmts:
            self.run(block.stmts)
        return Block(params, tuple(stmts), self.read_all(block.yields))

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case If():
                self.nested(replace(stmt, cond=self.one(stmt.cond)))
            case For():
                init = self.read_all(stmt.init)
                self.nested(replace(stmt, trips=self.one(stmt.trips), init=init))
            case While():
                self.nested(replace(stmt, init=self.read_all(stmt.init)))
            case Call(results=results, args=args):
                self.emit(replace(stmt, args=self.read_all(args), results=self.define_all(results)))
            case Check() | Print():
                self.message(stmt)
            case _ if not any(map(_is_complex, (*operands(stmt), *stmt.results))):
                self.emit(map_operands(stmt, self.one))
            case Load():
                self.load(stmt)
            case Store():
                self.store(stmt)
            case Gemm():
                self.gemm(stmt)
            case Apply():
                self.apply(stmt)
            case _:
                raise AssertionError(stmt)

    def nested(self, stmt: If | For | While) -> None:
        inside = map_blocks(stmt, self.block)
        self.emit(with_results(inside, self.define_all(stmt.results)))

    def emit(self, stmt: Stmt) -> None:
        self.builder.emit(stmt)

    def message(self, stmt: Check | Print) -> None:
        """Write complex numbers in messages as Python does."""
        text = stmt.message
        if not (isinstance(stmt, Print) and stmt.to in (SHAPE, ELEMENT)):
            text = "".join(_spelled(text, [_is_complex(arg) for arg in stmt.args]))
        stmt = replace(stmt, message=text, args=self.read_all(stmt.args))
        self.emit(replace(stmt, cond=self.one(stmt.cond)) if isinstance(stmt, Check) else stmt)

    def load(self, stmt: Load) -> None:
        index = tuple(map(self.one, stmt.index))
        for array, result in zip(self.arrays(stmt.array), self.define(stmt.result), strict=True):
            self.loaded[result] = (array, index)
            self.emit(Load(result, array, index, stmt.loc))

    def store(self, stmt: Store) -> None:
        index = tuple(map(self.one, stmt.index))
        made: list[Operand] = []
        pairs = zip(self.arrays(stmt.array), self.read(stmt.value), strict=True)
        for array, value in pairs:
            if self.loaded.get(value) == (array, index):
                made.append(array)
            else:
                made.append(self.builder.store(array, index, value, accumulate=stmt.accumulate))
        self.parts[stmt.result] = tuple(made)

    def gemm(self, stmt: Gemm) -> None:
        """Multiply parts: four real products."""
        a, b, into = (self.arrays(each) for each in (stmt.a, stmt.b, stmt.array))
        assert stmt.result is not None

        def product(array: Value, x: Value, y: Value, accumulate: bool) -> Value:
            return self.builder.gemm(array, x, y, stmt.transposed, accumulate=accumulate)

        first = product(into[0], a[0], b[0], stmt.accumulate)
        second = product(into[1], a[0], b[1], stmt.accumulate)
        self.parts[stmt.result] = (
            product(first, self.negated(a[1]), b[1], True),
            product(second, a[1], b[0], True),
        )

    def negated(self, array: Value) -> Value:
        build = self.builder
        rows, columns = (build.apply("dim", array, params=(axis,), hint="n") for axis in (0, 1))
        assert isinstance(array.type, Array)
        empty = build.apply("empty", rows, columns, params=(array.type.dtype,), hint=array.name)

        def loop(size: Operand, carried: Value, inner: Callable[[Value, Value], Value]) -> Value:
            counter, param = build.value("i", INT), build.value(array.name, empty.type)
            label = build.names.fresh("L0")
            with build.block() as stmts:
                end = inner(counter, param)
            result = build.value(array.name, empty.type)
            body = Block((param,), tuple(stmts), (end,))
            build.emit(For((result,), label, counter, size, (carried,), body, loc=build.loc))
            return result

        def row(i: Value, carried: Value) -> Value:
            def element(j: Value, carried: Value) -> Value:
                value = build.apply("neg", build.load(array, (i, j)))
                return build.store(carried, (i, j), value)

            return loop(columns, carried, element)

        return loop(rows, empty, row)

    # -- operations ----------------------------------------------------------------------------

    def apply(self, stmt: Apply) -> None:
        op, args = stmt.op, stmt.args
        if op is whole:
            self.parts[stmt.result] = self.read_all(args)
        elif op in (real, imag):
            self.parts[stmt.result] = (self.read(args[0])[op is imag],)
        elif op.asks_shape:
            self.emit(replace(stmt, args=(self.read(args[0])[0],)))
        elif op.converts:
            self.parts[stmt.result] = self.converted(self.read(args[0]), str(stmt.params[0]))
        elif op.allocates or not args:
            self.allocate(stmt)
        elif op.parts is not None:
            rule = parts_rule(op, tuple([arg.type for arg in args]), stmt.params)
            hints = [value.name for value in self.define(stmt.result)]
            found = self.builder.inline(rule, self.read_all(args), hints)
            part = stmt.result.type.part
            self.parts[stmt.result] = tuple([self.exact(each, part) for each in found])
        else:
            raise IRError(f"{op.name} of complex numbers")

    def exact(self, operand: Operand | None, ty: Type) -> Operand:
        """Return a result of a rule as a number of the type that the row gives it, weak or not."""
        assert operand is not None
        if operand.type == ty:
            return operand
        if isinstance(operand, Literal):
            return Literal(operand.value, ty)
        return self.builder.apply("cast", operand, params=(str(ty),), hint=operand.name)

    def allocate(self, stmt: Apply) -> None:
        """Make two arrays: of a fill value, copies, or of any elements."""
        op = stmt.op
        count = 1 if op.copies or op.fills else 0
        values = self.read(stmt.args[0]) if count else ()
        rest = tuple(map(self.one, stmt.args[count:]))
        params = tuple([_part_name(each) for each in stmt.params])
        made = self.define(stmt.result)
        for k, result in enumerate(made):
            self.emit(Apply((result,), op, (*values[k : k + 1], *rest), params, stmt.loc))

    def converted(self, found: Parts, target: str) -> Parts:
        ty = parse_type(target)
        params = (str(ty.part),)
        if ty.kind != "c":
            return (self.builder.apply(OPS["cast"], found[0], params=(target,)),)
        cast = [self.builder.apply(OPS["cast"], part, params=params) for part in found]
        if len(cast) == 2:
            return tuple(cast)
        assert isinstance(ty, Scalar)
        return cast[0], Literal(0.0, ty.part)


def _part_name(param: int | str) -> int | str:
    """Return the dtype of the parts, of a static parameter that is a complex dtype."""
    is_complex = isinstance(param, str) and param.startswith(("c64", "c128"))
    return str(parse_type(str(param)).part) if is_complex else param


def _spelled(message: str, are_complex: Sequence[bool]) -> Iterator[str]:
    """Yield the pieces of a template that has two fields for each complex number."""
    fields = iter(are_complex)
    for text, field, spec, conversion in string.Formatter().parse(message):
        yield text.replace("{", "{{").replace("}", "}}")
        if field is None:
            continue
        one = "{" + field + (f"!{conversion}" if conversion else "")
        spec = spec or ""
        if not field and next(fields):  # (a field with a name is an array)
            yield f"({one}:{spec}}}{one}:+{spec.lstrip('+')}}}j)"
        else:
            yield one + (f":{spec}" if spec else "") + "}"


__all__ = ["in_parts", "split_complex"]
