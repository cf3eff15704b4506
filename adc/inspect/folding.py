"""Folding: what is too large to be read is drawn as one node with a summary.

First sizes, indices and checks are left out. What is left is put into frames by the lines of the
source that it comes from, under the lines of the functions that call these; then the innermost
frames are folded: lines, calls, loops, branches, functions. Arguments of one name become one node.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from adc.inspect.drawing import Cluster, Drawing, Node, cut
from adc.ir.errors import Span

# As many arguments as this have a node each.
_ARGUMENTS = 8
# Where a line of a label of what is folded is broken, and how many lines it has.
_WIDTH, _LINES = 34, 2


def count(drawing: Drawing) -> int:
    """Return the number of nodes that are drawn."""
    return sum(1 for _ in drawing.top.nodes())


def fold(drawing: Drawing, most: int) -> None:
    """Leave out minor nodes, then fold frames, the innermost first, until few enough are left."""
    if count(drawing) <= most:
        return
    _leave_out_minor(drawing)
    if count(drawing) <= most:
        return
    _by_lines(drawing)
    frames = [each for each in drawing.top.clusters() if _can_fold(each)]
    left = count(drawing)
    for frame in sorted(frames, key=lambda each: (each.depth, each.size()), reverse=True):
        if left <= most:
            return
        left -= sum(1 for _ in frame.nodes()) - 1
        _fold(frame)
    if left > most:
        _in_runs(drawing, most)


def fold_below(drawing: Drawing, depth: int) -> None:
    """Fold the frames that lie in so many others, within forward or reverse code.

    Where there are some, minor nodes are left out.
    """
    _by_lines(drawing)
    if any(_can_fold(each) and each.depth > depth + 1 for each in drawing.top.clusters()):
        _leave_out_minor(drawing)
    while frames := [
        each for each in drawing.top.clusters() if _can_fold(each) and each.depth > depth + 1
    ]:
        _fold(min(frames, key=lambda each: each.depth))


def _can_fold(frame: Cluster) -> bool:
    """Whether a frame may become a node: an arm stays with its branch."""
    return frame.kind in ("loop", "branch", "line") and len(frame.items) > 0


def _fold(frame: Cluster) -> None:
    assert frame.parent is not None
    made = Node(_label(frame), "box3d", frame.parent, tooltip=frame.source or frame.label)
    made.folded = frame
    frame.folded = made


def _label(frame: Cluster) -> str:
    """Return the line in the source, or what the frame says if that is not known."""
    text = frame.label
    if frame.source:
        word = "reverse of " if _is_reverse(frame) else ""
        text = f"{word}line {frame.source}"
    size = frame.size()
    return f"{_broken(text)}\n({size} statement{'s' * (size != 1)})"


def _is_reverse(frame: Cluster) -> bool:
    return frame.label.startswith("reverse ") or bool(frame.chain and frame.chain[-1].reverse)


def _broken(text: str) -> str:
    """Return a text in a few short lines."""
    lines, words = [""], text.split(" ")
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > _WIDTH:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    if len(lines) > _LINES:
        lines = [*lines[: _LINES - 1], f"{lines[_LINES - 1]} …"]
    return "\n".join(cut(line) for line in lines)


def _leave_out_minor(drawing: Drawing) -> None:
    """Remove minor nodes, and frames that are empty then."""

    def clean(cluster: Cluster) -> None:
        for item in cluster.items:
            if isinstance(item, Cluster):
                clean(item)
        cluster.items = [
            item
            for item in cluster.items
            if (not item.is_minor if isinstance(item, Node) else item.items)
        ]

    clean(drawing.top)
    drawing.edges = [
        edge for edge in drawing.edges if not (edge.source.is_minor or edge.target.is_minor)
    ]


# --- frames ---------------------------------------------------------------------------------------


def _by_lines(drawing: Drawing) -> None:
    """Put what lies in frames into frames by lines and calls; arguments of one name into one."""
    sides = [side for side in drawing.top.items if isinstance(side, Cluster)]
    for frame, level in [found for side in sides for found in _levels(side, 0)]:
        _wrap(frame, level)
    for side in sides:
        _arguments(side)


def _levels(frame: Cluster, level: int) -> Iterator[tuple[Cluster, int]]:
    """Yield the frames around statements, each with the number of calls that lead there."""
    if frame.kind != "branch" or not frame.chain:  # but of a branch the arms; and a function
        yield frame, level
    for item in frame.items:
        if isinstance(item, Cluster):
            yield from _levels(item, max(len(item.chain) - 1, 0) if item.chain else level)


def _wrap(frame: Cluster, level: int) -> None:
    """Put the items of a frame into frames by the lines at a level of the calls that lead there."""
    found: list[Node | Cluster] = []
    last: Cluster | None = None
    for item in frame.items:
        if len(item.chain) <= level:
            last = None
            found.append(item)
            continue
        where = item.chain[level]
        if item.chain[-1].in_reverse:
            where = where.reversed()
        if last is None or not _same(last.chain[-1], where):
            word = "reverse of " if where.reverse else ""
            last = Cluster(cut(f"{word}{_source(where)}"), "line", frame)
            last.chain, last.source = (*item.chain[:level], where), cut(_source(where))
            found.append(last)
        last.items.append(item)
    frame.items = []
    for each in found:
        group = each if isinstance(each, Cluster) and each.kind == "line" else None
        if group is None:
            frame.items.append(each)
            continue
        calls = any(len(item.chain) > level + 1 for item in group.items)
        if len(found) == 1 and frame.kind in ("loop", "line"):
            # The frame says it already.
            frame.items = group.items
            if calls:
                frame.is_call = frame.kind == "line"
                _wrap(frame, level + 1)
        elif len(group.items) == 1 and (not calls or isinstance(group.items[0], Node)):
            frame.items += group.items
        else:
            frame.items.append(group)
            for item in group.items:
                item.parent = group
            if calls:
                group.is_call = True
                _wrap(group, level + 1)


def _same(one: Span, other: Span) -> bool:
    return (one.file, one.line, one.reverse) == (other.file, other.line, other.reverse)


def _source(span: Span) -> str:
    return f"{span.line}: {span.text().strip()}"


def _arguments(side: Cluster) -> None:
    """Fold arguments that are parts of one."""
    params = [item for item in side.items if isinstance(item, Node) and item.is_param]
    if len(params) <= _ARGUMENTS:
        return
    groups: dict[str, list[Node]] = {}
    for node in params:
        groups.setdefault(re.split(r"[._]", node.value)[0], []).append(node)
    for name, nodes in groups.items():
        if len(nodes) > 1:
            _together(side, nodes, f"{name}: {len(nodes)} arguments", "ellipse")


def _together(parent: Cluster, items: Sequence[Node | Cluster], label: str, shape: str) -> None:
    """Fold some items of a frame into one node."""
    group = Cluster(label, "line", parent)
    parent.items[parent.items.index(items[0])] = group
    for item in items:
        item.parent = group
        group.items.append(item)
    parent.items = [item for item in parent.items if item.parent is parent]
    group.folded = Node(label, shape, parent)
    group.folded.folded = group


def _in_runs(drawing: Drawing, most: int) -> None:
    """Fold what stands next to each other, where there is nothing else to fold."""
    for side in drawing.top.items:
        if not isinstance(side, Cluster):
            continue
        items = [item for item in side.items if not (isinstance(item, Node) and _stays(item))]
        room = max(most // 2 - (len(side.items) - len(items)), 1)
        step = math.ceil(len(items) / room)
        if step < 2:
            continue
        for k in range(0, len(items), step):
            run = items[k : k + step]
            if len(run) > 1:
                spans = {each.chain[0].line: each.chain[0] for each in run if each.chain}
                lines = sorted(spans)
                where = "code of no line"
                if lines:
                    one = _broken(f"line {_source(spans[lines[0]])}")
                    where = f"lines {lines[0]} to {lines[-1]}" if lines[1:] else one
                size = sum(1 if isinstance(each, Node) else each.size() for each in run)
                _together(side, run, f"{where}\n({size} statements)", "box3d")


def _stays(node: Node) -> bool:
    return node.shape == "ellipse"


__all__ = ["count", "fold", "fold_below"]
