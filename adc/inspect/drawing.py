"""From IR to nodes, clusters and edges: the contents of a graph of a function.

A statement is a node, a loop or branch is a cluster. The results of a loop are the nodes that its
body yields, and its carried values are nodes at its top. A `Recall` is drawn as an edge with a
small node; the edge comes from the node of the forward value. Indices are drawn only as text,
because their edges would cover the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from adc.ir.core import (
    Apply,
    Call,
    Check,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Load,
    Loop,
    Operand,
    Pop,
    Print,
    Push,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    Write,
    operands,
    walk,
)
from adc.ir.errors import Span
from adc.ir.text.printer import literal_text, print_stmt
from adc.ir.text.user import TEMPORARY, expression, variable
from adc.ir.types import Scalar

_LONGEST = 60
# The names of values that the user has not named, with numbers and suffixes.
_NAME = re.compile(r"(?<![\w.])(t(?:\.\d+)?)((?:\.[a-z]\w*(?:\.\d+)?)*)(?![\w.])")
# The equals sign of an assignment, one to a variable, and brackets, in which there are others.
_ASSIGNMENT = re.compile(r"(?<![<>=!:])=(?!=)")
_UPDATE = re.compile(r"([^\W\d]\w*)\s*(?:[-+*/%@&|^]|//|\*\*|<<|>>)?=(?!=)")
_WITHIN = re.compile(r"\(.*\)|\[.*\]|\{.*\}")


@dataclass(eq=False)
class Node:
    """A box with a text; `value` is the name of what it computes.

    `recalled` is the name of the forward value that it gets. A minor one computes a size, an index
    or a check, of which large programs have too many. `chain` are the calls that lead to its place
    in the source, and that place; `folded` is the frame that it stands for.
    """

    label: str
    shape: str
    parent: Cluster
    value: str = ""
    tooltip: str = ""
    recalled: str = ""
    is_minor: bool = False
    is_param: bool = False
    chain: tuple[Span, ...] = ()
    folded: Cluster | None = None

    @property
    def is_recall(self) -> bool:
        return bool(self.recalled)


@dataclass(eq=False)
class Cluster:
    """A frame around nodes and other frames.

    Attributes
    ----------
    kind : str
        ``"function"``, ``"forward"``, ``"reverse"``, ``"loop"``, ``"branch"``, ``"arm"`` or
        ``"line"``.
    folded : Node or None
        What stands for all that is inside.
    source : str
        Number and text of the line of a loop or branch in the source.
    chain : tuple of Span
        The calls that lead to that line, and the line; none of a function.
    is_call : bool
        Whether it is a line that calls functions which were inlined.
    """

    label: str
    kind: str
    parent: Cluster | None
    items: list[Node | Cluster] = field(default_factory=list)
    folded: Node | None = None
    source: str = ""
    chain: tuple[Span, ...] = ()
    is_call: bool = False

    def nodes(self) -> Iterator[Node]:
        """Yield the nodes that are drawn."""
        if self.folded is not None:
            yield self.folded
            return
        for item in self.items:
            if isinstance(item, Node):
                yield item
            else:
                yield from item.nodes()

    def clusters(self) -> Iterator[Cluster]:
        """Yield the clusters that are drawn as such, this one included."""
        if self.folded is None:
            yield self
            for item in self.items:
                if isinstance(item, Cluster):
                    yield from item.clusters()

    def size(self) -> int:
        """Return the number of nodes inside, drawn or not."""
        return sum(1 if isinstance(item, Node) else item.size() for item in self.items)

    @property
    def depth(self) -> int:
        return 0 if self.parent is None else self.parent.depth + 1


@dataclass(frozen=True)
class Edge:
    """What flows from one node to another.

    Attributes
    ----------
    kind : str
        ``"data"``, ``"recall"``, ``"next"`` (to the next iteration) or ``"branch"``.
    values : tuple of str
        The names of the values that flow.
    """

    source: Node
    target: Node
    kind: str
    values: tuple[str, ...]
    label: str = ""


@dataclass
class Drawing:
    """Clusters and the edges between the nodes in them."""

    top: Cluster
    edges: list[Edge]

    def shown(self) -> list[Edge]:
        """Return the edges between what is drawn, one for all of a kind between two nodes."""
        found: dict[tuple[Node, Node, str], Edge] = {}
        for edge in self.edges:
            source, target = _shown(edge.source), _shown(edge.target)
            if source is target and source is not edge.source:
                continue  # inside a folded cluster
            key = (source, target, edge.kind)
            before = found[key].values if key in found else ()
            values = tuple(dict.fromkeys((*before, *edge.values)))
            found[key] = Edge(source, target, edge.kind, values, edge.label)
        return list(found.values())


def _shown(node: Node) -> Node:
    found = node
    cluster: Cluster | None = node.parent
    while cluster is not None:
        found = cluster.folded or found
        cluster = cluster.parent
    return found


def draw(fn: Function) -> Drawing:
    """Return the drawing of a function and its callees: forward code first, then reverse code."""
    top = Cluster(fn.name, "function", None)
    drawer = _Drawer()
    functions = {each.name: each for each in (*fn.callees, fn)}
    sides = [Cluster("forward", "forward", top), Cluster("reverse", "reverse", top)]
    for each in sorted(fn.callees, key=lambda each: bool(each.mirror)):
        side = sides[1 if each.mirror else 0]
        drawer.name(each, functions.get(each.mirror))
        drawer.function(each, _inside(side, f"fn {each.name}", "branch"))
    split = next((k for k, stmt in enumerate(fn.body) if _is_reverse(stmt)), len(fn.body))
    drawer.enter()
    drawer.name(fn)
    drawer.params(fn, sides[0])
    drawer.statements(fn.body[:split], sides[0])
    drawer.statements(fn.body[split:], sides[1])
    drawer.results(fn, split, sides)
    top.items += [side for side in sides if side.items]
    return Drawing(top, drawer.edges)


def _is_reverse(stmt: Stmt) -> bool:
    return any(
        isinstance(each, Recall | Reverse) or (isinstance(each, Call) and bool(each.mirror))
        for each in walk((stmt,))
    )


def _inside(parent: Cluster, label: str, kind: str) -> Cluster:
    made = Cluster(label, kind, parent)
    parent.items.append(made)
    return made


def _source_line(stmt: Stmt) -> str:
    """Return number and text of the line in the source, or "" if it is not known."""
    return cut(f"{stmt.loc.line}: {stmt.loc.text().strip()}") if stmt.loc is not None else ""


def _chain(stmt: Stmt) -> tuple[Span, ...]:
    return stmt.loc.chain() if stmt.loc is not None else ()


def cut(text: str) -> str:
    """Return a text that is not too long for a label."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _is_minor(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.kind in "ib"


def _text(operand: Operand) -> str:
    return operand.name if isinstance(operand, Value) else literal_text(operand)


class Names:
    """The user's expressions for values without a name of their own, in the text of the IR.

    Of several values that one expression takes, only the last one is it.
    """

    def __init__(self, stmts: tuple[Stmt, ...]) -> None:
        # What stands for names, and what is said where they are computed, if that is more.
        self._texts: dict[str, str] = {}
        self._whole: dict[str, str] = {}
        last: dict[object, str] = {}
        for stmt in walk(stmts):
            text = expression(stmt)
            name = stmt.results[0].name if stmt.results else ""
            if text and variable(name) == TEMPORARY:
                self._texts.pop(last.get((stmt.loc, text), ""), None)
                last[stmt.loc, text] = name
                updated = _UPDATE.match(text)
                if updated:
                    self._texts[name], self._whole[name] = updated[1], text
                elif not _ASSIGNMENT.search(_WITHIN.sub("", text)):
                    self._texts[name] = text

    def of(self, stmt: Stmt) -> str:
        """Return the text of a statement: the user's, where that is an expression of its own."""
        name = stmt.results[0].name if stmt.results else ""
        if name in self._texts:
            return self._whole.get(name, self._texts[name])
        return print_stmt(stmt).replace("%", "")

    def said(self, text: str) -> str:
        """Return text of the IR with expressions for the names of temporaries."""
        if text in self._texts.values() or text in self._whole.values():
            return text
        return _NAME.sub(self._expression, text)

    def _expression(self, found: re.Match[str]) -> str:
        text = self._texts.get(found[1])
        if text is None:
            return found[0]
        plain = text.isidentifier() or (found[0] == found.string.removeprefix("recall "))
        return f"{text if plain else f'({text})'}{found[2]}"


class _Drawer:
    def __init__(self) -> None:
        self.edges: list[Edge] = []
        # Names and labels mean something within one function, and within the one that reverses it.
        self._made: dict[str, Node] = {}
        self._loops: dict[str, str] = {}
        self._scopes: dict[str, tuple[dict[str, Node], dict[str, str]]] = {}
        self._names = Names(())
        # Counters get a node when something besides an index uses them.
        self._counters: dict[str, tuple[Value, Cluster, Loop]] = {}

    # -- nodes and edges -------------------------------------------------------------------

    def _node(
        self,
        parent: Cluster,
        label: str,
        shape: str,
        value: Value | None = None,
        stmt: Stmt | None = None,
    ) -> Node:
        span = stmt.loc if stmt is not None else None
        tooltip = f"{span.line}: {span.text().strip()}" if span is not None else label
        label = self._names.said(label)
        made = Node(cut(label), shape, parent, value.name if value is not None else "", tooltip)
        made.chain = span.chain() if span is not None else ()
        parent.items.append(made)
        if value is not None:
            self._made[value.name] = made
        return made

    def _edge(self, operand: Operand, node: Node, kind: str = "data") -> None:
        if not isinstance(operand, Value):
            return
        if operand.name in self._counters:
            value, frame, stmt = self._counters.pop(operand.name)
            self._node(frame, value.name, "cds", value, stmt)
        if operand.name in self._made:
            self.edges.append(Edge(self._made[operand.name], node, kind, (operand.name,)))

    def _is(self, result: Value, operand: Operand, parent: Cluster) -> None:
        """Let a result be what was yielded for it."""
        if isinstance(operand, Value) and operand.name in self._made:
            self._made[result.name] = self._made[operand.name]
        else:
            self._node(parent, f"{result.name} = {_text(operand)}", "box", result)

    # -- functions -------------------------------------------------------------------------

    def enter(self, fn: str = "", mirror: str = "") -> None:
        """Begin a function; one that mirrors another sees the values of that."""
        made, loops = self._scopes.get(mirror, ({}, {}))
        self._made, self._loops = dict(made), dict(loops)
        self._scopes[fn] = (self._made, self._loops)

    def name(self, fn: Function, mirror: Function | None = None) -> None:
        """Name the values of a function as the user does, and those of the one that it mirrors."""
        self._names = Names((*(mirror.body if mirror else ()), *fn.body))

    def function(self, fn: Function, at: Cluster) -> None:
        self.enter(fn.name, fn.mirror)
        self.params(fn, at)
        self.statements(fn.body, at)
        self._return(fn.results, "return", at)

    def params(self, fn: Function, at: Cluster) -> None:
        for param in fn.params:
            self._node(at, f"{param.name}: {param.type}", "ellipse", param).is_param = True

    def results(self, fn: Function, split: int, sides: list[Cluster]) -> None:
        """Draw the function's own results in the forward code, the gradients in the other."""
        forward = {value.name for stmt in fn.body[:split] for value in stmt.results}
        forward |= {param.name for param in fn.params}
        own = [r for r in fn.results if isinstance(r, Value) and r.name in forward]
        others = [r for r in fn.results if r not in own]
        if own:
            self._return(own, "value", sides[0])
        if others:
            self._return(others, "gradient", sides[1])

    def _return(self, results: Sequence[Operand], word: str, at: Cluster) -> None:
        node = self._node(at, f"{word} {', '.join(map(_text, results))}", "ellipse")
        for result in results:
            self._edge(result, node)

    # -- statements ------------------------------------------------------------------------

    def statements(self, stmts: tuple[Stmt, ...], at: Cluster) -> None:
        for stmt in stmts:
            self._statement(stmt, at)

    def _statement(self, stmt: Stmt, at: Cluster) -> None:
        match stmt:
            case If():
                self._if(stmt, at)
            case For() | While() | Reverse():
                self._loop(stmt, at)
            case Recall(result=result, value=value):
                node = self._node(at, f"recall {value.name}", "note", result, stmt)
                node.recalled, node.is_minor = value.name, _is_minor(result)
                self._edge(value, node, "recall")
            case Load(array=array):
                self._plain(stmt, at, (array,))
            case Store(array=array, value=value) | Write(array=array, value=value):
                self._plain(stmt, at, (array, value))
            case Check(cond=cond, error=error):
                node = self._node(at, f"check {_text(cond)}: {error}", "octagon", stmt=stmt)
                node.is_minor = True
                self._edge(cond, node)
            case Apply() | Gemm() | Call() | Print() | Push() | Pop():
                self._plain(stmt, at, operands(stmt))
            case _:
                assert_never(stmt)

    def _plain(self, stmt: Stmt, at: Cluster, read: tuple[Operand, ...]) -> None:
        value = stmt.results[0] if stmt.results else None
        node = self._node(at, self._names.of(stmt), "box", value, stmt)
        node.is_minor = isinstance(stmt, Apply) and value is not None and _is_minor(value)
        for result in stmt.results[1:]:
            self._made[result.name] = node
        for operand in read:
            self._edge(operand, node)

    def _if(self, stmt: If, at: Cluster) -> None:
        where = f"line {_source_line(stmt)}" if stmt.loc is not None else ""
        frame = _inside(at, where, "branch")
        frame.source, frame.chain = _source_line(stmt), _chain(stmt)
        test = self._node(frame, f"if {_text(stmt.cond)}", "diamond", stmt=stmt)
        self._edge(stmt.cond, test)
        for word, block in (("then", stmt.then), ("else", stmt.orelse)):
            if block.stmts:
                arm = _inside(frame, word, "arm")
                self.statements(block.stmts, arm)
                # So that the arms stand below the test.
                first = next(arm.nodes(), None)
                if first is not None:
                    self.edges.append(Edge(test, first, "branch", (), word))
        for k, result in enumerate(stmt.results):
            yielded = (stmt.then.yields[k], stmt.orelse.yields[k])
            text = f"{result.name} = {_text(yielded[0])} or {_text(yielded[1])}"
            node = self._node(frame, text, "invhouse", result)
            for operand in yielded:
                self._edge(operand, node)
            if all(isinstance(operand, Literal) for operand in yielded):
                self.edges.append(Edge(test, node, "branch", ()))

    def _loop(self, stmt: Loop, at: Cluster) -> None:
        match stmt:
            case For(label=label, index=index, trips=trips, down=down):
                order = "down from" if down else "in 0 to"
                text = f"for {index.name} {order} {_text(trips)}"
                self._loops[label] = text
            case While(label=label):
                text = f"while {label}"
                self._loops[label] = text
            case Reverse(loop=loop, index=index, body=body):
                text = f"reverse {self._loops.get(loop, loop)}"
                if any(index in operands(each) for each in walk(body.stmts)):
                    text += f" (counter {index.name})"
            case _:
                assert_never(stmt)
        line = f", line {stmt.loc.line}" if stmt.loc is not None else ""
        frame = _inside(at, self._names.said(text) + line, "loop")
        frame.source, frame.chain = _source_line(stmt), _chain(stmt)
        if not isinstance(stmt, While):
            self._counters[stmt.index.name] = (stmt.index, frame, stmt)
        body = stmt.body
        for param, first in zip(body.params, stmt.init, strict=True):
            text = param.name if isinstance(first, Value) else f"{param.name} = {_text(first)}"
            node = self._node(frame, text, "house", param, stmt)
            self._edge(first, node)
        self.statements(body.stmts, frame)
        yields = body.yields[1:] if isinstance(stmt, While) else body.yields
        for param, after in zip(body.params, yields, strict=True):
            self._edge(after, self._made[param.name], "next")
        for result, after in zip(stmt.results, yields, strict=True):
            self._is(result, after, frame)
