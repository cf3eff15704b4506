"""Sums that are elements of the product of a matrix and a vector, as the front end writes them.

``W @ x`` makes one element after the other::

    for J %j in 0 to %r carrying (%a.1 = %a) {
      %s.2 = for K %k in 0 to %m carrying (%s = 0.0:f64) {
        … %t = mul %w %x
        %s.1 = sum %s %t
        yield %s.1
      }
      %a.2 = store %a.1[%j] %s.2
      yield %a.2
    }

``x @ W`` adds one row after the other::

    for K %k in 0 to %m carrying (%a.1 = %a) {
      for J %j in 0 to %r carrying (%a.2 = %a.1) {
        %s = load %a.2[%j]
        … %t = mul %x %w
        %s.1 = sum %s %t
        %a.3 = store %a.2[%j] %s.1
        yield %a.3
      }
      yield …
    }

Fusion may have put other statements into the outer loop of the first one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from adc.ir.core import Apply, Block, For, Literal, Load, Operand, Stmt, Store, Value
from adc.ir.opdef import OPS

# A matrix of fewer elements is left alone.
_SMALL = 64


@dataclass(frozen=True)
class Sum:
    """A sum of terms, for each row of a matrix."""

    stmt: For  # the nest
    row: Value  # counts the sums
    rows: Operand
    index: Value  # counts the terms of one
    terms: Operand
    made: tuple[Stmt, ...]  # what makes a term
    term: Value
    total: Value
    left: For  # the nest with the load of `total` from an array, in place of the sum
    load: Load  # this load

    def reading(self, products: Value, iteration: Value) -> For:
        """Return the nest where it reads the sums from a row of `products`."""
        load = replace(self.load, array=products, index=(iteration, self.row))
        stmts = tuple(load if stmt is self.load else stmt for stmt in self.left.body.stmts)
        return replace(self.left, body=replace(self.left.body, stmts=stmts))


def sums(stmt: For, uses: dict[Value, int], defs: dict[Value, Stmt]) -> Iterator[Sum]:
    """Yield the sums of products that a nest makes."""
    for inner in stmt.body.stmts:
        if isinstance(inner, For) and not inner.down and not _is_small(stmt, inner):
            found = _by_elements(stmt, inner, uses) or _by_rows(stmt, inner, uses, defs)
            if found is not None:
                yield found


def _is_small(outer: For, inner: For) -> bool:
    counts = [each.value for each in (outer.trips, inner.trips) if isinstance(each, Literal)]
    return len(counts) == 2 and int(counts[0]) * int(counts[1]) <= _SMALL


def _by_elements(nest: For, inner: For, uses: dict[Value, int]) -> Sum | None:
    match inner:
        case For(
            init=(Literal(value=0.0),),
            body=Block(
                (param,),
                (*made, Apply(op=op, args=(first, Value() as term), results=(end,))),
                (result,),
            ),
        ) if op.reorders and first == param and result == end:
            pass
        case _:
            return None
    if (
        uses.get(param) != 1
        or uses.get(term) != 1
        or not all(isinstance(s, Apply | Load) for s in made)
    ):
        return None
    (total,) = inner.results
    load = Load(total, term, (), inner.loc)
    stmts = tuple(load if stmt is inner else stmt for stmt in nest.body.stmts)
    left = replace(nest, body=replace(nest.body, stmts=stmts))
    return Sum(
        nest, nest.index, nest.trips, inner.index, inner.trips, tuple(made), term, total, left, load
    )


def _by_rows(outer: For, nest: For, uses: dict[Value, int], defs: dict[Value, Stmt]) -> Sum | None:
    match outer, nest:
        case (
            For(
                down=False, init=(Value() as start,),
                body=Block((array,), (*before, last), (end,)),
            ),
            For(
                init=(Value() as first,),
                body=Block(
                    (param,),
                    (
                        Load(result=old, array=read, index=(at,)),
                        *made,
                        Apply(op=op, args=(added, Value() as term), results=(total,)),
                        Store(
                            result=stored, array=written, index=(place,), value=value,
                            accumulate=False,
                        ),
                    ),
                    (result,),
                ),
            ),
        ) if last is nest and op.reorders:  # fmt: skip
            pass
        case _:
            return None
    if (first, end) != (array, nest.results[0]) or (read, written, result) != (
        param,
        param,
        stored,
    ):
        return None
    if at != nest.index or place != nest.index or (added, value) != (old, total):
        return None
    counts = {start: 1, array: 1, param: 2, old: 1, term: 1, total: 1}
    if any(uses.get(each) != count for each, count in counts.items()):
        return None
    if not all(isinstance(s, Apply | Load) for s in (*before, *made)):
        return None
    zeros = defs.get(start)
    if not isinstance(zeros, Apply) or zeros.op is not OPS["full"]:
        return None
    if not isinstance(zeros.args[0], Literal) or zeros.args[0].value != 0.0:
        return None
    # Element by element, what was added to zeros row by row.
    load = Load(total, term, (), outer.loc)
    body = Block((param,), (load, nest.body.stmts[-1]), (stored,))
    left = replace(nest, results=outer.results, init=outer.init, body=body)
    return Sum(
        outer, nest.index, nest.trips, outer.index, outer.trips, (*before, *made), term, total,
        left, load,
    )  # fmt: skip


__all__ = ["Sum", "sums"]
