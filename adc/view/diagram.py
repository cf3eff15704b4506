"""The graph of a run, folded: a picture for each function, loop and line, laid out by Graphviz.

A picture has what is directly inside: lines, and frames that open pictures of their own. What is
forward stands left and flows down, what is reverse stands right and flows up; between them is what
one hands to the other, on the tape or in arrays that stay. Where there would be too much in one
picture, lines that follow each other are a frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from adc.inspect.graph import Graph
from adc.ir.core import Call, For, Function, Pop, Push, Stmt, Value, While, Write, blocks, operands
from adc.ir.errors import MissingPackageError
from adc.view.nodes import FORWARD, REVERSE, Group, Tree

# More than this in one picture cannot be read.
MOST = 40
# So many pictures are laid out; what is inside of others is listed, not drawn.
MOST_PICTURES = 400
_HEIGHT, _CHARACTER, _LEAST, _WIDEST = 0.42, 0.085, 1.1, 3.4


@dataclass(eq=False)
class Item:
    """A box: what of the tree it is, or a frame around several; and what flows in and out."""

    node: int
    label: str
    phase: str
    inside: list[Item] = field(default_factory=list)
    made: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    pushed: set[str] = field(default_factory=set)
    popped: set[str] = field(default_factory=set)
    flows: Flows = field(default_factory=dict)


# By whom, to whom and how: the names of what flows.
Flows = dict[tuple[Item, Item, str], set[str]]


def diagram(fn: Function, tree: Tree) -> dict[str, Any]:
    """Return the pictures of a function in its last form; the first one is of the whole.

    Without the package pygraphviz, there are none, but a sentence that says so.
    """
    builder = _Builder(fn, tree)
    top = _fold(builder.function(fn))
    pictures: list[dict[str, Any]] = []
    try:
        _draw(top, pictures)
    except MissingPackageError as error:
        return {"pictures": [], "missing": f"{error.message}: {error.hint}"}
    return {"pictures": pictures}


class _Builder:
    """Finds what is inside of what."""

    def __init__(self, fn: Function, tree: Tree) -> None:
        self.tree = tree
        self.functions = {each.name: each for each in fn.callees}
        self.entered: list[str] = []

    def function(self, fn: Function) -> Item:
        node = next(
            each for each in self.tree.nodes if each.kind == "function" and each.label == fn.name
        )
        return self.around(Item(node.number, fn.name, node.phase), fn.body)

    def around(self, item: Item, stmts: Sequence[Stmt]) -> Item:
        item.inside = list(self.block(stmts))
        for each in item.inside:
            item.made |= each.made
            item.used |= each.used
            item.pushed |= each.pushed
            item.popped |= each.popped
        return item

    def block(self, stmts: Sequence[Stmt]) -> Iterator[Item]:
        for group in self.tree.groups.get(id(stmts), ()):
            yield self.group(group, stmts[group.start : group.stop])

    def group(self, group: Group, stmts: Sequence[Stmt]) -> Item:
        node = group.node
        item = Item(node.number, node.label, node.phase)
        if group.is_step:
            for stmt in stmts:
                self.flows(stmt, item)
            return item
        (stmt,) = stmts
        for block in blocks(stmt):
            inner = self.around(Item(-1, "", ""), block.stmts)
            item.inside += inner.inside
            for name in ("made", "used", "pushed", "popped"):
                getattr(item, name).update(getattr(inner, name))
            item.used |= {v.name for v in block.yields if isinstance(v, Value)}
        callee = self.functions.get(stmt.callee) if isinstance(stmt, Call) else None
        if callee is not None and callee.name not in self.entered:
            self.entered.append(callee.name)
            inner = self.function(callee)
            item.inside = inner.inside
            item.pushed, item.popped = inner.pushed, inner.popped
            self.entered.pop()
        item.used |= {v.name for v in operands(stmt) if isinstance(v, Value)}
        item.made |= {v.name for v in stmt.results}
        return item

    def flows(self, stmt: Stmt, item: Item) -> None:
        names = {v.name for v in operands(stmt) if isinstance(v, Value)}
        match stmt:
            case Push():
                item.pushed |= names
            case Pop(results=results):
                item.popped |= {_recalled(v.name) for v in results}
            case For() | While():
                item.made |= {v.name for v in stmt.body.params}
            case Write(array=array):
                item.made.add(array.name)
        item.used |= names
        item.made |= {v.name for v in stmt.results}
        for block in blocks(stmt):
            for each in block.stmts:
                self.flows(each, item)


def _recalled(name: str) -> str:
    """Return the name of the forward value that a popped one is.

    >>> _recalled("x.2.r.1"), _recalled("t.r")
    ('x.2', 't')
    """
    return name.partition(".r")[0] if name.endswith(".r") else name.rpartition(".r.")[0] or name


def _fold(item: Item) -> Item:
    """Find what flows between the items in each other, and put many of them in frames."""
    for each in item.inside:
        _fold(each)
    _split(item, _flows(item.inside))
    return item


def _split(item: Item, flows: Flows) -> None:
    if len(item.inside) <= MOST:
        item.flows = flows
        return
    frames: list[tuple[int, Item]] = []
    owners: dict[int, Item] = {}
    for side in (FORWARD, REVERSE):
        # What is forward and what is reverse do not share a frame.
        mine = [(k, each) for k, each in enumerate(item.inside) if _side(each) == side]
        size = max(2, -(-len(mine) // (MOST // 2)))
        for k in range(0, len(mine), size):
            some = [each for _, each in mine[k : k + size]]
            frame = _frame(some)
            frames.append((mine[k][0], frame))
            owners.update((id(each), frame) for each in some)
    outer: Flows = {}
    inner: dict[int, Flows] = {}
    for (a, b, kind), names in flows.items():
        ends = owners[id(a)], owners[id(b)]
        if ends[0] is not ends[1]:
            outer.setdefault((*ends, kind), set()).update(names)
        else:
            inner.setdefault(id(ends[0]), {})[a, b, kind] = names
    item.inside = [frame for _, frame in sorted(frames, key=lambda each: each[0])]
    item.flows = outer
    for _, frame in frames:
        if id(frame) in inner or len(frame.inside) > MOST:
            _split(frame, inner.get(id(frame), {}))


def _frame(items: list[Item]) -> Item:
    if len(items) == 1:
        return items[0]
    phases = {each.phase for each in items}
    found = Item(-1, f"{items[0].label} … {items[-1].label}",
                 items[0].phase if len(phases) == 1 else "both", list(items))  # fmt: skip
    for each in items:
        found.made |= each.made
        found.used |= each.used
        found.pushed |= each.pushed
        found.popped |= each.popped
    return found


def _side(item: Item) -> str:
    return FORWARD if item.phase in (FORWARD, "both") else REVERSE


def _draw(item: Item, pictures: list[dict[str, Any]]) -> int:
    """Lay out what is inside of an item, and what is inside of that; return the picture's place."""
    place = len(pictures)
    picture: dict[str, Any] = {"node": item.node, "label": item.label, "items": [], "edges": []}
    pictures.append(picture)
    numbers = {each: k for k, each in enumerate(item.inside)}
    edges = [(numbers[a], numbers[b], kind, sorted(n)) for (a, b, kind), n in item.flows.items()]
    places: dict[int, tuple[float, float]] = {}
    widths = {k: _width(each.label) for k, each in enumerate(item.inside)}
    sizes = {}
    for side in (FORWARD, REVERSE):
        mine = [k for k, each in enumerate(item.inside) if _side(each) == side]
        if mine:
            own = [(a, b) for a, b, kind, _ in edges if a in mine and b in mine and kind == "data"]
            found, sizes[side] = _laid_out(mine, own, widths, up=side == REVERSE)
            shift = sizes[FORWARD][0] + 1.6 if side == REVERSE and FORWARD in sizes else 0.0
            places |= {k: (x + shift, y) for k, (x, y) in found.items()}
    for k, each in enumerate(item.inside):
        x, y = places[k]
        opened = -1
        if each.inside and len(pictures) < MOST_PICTURES:
            opened = _draw(each, pictures)
        picture["items"].append(
            [each.node, "" if each.node >= 0 else each.label, each.phase, opened,
             round(72 * x), round(72 * y), round(72 * widths[k]), round(72 * _HEIGHT)]
        )  # fmt: skip
    picture["edges"] = [[a, b, kind, names[:6]] for a, b, kind, names in edges]
    return place


def _flows(items: Sequence[Item]) -> Flows:
    """Return what flows from one item to another: data, or what the tape keeps."""
    found: Flows = {}
    last: dict[str, Item] = {}
    kept: dict[str, Item] = {}
    for item in items:
        for name in item.used:
            maker = last.get(name, item)
            if maker is not item:
                kind = "data" if _side(maker) == _side(item) else "held"
                found.setdefault((maker, item, kind), set()).add(name)
        for name in item.popped:
            keeper = kept.get(name, item)
            if keeper is not item:
                found.setdefault((keeper, item, "tape"), set()).add(name)
        last.update(dict.fromkeys(item.made, item))
        kept.update(dict.fromkeys(item.pushed, item))
    return found


def _width(label: str) -> float:
    return min(max(_LEAST, _CHARACTER * len(label) + 0.3), _WIDEST)


def _laid_out(
    items: Sequence[int], edges: Sequence[tuple[int, int]], widths: dict[int, float], *, up: bool
) -> tuple[dict[int, tuple[float, float]], tuple[float, float]]:
    """Return the places of boxes, in inches from the top left, and the size of all together."""
    lines = [
        "digraph g {", f"rankdir={'BT' if up else 'TB'}; nodesep=0.25; ranksep=0.35;",
        "node [shape=box, fixedsize=true, label=\"\"];",
    ]  # fmt: skip
    lines += [f"n{k} [width={widths[k]:.2f}, height={_HEIGHT}];" for k in items]
    lines += [f"n{a} -> n{b};" for a, b in edges]
    # What has nothing to do with each other stands in the order of the program.
    lines += [f"n{a} -> n{b} [style=invis, weight=0];" for a, b in pairwise(items)]
    text = Graph("\n".join([*lines, "}"])).pipe("plain").decode()
    places: dict[int, tuple[float, float]] = {}
    width = height = 0.0
    for line in text.splitlines():
        words = line.split()
        if words[0] == "graph":
            width, height = float(words[2]), float(words[3])
        elif words[0] == "node":
            places[int(words[1][1:])] = float(words[2]), height - float(words[3])
    return places, (width, height)


__all__ = ["MOST", "diagram"]
