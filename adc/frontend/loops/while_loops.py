"""`while`: its test is lowered at the head of each iteration."""

from __future__ import annotations

import ast

from adc.frontend.control import blocks, choices
from adc.frontend.control.branches import branch
from adc.frontend.control.exits import FALLS, NATURAL, set_exit
from adc.frontend.control.iterations.findings import FirstError, PathsError, RestructuredError
from adc.frontend.control.iterations.loops import lower_loop
from adc.frontend.core.dispatch import handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.state import CONTENTS, Dead, PickedError, VariesError
from adc.frontend.language import dynamic_lists
from adc.frontend.loops import copies, exits
from adc.frontend.syntax import scope
from adc.ir.core import Operand, Value
from adc.ir.errors import TypeUnstableError


@handles(ast.While)
def lower_while(lo: Lowerer, stmt: ast.While) -> None:
    before = lo.point()
    try:
        _lower_while(lo, stmt)
    except (PickedError, TypeUnstableError) as error:
        if isinstance(error, PickedError) and error.places:
            raise
        varies = isinstance(error, VariesError) and not isinstance(error, RestructuredError)
        if varies or (isinstance(error, PathsError) and CONTENTS not in lo.shared.varied):
            raise  # the program is lowered again with what may be one of several values
        lo.undo(before)
        if isinstance(error, PickedError) and dynamic_lists.loops_again(
            lo, stmt.body, lambda: lower_while(lo, stmt)
        ):
            return
        copies.of_while(lo, stmt, error)


def _lower_while(lo: Lowerer, stmt: ast.While) -> None:
    names = exits.assigned(lo, [stmt.test, *stmt.body])
    jumping = exits.jumps_of(lo, stmt)
    early = scope.has_break(stmt.body) or scope.has_return(stmt.body) or bool(jumping)
    endless = isinstance(stmt.test, ast.Constant) and bool(stmt.test.value)
    bound = exits.bound(lo, names)

    def iterate() -> None:
        blocks.lower_stmts(lo, stmt.body)
        exits.skip(lo, stmt, bound)

    def body(_: Value | None) -> Operand:
        cond = choices.condition(lo, stmt.test)
        branch(lo, cond, iterate, lambda: set_exit(lo, NATURAL))
        if early:
            return exits.to_next_iteration(lo, stmt)
        exits.require_no_jump(lo, stmt)
        set_exit(lo, FALLS)
        lo.frame.partial.clear()
        return cond

    if early:
        exits.early_loop(lo, stmt, names, body, definite=endless, endless=endless)
        return
    sure = scope.surely_assigned(stmt.test)
    # What was a number and is an array after the first iteration is only an array in the others.
    peels = bool(lo.shared.varied) and not (endless or stmt.orelse)
    before = lo.point()

    def loop(*, peels: bool = False) -> None:
        lower_loop(lo, stmt, names, body, trips=None, definite=endless, sure=sure, peels=peels)

    def first_apart() -> None:
        with lo.copy("first", id(stmt)):
            iterate()
            exits.require_no_jump(lo, stmt)
            set_exit(lo, FALLS)
            lo.frame.partial.clear()
        with lo.copy("others", id(stmt)):
            loop()

    try:
        loop(peels=peels)
    except (exits.JumpsError, FirstError) as error:
        if isinstance(error, FirstError) and not peels:
            raise
        lo.undo(before)
        if isinstance(error, exits.JumpsError):
            _lower_while(lo, stmt)
        else:
            branch(lo, choices.condition(lo, stmt.test), first_apart, lambda: None)
        return
    if endless:
        raise Dead
    exits.lower_else(lo, stmt, None)
