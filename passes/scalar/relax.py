"""Drop the test for zero from products of derivatives where it cannot matter.

Before, with a literal and the result of `tanh`::

    %a.ct = xmuly %b.ct 3.0
    %c.ct = xmuly %b.ct %t

After::

    %a.ct = mul %b.ct 3.0
    %c.ct = mul %b.ct %t

`xmuly` and `xdivy` are 0 where the cotangent is 0, whatever the derivative. So are `mul` and
`truediv` where the derivative is finite; where the cotangent is not 0, they are equal anyway. The
pass runs after the last differentiation: the derivative of `xmuly` is not that of `mul`
(`mulzeros`).
"""

from __future__ import annotations

from dataclasses import replace

from adc.ir.analysis.activity import ENTRY
from adc.ir.analysis.sizes.ranges import Range, Ranges
from adc.ir.core import Apply, Block, Function, Stmt, walk
from adc.ir.opdef import OPS, OpDef
from adc.ir.ops import arith
from adc.ir.walk import map_blocks


def relax(fn: Function) -> Function:
    """Return `fn` with `mul` and `truediv` for products that need no test for zero."""
    if not any(_is_shielded(stmt) for each in (fn, *fn.callees) for stmt in walk(each.body)):
        return fn
    ranges = Ranges(fn)

    def relaxed(each: Function, where: str) -> Function:
        def stmts(found: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
            return tuple(stmt_of(stmt) for stmt in found)

        def block(found: Block) -> Block:
            new = stmts(found.stmts)
            return found if new == found.stmts else Block(found.params, new, found.yields)

        def stmt_of(stmt: Stmt) -> Stmt:
            if isinstance(stmt, Apply) and stmt.op.plain:
                if _is_plain(stmt.op, *ranges.factors(where, stmt)):
                    return replace(stmt, op=OPS[stmt.op.plain])
                return stmt
            return map_blocks(stmt, block)

        return replace(each, body=stmts(each.body))

    callees = tuple(relaxed(each, each.name) for each in fn.callees)
    return replace(relaxed(fn, ENTRY), callees=callees)


def _is_shielded(stmt: Stmt) -> bool:
    return isinstance(stmt, Apply) and bool(stmt.op.plain)


def _is_plain(op: OpDef, ct: Range, derivative: Range) -> bool:
    """Whether a product is the same without a test for zero."""
    if op is arith.mulzeros:
        return _is_harmless(ct, derivative) and _is_harmless(derivative, ct)
    if ct.nonzero:
        return True
    if op is arith.xdivy:  # by infinity, too
        return derivative.nonzero and _is_harmless(derivative._replace(inf=False), ct)
    return _is_harmless(derivative, ct)


def _is_harmless(factor: Range, ct: Range) -> bool:
    """Whether a factor is finite wherever a cotangent is 0.

    The caller's arguments may be NaN or infinite. A mask makes a value independent of them: the
    cotangent is then 0 by selection, not by chance.
    """
    return factor.finite and not (factor.given and ct.masked)


__all__ = ["relax"]
