"""Where pushed values lie on the tapes, the same for a push as for the pop that takes it off.

There is one tape per dtype. In general a push appends and a pop takes from the end. A loop that
pushes the same frame in every iteration, and whose frames one other loop pops, reserves a *block*
when it is entered: value `j` of iteration `k` lies at ``base + j * trips + k``, so that both loops
read and write consecutive elements and can be vectorised.

Both loops must have the same idea of the layout. Which pop takes off which push is found by running
the program on a stack of frames, loops and branches instead of values. Wherever that leaves a doubt
the loops involved append, which is right in any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adc.ir.core import Call, For, Function, If, Pop, Push, Stmt, While, blocks, walk
from adc.ir.types import Array


@dataclass(frozen=True)
class _Item:
    """Something that pushes (or pops): a frame, a loop, a branch or a call of `stmt`.

    `parts` are what its blocks push, oldest first, or pop, newest first.
    """

    stmt: Push | Pop | For | While | If | Call
    parts: tuple[tuple[_Item, ...], ...] = ()


def frame(stmt: Push | Pop) -> tuple[str, ...]:
    """Return the types of the values of a frame."""
    values = stmt.values if isinstance(stmt, Push) else stmt.results
    return tuple(str(v.type) if isinstance(v.type, Array) else v.type.dtype for v in values)


class Tapes:
    """Which functions and loops use which tapes; `blocks` are the loops that reserve a block."""

    def __init__(self, fn: Function) -> None:
        self._functions = {each.name: each for each in (*fn.callees, fn)}
        self._used = self._find_used()
        self._pops: dict[str, tuple[_Item, ...]] = dict.fromkeys(self._functions, ())
        self._pushes: dict[str, tuple[_Item, ...]] = dict.fromkeys(self._functions, ())
        self._links: list[tuple[For, For]] = []
        self._bad: set[int] = set()
        self._matched: set[tuple[str, str]] = set()
        self._directions = {name: (False, False) for name in self._functions}
        before: dict[str, tuple[bool, bool]] = {}
        while before != self._directions:  # until it is known which functions leave or take frames
            before = dict(self._directions)
            for name, each in self._functions.items():
                pops, pushes = self._run(each.body)
                self._pops[name], self._pushes[name] = tuple(pops), tuple(pushes)
                left, right = self._directions[name]
                self._directions[name] = (left or bool(pops), right or bool(pushes))
        # Once more with all that is now known of the callees.
        self._links.clear()
        self._matched.clear()
        self._bad.clear()
        for each in self._functions.values():
            self._run(each.body)
        self._doubt([*self._pops[fn.name], *self._pushes[fn.name]])
        self.blocks = self._settle()

    # -- who uses which tape ---------------------------------------------------------------

    def _find_used(self) -> dict[str, frozenset[str]]:
        used = {name: frozenset(self.own(each.body)) for name, each in self._functions.items()}
        for _ in self._functions:
            for name, each in self._functions.items():
                for stmt in walk(each.body):
                    if isinstance(stmt, Call):
                        used[name] |= used[stmt.callee]
        return used

    @staticmethod
    def own(stmts: Sequence[Stmt]) -> set[str]:
        """Return the dtypes of the tapes that `stmts` themselves use, calls aside."""
        found: set[str] = set()
        for stmt in walk(tuple(stmts)):
            if isinstance(stmt, Push | Pop):
                values = stmt.values if isinstance(stmt, Push) else stmt.results
                for value in values:
                    found.add(value.type.dtype)
                    if isinstance(value.type, Array):
                        found.add("i64")
        return found

    def divide(self, parts: Sequence[Function], moved: Sequence[tuple[Stmt, Stmt]]) -> None:
        """Note the parts that a function was divided into, callees first."""
        for part in parts:
            used = frozenset(self.own(part.body))
            for stmt in walk(part.body):
                if isinstance(stmt, Call):
                    used |= self._used[stmt.callee]
            self._used[part.name] = used
        self.blocks |= {id(new) for old, new in moved if id(old) in self.blocks}

    def used(self, name: str) -> frozenset[str]:
        """Return the dtypes of the tapes that the function `name` and its callees use."""
        return self._used[name]

    # -- which loop pops what which loop pushes --------------------------------------------

    def _run(self, stmts: Sequence[Stmt]) -> tuple[list[_Item], list[_Item]]:
        """Return what `stmts` pop that they have not pushed, and what they leave."""
        taken: list[_Item] = []
        stack: list[_Item] = []

        def pop(item: _Item) -> None:
            if stack:
                self._match(stack.pop(), item)
            else:
                taken.append(item)

        for stmt in stmts:
            match stmt:
                case Push():
                    stack.append(_Item(stmt))
                case Pop():
                    pop(_Item(stmt))
                case Call(callee=callee):
                    pops, pushes = self._directions[callee]
                    if pops:
                        pop(_Item(stmt))
                    if pushes:
                        stack.append(_Item(stmt))
                case For() | While() | If():
                    inner = [self._run(block.stmts) for block in blocks(stmt)]
                    pops = any(part for part, _ in inner)
                    pushes = any(part for _, part in inner)
                    if pops and pushes:
                        for some, others in inner:
                            self._doubt([*some, *others])
                        self._doubt(stack)
                    if pops:
                        pop(_Item(stmt, tuple(tuple(part) for part, _ in inner)))
                    if pushes:
                        stack.append(_Item(stmt, tuple(tuple(part) for _, part in inner)))
        return taken, stack

    def _match(self, pushed: _Item, popped: _Item) -> None:
        a, b = pushed.stmt, popped.stmt
        if isinstance(a, Push) and isinstance(b, Pop) and frame(a) == frame(b):
            return
        if isinstance(a, Call) and isinstance(b, Call):
            pair = (a.callee, b.callee)
            if pair not in self._matched:
                self._matched.add(pair)
                self._match_all(self._pushes[a.callee], self._pops[b.callee])
            return
        if isinstance(a, If) and isinstance(b, If):
            for some, others in zip(pushed.parts, popped.parts, strict=True):
                self._match_all(some, others)
            return
        if isinstance(a, For) and isinstance(b, For):
            if a.down != b.down and self._plain(a) and self._plain(b):
                self._links.append((a, b))
            else:
                self._bad |= {id(a), id(b)}
            self._match_all(pushed.parts[0], popped.parts[0])
            return
        self._doubt([pushed, popped])

    def _match_all(self, pushed: Sequence[_Item], popped: Sequence[_Item]) -> None:
        if len(pushed) != len(popped):
            self._doubt([*pushed, *popped])
            return
        for a, b in zip(reversed(pushed), popped, strict=True):
            self._match(a, b)

    def _doubt(self, items: Sequence[_Item], seen: frozenset[str] = frozenset()) -> None:
        """Let every loop in `items` append."""
        for item in items:
            self._bad.add(id(item.stmt))
            for part in item.parts:
                self._doubt(part, seen)
            if isinstance(item.stmt, Call) and item.stmt.callee not in seen:
                name = item.stmt.callee
                self._doubt([*self._pops[name], *self._pushes[name]], seen | {name})

    def _plain(self, loop: For) -> bool:
        """Whether the frames of `loop` lie directly in its body, pushes only or pops only."""
        frames = [stmt for stmt in loop.body.stmts if isinstance(stmt, Push | Pop)]
        if len({type(stmt) for stmt in frames}) != 1:
            return False
        if len(frames) != len(list(self._traffic(loop))):
            return False
        return not any("[" in ty for stmt in frames for ty in frame(stmt))

    def _traffic(self, loop: For) -> Iterator[Stmt]:
        for stmt in walk(loop.body.stmts):
            if isinstance(stmt, Push | Pop) or (isinstance(stmt, Call) and self._used[stmt.callee]):
                yield stmt

    def _settle(self) -> frozenset[int]:
        for a, b in self._links:
            if self._frames(a) != self._frames(b):
                self._bad |= {id(a), id(b)}
        before = -1
        while before != len(self._bad):  # a loop that appends makes its partners append
            before = len(self._bad)
            for a, b in self._links:
                if {id(a), id(b)} & self._bad:
                    self._bad |= {id(a), id(b)}
        return frozenset(id(loop) for pair in self._links for loop in pair) - self._bad

    @staticmethod
    def _frames(loop: For) -> list[tuple[str, ...]]:
        """Return the frames of a loop in the order in which they are pushed."""
        found = [stmt for stmt in loop.body.stmts if isinstance(stmt, Push | Pop)]
        types = [frame(stmt) for stmt in found]
        return types if isinstance(found[0], Push) else types[::-1]

    def rows(self, loop: For) -> dict[int, dict[int, tuple[str, int]]]:
        """Return dtype and row of every value of the frames of a block: by statement, by place."""
        found = [stmt for stmt in loop.body.stmts if isinstance(stmt, Push | Pop)]
        if isinstance(found[0], Pop):
            found.reverse()
        counts: dict[str, int] = {}
        rows: dict[int, dict[int, tuple[str, int]]] = {}
        for stmt in found:
            rows[id(stmt)] = {}
            for place, dtype in enumerate(frame(stmt)):
                rows[id(stmt)][place] = (dtype, counts.get(dtype, 0))
                counts[dtype] = counts.get(dtype, 0) + 1
        return rows
