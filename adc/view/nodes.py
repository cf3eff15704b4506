"""The parts of planned code that are steps of a run: lines, loops, branches and calls.

The statements of a block that come from one line of the user's program, in one phase, are a node.
So is a loop or a branch all of which comes from one line: what an array expression became. Other
loops, branches and calls are opened: they have nodes inside.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from adc.ir.core import (
    Apply,
    Call,
    Check,
    For,
    Function,
    Gemm,
    If,
    Load,
    Pop,
    Push,
    Stmt,
    Value,
    While,
    Write,
    blocks,
    walk,
)
from adc.ir.errors import Span
from adc.ir.text.printer import print_function
from adc.ir.text.user import TEMPORARY, expression, variable
from adc.ir.types import Array

FORWARD, REVERSE, RECOMPUTED, BOTH = "forward", "reverse", "recomputed", "both"
# What is said of a value: it is computed, pushed on the tape, popped off it, read again from an
# array that still has it, or computed a second time.
MADE, KEPT, READ, RELOADED, AGAIN = "made", "kept", "read back", "reloaded", "recomputed"

_LONGEST = 72
_ASSIGNED = re.compile(r"[^=]*(=|\bin\b)")
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

Line = tuple[str, int]


@dataclass
class Node:
    """A step, or what has steps inside.

    Attributes
    ----------
    number, parent : int
        Its place in the list of all nodes, and that of the node around it; -1 for none.
    kind : str
        ``"lines"``, ``"loop"``, ``"branch"``, ``"call"`` or ``"function"``. Only ``"lines"`` are
        steps.
    label : str
        The text of the source, or what the loop or call is.
    phase : str
        ``"forward"``, ``"reverse"``, ``"recomputed"``; ``"both"`` where a loop does the work of
        several at once.
    lines : tuple of (file, line)
        The user's lines.
    function, first, last : int
        The lines of the text of the IR: of which function, from, to.
    effects : tuple of (what, label)
        What is made, kept, read back, reloaded and recomputed.
    """

    number: int
    parent: int
    kind: str
    label: str
    phase: str
    lines: tuple[Line, ...]
    function: int
    first: int
    last: int
    effects: tuple[tuple[str, str], ...] = ()


@dataclass
class Group:
    """Consecutive statements of a block that are a node."""

    node: Node
    start: int
    stop: int
    is_step: bool


@dataclass
class Tree:
    """All nodes of a program, and the groups of its blocks, by the identity of their statements."""

    nodes: list[Node] = field(default_factory=list)
    groups: dict[int, list[Group]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    # By label, within a function: the nodes of loops that are opened.
    loops: dict[tuple[str, str], Node] = field(default_factory=dict)
    phases: dict[int, str] = field(default_factory=dict)  # by the identity of a statement
    labels: dict[str, str] = field(default_factory=dict)  # what values are for users, by name


def line_of(span: Span | None) -> Line | None:
    """Return the user's line, None if a statement comes from none: what adc's library does."""
    if span is None:
        return None
    for each in reversed(span.chain()):
        if not os.path.abspath(each.file).startswith(_OWN):
            return each.file, each.line
    return None


def marks(name: str, params: frozenset[str]) -> frozenset[str]:
    """Return the suffixes that passes have given a name; a user's name may have dots itself.

    >>> sorted(marks("x.1.ct.2", frozenset({"x"}))), marks("m.r", frozenset({"m.r"}))
    (['ct'], frozenset())
    """
    parts = name.split(".")
    own = 1
    for k in range(len(parts), 1, -1):
        if ".".join(parts[:k]) in params:
            own = k
            break
    return frozenset(part for part in parts[own:] if not part.isdecimal())


def tree_of(fn: Function) -> Tree:
    """Return the nodes of a function in its last form, and of those that it calls."""
    tree = Tree()
    again = _run_again(fn)
    for number, each in enumerate((fn, *fn.callees)):
        tree.texts.append(print_function(replace(each, callees=(), derived=())))
        phase = REVERSE if each.mirror or ".rev" in each.name else FORWARD
        if each.name in again:
            phase = RECOMPUTED
        _Function(tree, fn, each, number, phase).run()
    return tree


def _run_again(fn: Function) -> frozenset[str]:
    """Return the functions that run iterations of a checkpointed loop again."""
    return frozenset(
        stmt.callee
        for each in (fn, *fn.callees)
        for stmt in walk(each.body)
        if isinstance(stmt, Call) and "again" in stmt.label.split(".")
    )


class _Function:
    """Finds the nodes of one function."""

    def __init__(self, tree: Tree, main: Function, fn: Function, number: int, phase: str) -> None:
        self.tree, self.main, self.fn, self.number, self.phase = tree, main, fn, number, phase
        self.callees = {each.name: each for each in main.callees}
        self.params = frozenset(p.name for each in (main, *main.callees) for p in each.params)

    def run(self) -> None:
        fn = self.fn
        size = sum(map(_printed, fn.body)) + 3
        top = self.add(-1, "function", fn.name, self.phase, (), 0, size - 1)
        self.block(fn.body, top, 1, self.phase)
        self.settle(top)
        self.tell(fn.body, self.phase)

    def tell(self, stmts: Sequence[Stmt], around: str) -> None:
        """Note the phase of every statement."""
        for stmt in stmts:
            phase = self.tree.phases[id(stmt)] = self.phase_of(stmt, around)
            for value in stmt.results:
                self.tree.labels.setdefault(value.name, self.name(value, stmt))
            for block in blocks(stmt):
                self.tell(block.stmts, phase)

    def add(
        self, parent: int, kind: str, label: str, phase: str, lines: tuple[Line, ...],
        first: int, last: int,
    ) -> Node:  # fmt: skip
        node = Node(
            len(self.tree.nodes), parent, kind, label, phase, lines, self.number, first, last
        )
        self.tree.nodes.append(node)
        return node

    def settle(self, node: Node) -> None:
        """Give what was opened the lines and the phase of what is inside."""
        inside = [each for each in self.tree.nodes[node.number + 1 :] if each.kind == "lines"]
        phases = {each.phase for each in inside}
        if len(phases) == 1:
            node.phase = phases.pop()
        elif phases:
            node.phase = BOTH
        node.lines = tuple(dict.fromkeys((*node.lines, *(k for e in inside for k in e.lines))))

    # -- blocks ----------------------------------------------------------------------------

    def block(self, stmts: Sequence[Stmt], parent: Node, at: int, around: str) -> None:
        if not stmts:
            return
        groups = self.tree.groups[id(stmts)] = list[Group]()
        keys = self.keys(stmts, around)
        for k, stmt in enumerate(stmts):
            key, size = keys[k], _printed(stmt)
            if key is None:
                groups.append(Group(self.opened(stmt, parent, at, around), k, k + 1, False))
            elif k and keys[k - 1] == key:
                groups[-1].stop = k + 1
                groups[-1].node.last = at + size - 1
            else:
                line, phase = key
                label, lines = _text(line) or "sizes and checks", (line,) if line else ()
                node = self.add(parent.number, "lines", label, phase, lines, at, at + size - 1)
                groups.append(Group(node, k, k + 1, True))
            at += size
        for group in groups:
            if group.is_step:
                effects = self.effects(stmts[group.start : group.stop], group.node.phase)
                group.node.effects = tuple(dict.fromkeys(effects))

    def keys(self, stmts: Sequence[Stmt], around: str) -> list[tuple[Line | None, str] | None]:
        """Return line and phase of each statement, None of those that are opened.

        Sizes, indices and checks belong to what they are for: to what comes next.
        """
        found: list[tuple[Line | None, str] | None] = []
        following: tuple[Line | None, str] | None = None
        for stmt in reversed(stmts):
            if self.opens(stmt):
                following = None
                found.append(None)
                continue
            line, phase = self.line(stmt), self.phases_of(stmt, around)
            if following is None or (line is not None and _is_told(stmt)):
                following = line, phase
            found.append(following)
        return found[::-1]

    def opens(self, stmt: Stmt) -> bool:
        """Whether a statement has steps inside."""
        if isinstance(stmt, Call):
            callee = self.callees.get(stmt.callee)
            return callee is not None and not callee.routine and bool(callee.body)
        if not isinstance(stmt, For | While | If):
            return False
        if isinstance(stmt, For | While) and _is_loop(stmt.loc):
            return True
        lines: set[Line] = set()
        for each in walk((stmt,)):
            if isinstance(each, Call) and self.opens(each):
                return True
            line = self.line(each)
            if each is not stmt and _is_told(each) and line is not None:
                lines.add(line)
        return len(lines) > 1

    def opened(self, stmt: Stmt, parent: Node, at: int, around: str) -> Node:
        line = self.line(stmt)
        lines = (line,) if line else ()
        last = at + _printed(stmt) - 1
        if isinstance(stmt, Call):
            return self.add(parent.number, "call", stmt.callee, around, lines, at, last)
        if isinstance(stmt, If):
            node = self.add(parent.number, "branch", _text(line) or "if", around, lines, at, last)
            self.block(stmt.then.stmts, node, at + 1, around)
            inner = sum(map(_printed, stmt.then.stmts)) + bool(stmt.then.yields)
            self.block(stmt.orelse.stmts, node, at + 2 + inner, around)
        else:
            assert isinstance(stmt, For | While)
            parts = stmt.label.split(".")
            inner_phase = REVERSE if "rev" in parts else around
            text = _text(line)
            if not _is_loop(stmt.loc):
                text = f"loop over arrays: {text}" if text else f"loop {stmt.label}"
            if "sweep" in parts:
                text = f"snapshots of: {text}"
            node = self.add(parent.number, "loop", text or stmt.label, inner_phase, lines, at, last)
            self.tree.loops[self.fn.name, stmt.label] = node
            self.block(stmt.body.stmts, node, at + 1, inner_phase)
        self.settle(node)
        return node

    # -- statements ------------------------------------------------------------------------

    def line(self, stmt: Stmt) -> Line | None:
        return line_of(stmt.loc)

    def phase_of(self, stmt: Stmt, around: str) -> str:
        if isinstance(stmt, Push):
            return RECOMPUTED if around == RECOMPUTED else FORWARD
        if isinstance(stmt, Pop):
            return REVERSE
        names = [value.name for value in stmt.results]
        if isinstance(stmt, Write) or (isinstance(stmt, Gemm) and not names):
            names = [stmt.array.name]
        found = frozenset[str]().union(*(marks(name, self.params) for name in names))
        if isinstance(stmt, For | While) and "rev" in stmt.label.split("."):
            return REVERSE
        if "ct" in found:
            return REVERSE
        if found & {"r", "back"}:
            return REVERSE if isinstance(stmt, Load) else RECOMPUTED
        return around

    def phases_of(self, stmt: Stmt, around: str) -> str:
        """Return the phase of a statement and of all that is inside."""
        inner = [each for each in walk((stmt,)) if each is not stmt and _is_told(each)]
        if not inner:
            return self.phase_of(stmt, around)
        here = self.phase_of(stmt, around)
        found = {self.phase_of(each, here) for each in inner}
        if len(found) == 1:
            return found.pop()
        return BOTH if FORWARD in found else REVERSE

    def effects(self, stmts: Sequence[Stmt], around: str) -> Iterator[tuple[str, str]]:
        for stmt in walk(tuple(stmts)):
            phase = self.phase_of(stmt, around)
            match stmt:
                case Push(values=values):
                    for value in values:
                        if isinstance(value, Value):
                            yield KEPT, self.name(value, None)
                case Pop(results=results):
                    for value in results:
                        yield READ, self.name(value, None)
                case Load(result=result):
                    if phase == REVERSE and "r" in marks(result.name, self.params):
                        yield RELOADED, self.name(result, stmt)
                case Apply() | Gemm() | Write():
                    target = stmt.array if isinstance(stmt, Gemm | Write) else stmt.results[0]
                    if isinstance(target.type, Array) or target.type.kind == "f":
                        what = AGAIN if phase == RECOMPUTED else MADE
                        yield what, self.name(target, stmt)

    def name(self, value: Value, stmt: Stmt | None) -> str:
        """Return what a value is for the user: a variable, an expression, or a derivative."""
        found = marks(value.name, self.params)
        root = _root(value.name, self.params)
        text = ""
        if root == TEMPORARY or (stmt is not None and not self.is_assigned(root, stmt)):
            # Of adc's own library, names say nothing to users.
            text = expression(stmt) if stmt is not None else ""
            if not text and stmt is not None and stmt.loc is not None:
                text = stmt.loc.excerpt()
        text = text or self.texts.get(value.name, "") or root
        if "ct" in found:
            return _cut(f"∂/∂ {text}")
        return _cut(text)

    def is_assigned(self, root: str, stmt: Stmt) -> bool:
        """Whether the line of a statement assigns to a variable, or there is no such line."""
        if root in self.params or stmt.loc is None:
            return True
        return _assigns(root, stmt.loc.text())

    @property
    def texts(self) -> dict[str, str]:
        found: dict[str, str] = self.__dict__.get("_texts", {})
        if not found:
            for each in (self.main, *self.main.callees):
                for stmt in walk(each.body):
                    if stmt.results and (text := expression(stmt)):
                        base = _root(stmt.results[0].name, self.params)
                        if base == TEMPORARY:
                            found[stmt.results[0].name] = text
                            found.setdefault(f"{stmt.results[0].name}.r", text)
            self.__dict__["_texts"] = found
        return found


def _assigns(name: str, text: str) -> bool:
    """Whether a line assigns to a variable.

    >>> _assigns("x", "y = x"), _assigns("x", "a.x = 1"), _assigns("x", "x[0] += 1")
    (False, False, True)
    """
    at = text.find(name)
    while name and at >= 0:
        end = at + len(name)
        before, after = text[at - 1 : at], text[end : end + 1]
        whole = not (before.isalnum() or before in ("_", ".")) and not (
            after.isalnum() or after == "_"
        )
        if whole and _ASSIGNED.match(text, end):
            return True
        at = text.find(name, end)
    return not text


def _root(name: str, params: frozenset[str]) -> str:
    parts = name.split(".")
    for k in range(len(parts), 1, -1):
        if ".".join(parts[:k]) in params:
            return ".".join(parts[:k])
    return variable(parts[0])


def _is_told(stmt: Stmt) -> bool:
    """Whether a statement says what a line does: sizes, indices and checks do not."""
    if isinstance(stmt, Check):
        return False
    if isinstance(stmt, Apply):
        ty = stmt.results[0].type
        return isinstance(ty, Array) or ty.kind == "f"
    if isinstance(stmt, Load):
        return stmt.result.type.kind == "f"
    return True


def _is_loop(span: Span | None) -> bool:
    """Whether a loop is one that the user has written, not one of an array expression."""
    line = line_of(span)
    return line is not None and _text(line).startswith(("for ", "while ", "async for "))


def _text(line: Line | None) -> str:
    return "" if line is None else _cut(Span(*line).text().strip())


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _printed(stmt: Stmt) -> int:
    """Return how many lines the text of a statement has."""
    inner = blocks(stmt)
    if not inner:
        return 1
    size = 2
    for k, block in enumerate(inner):
        if k and not (block.stmts or block.yields):
            continue
        size += sum(map(_printed, block.stmts)) + bool(block.yields) + bool(k)
    return size


__all__ = [
    "AGAIN", "BOTH", "FORWARD", "KEPT", "MADE", "READ", "RECOMPUTED", "RELOADED",
    "REVERSE", "Group", "Line", "Node", "Tree", "line_of", "marks", "tree_of",
]  # fmt: skip
