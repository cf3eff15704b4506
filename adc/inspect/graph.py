"""The graph of a gradient: forward code on the left, reverse code on the right."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from adc.inspect.drawing import Cluster, Drawing, Edge, Node, draw
from adc.inspect.folding import count, fold, fold_below
from adc.ir.core import Function
from adc.ir.errors import MissingPackageError, installing
from adc.passes.remat.plan import (
    CHECKPOINTED,
    COPIED,
    HELD,
    KEPT,
    RECOMPUTED,
    RELOADED,
    Plan,
    PlanEntry,
)
from adc.passes.stages import Trace

if TYPE_CHECKING:
    import graphviz

# More nodes than this at once cannot be read.
MOST_NODES = 150
# Points that a page is wide (1,600 pixels), and a picture that is scaled down to it: its text then
# has 9 pixels. What is wider is folded further.
_PAGE, _WIDEST = 1200.0, 1950.0
_TALLEST = 1000  # inches

# No more is folded where there are fewer nodes than this.
_LEAST = 8

# Suffixes of the files that can be written.
FORMATS = (".svg", ".png", ".pdf", ".dot")

_COLOURS = {
    KEPT: "#f4a6a0",
    COPIED: "#f7c59f",
    RECOMPUTED: "#fae588",
    RELOADED: "#b5dfa5",
    # In the legend where there are such.
    HELD: "#f4c3d7",
    CHECKPOINTED: "#f2dc5d",
}
_RARE = (HELD, CHECKPOINTED)
_DARK = {KEPT: "#b3261e", COPIED: "#b85c00", HELD: "#a33a6b"}
# The longest formula of bytes in a node that is folded.
_LONGEST = 34
_FRAMES = {
    "forward": ("#f5f8fc", "#9db4cc"),
    "reverse": ("#fbf6fb", "#c3a6c3"),
    "loop": ("#ffffff", "#5b7083"),
    "branch": ("#fdfdf6", "#a8a48a"),
    "arm": ("#ffffff", "#a8a48a"),
    "line": ("#fafafa", "#c5ccd3"),
}
_FONT = "Helvetica,Arial,sans-serif"


class Graph:
    """A picture, in the language of Graphviz; notebooks show it.

    Attributes
    ----------
    source : str
        The text in Graphviz's language.
    """

    def __init__(self, source: str) -> None:
        self.source = source

    def pipe(self, format: str = "svg") -> bytes:
        """Return the picture as ``"svg"``, ``"png"``, ``"pdf"`` or ``"dot"``."""
        if format == "dot":
            return self.source.encode()
        try:
            import pygraphviz
        except ImportError:
            raise _missing("pygraphviz") from None
        made: bytes = pygraphviz.AGraph(string=self.source).draw(format=format, prog="dot")
        return made

    @property
    def width(self) -> float:
        """The points that the picture is wide before it is scaled; 0 without pygraphviz."""
        try:
            import pygraphviz
        except ImportError:
            return 0.0
        drawn = pygraphviz.AGraph(string=self.source)
        del drawn.graph_attr["size"]
        plain: bytes = drawn.draw(format="plain", prog="dot")
        return 72.0 * float(plain.split(None, 4)[2])

    def save(self, path: str | Path) -> None:
        """Write the picture to a file; the suffix says as what."""
        path = Path(path)
        path.write_bytes(self.pipe(path.suffix.removeprefix(".")))

    def _repr_svg_(self) -> str:
        return self.pipe("svg").decode()

    def __str__(self) -> str:
        return self.source


def graph_of(trace: Trace, plan: Plan | None, depth: int | None = None) -> Graph:
    """Return the picture of a compiled derivative: of the function as `remat` found it."""
    names = [name for name, _ in trace.stages]
    # Loops that run again as a whole are not shown: the plan says so of them.
    last = names.index("rerun" if "rerun" in names else "storage") - 1
    return graph(trace.stages[last][1], plan, depth=depth)


def graph(
    fn: Function,
    plan: Plan | None = None,
    most_nodes: int = MOST_NODES,
    depth: int | None = None,
) -> Graph:
    """Return a picture of a function with recalls, coloured by what the plan does about these.

    Parameters
    ----------
    fn : Function
        As `remat` finds it.
    plan : Plan, optional
        What `remat` decided.
    most_nodes : int
        Where there are more, sizes, indices and checks are left out, then lines, loops, branches
        and functions are folded, the innermost first. More is folded where the picture would be too
        wide for a page, if pygraphviz is there to tell.
    depth : int, optional
        Fold what lies in more functions, loops, branches and lines than this, and nothing else.

    Raises
    ------
    MissingPackageError
        If the package graphviz is not installed.
    """
    if depth is not None:
        drawing = draw(fn)
        fold_below(drawing, depth)
        return Graph(_Writer(drawing, plan).source())
    while True:
        drawing = draw(fn)
        fold(drawing, most_nodes)
        made = Graph(_Writer(drawing, plan).source())
        size = count(drawing)
        if most_nodes < _LEAST or made.width <= _WIDEST:
            return made
        most_nodes = min(most_nodes, size) * 5 // 6


def _missing(package: str) -> MissingPackageError:
    return MissingPackageError(
        f"pictures need the package {package}, which is not installed",
        None,
        installing("graph"),
    )


class _Writer:
    """Writes a drawing in Graphviz's language."""

    def __init__(self, drawing: Drawing, plan: Plan | None) -> None:
        self._drawing = drawing
        self._names = {node: f"n{k}" for k, node in enumerate(drawing.top.nodes())}
        self._clusters = 0
        self._sides: list[str] = []
        # The names that decide about a node: a callee may have values of the same names.
        recalled = {edge.source for edge in drawing.edges if edge.kind == "recall"}
        uses = Counter(node.value for node in self._names)
        self._decided = {node for node in self._names if uses[node.value] == 1 or node in recalled}
        self._recalled = {value for e in drawing.edges if e.kind == "recall" for value in e.values}
        self._plan: dict[str, PlanEntry] = {}
        if plan is not None:
            self._plan = {entry.value: entry for entry in (*plan.copies, *plan.entries)}

    def source(self) -> str:
        try:
            import graphviz
        except ImportError:
            raise _missing("graphviz") from None
        out = graphviz.Digraph(
            self._drawing.top.label,
            graph_attr={
                "compound": "true",
                "fontname": _FONT,
                "fontsize": "12",
                "label": self._legend(),
                "labelloc": "t",
                "nodesep": "0.2",
                "ranksep": "0.3",
                "size": f"{_PAGE / 72:.4g},{_TALLEST}",
                "splines": "true",
                "tooltip": self._drawing.top.label,
            },
            node_attr={
                "fontname": _FONT,
                "fontsize": "11",
                "height": "0.3",
                "margin": "0.08,0.04",
                "style": "filled",
                "fillcolor": "white",
                "color": "#5b7083",
            },
            edge_attr={"arrowsize": "0.6", "color": "#7d8b99", "fontname": _FONT, "fontsize": "11"},
        )
        for item in self._drawing.top.items:
            self._item(out, item)
        for edge in self._drawing.shown():
            self._edge(out, edge)
        # From an unseen point at the top of one side to the other's, so that they stand in order.
        for left, right in itertools.pairwise(self._sides):
            out.edge(left, right, style="invis", constraint="false")
        return str(out.source)

    def _item(self, out: graphviz.Digraph, item: Node | Cluster) -> None:
        if isinstance(item, Node):
            self._node(out, item)
        elif item.folded is not None:
            self._node(out, item.folded)
        elif item.kind == "line" and not item.is_call:
            for each in item.items:
                self._item(out, each)
        else:
            fill, line = _FRAMES[item.kind]
            self._clusters += 1
            with out.subgraph(name=f"cluster_{self._clusters}") as inner:
                inner.attr(
                    label=_escaped(item.label),
                    style="filled,rounded",
                    fillcolor=fill,
                    color=line,
                    fontcolor="#33424f",
                    labeljust="l",
                    tooltip=_escaped(item.label or item.kind),
                )
                if item.kind in ("forward", "reverse"):
                    inner.node(item.kind, "", shape="point", style="invis", width="0", height="0")
                    self._sides.append(item.kind)
                for each in item.items:
                    self._item(inner, each)

    def _node(self, out: graphviz.Digraph, node: Node) -> None:
        name = node.recalled or node.value
        entry = self._plan.get(name) if node in self._decided else None
        colour = _COLOURS.get(entry.decision, "white") if entry is not None else "white"
        label = node.label
        if node.folded is not None and (kept := self._kept(node.folded)):
            colour = _COLOURS[KEPT]
            formula = " + ".join(entry.bytes for entry in kept)
            many = f"{len(kept)} value{'s' * (len(kept) != 1)} kept"
            label += f"\n{many}: {formula} bytes" if len(formula) <= _LONGEST else f"\n{many}"
        tooltip = node.tooltip or node.label
        if entry is not None and node.is_recall:
            tooltip += f"\n{entry.label}: {entry.reason}"
            if entry.decision == KEPT:
                label += f"\n{entry.bytes} bytes"
        out.node(
            self._names[node],
            _escaped(label),
            shape=node.shape,
            fillcolor=colour,
            tooltip=_escaped(tooltip),
            **({"margin": "0.16,0.08"} if node.shape == "box3d" else {}),
        )

    def _kept(self, frame: Cluster) -> list[PlanEntry]:
        """Return what of forward code in a frame is kept for reverse code."""
        found: dict[str, PlanEntry] = {}
        for item in frame.items:
            if isinstance(item, Cluster):
                found.update((entry.value, entry) for entry in self._kept(item))
            elif item.value in self._recalled and not item.is_recall:
                entry = self._plan.get(item.value)
                if entry is not None and entry.decision in (KEPT, HELD):
                    found[entry.value] = entry
        return list(found.values())

    def _edge(self, out: graphviz.Digraph, edge: Edge) -> None:
        ends = (self._names[edge.source], self._names[edge.target])
        if edge.kind == "recall":
            # Recalls do not order the two sides: else the reverse code would stand below.
            look = self._recall(edge)
            if look is not None:
                out.edge(*ends, style="dashed", constraint="false", tailport="e", **look)
        elif edge.kind == "next":
            out.edge(*ends, style="dotted", constraint="false")
        elif edge.kind == "branch":
            out.edge(*ends, style="dotted", label=edge.label)
        else:
            out.edge(*ends, tooltip=_escaped(", ".join(edge.values)))

    def _recall(self, edge: Edge) -> dict[str, str] | None:
        """Return the look of an edge; none is drawn for what takes no memory: there are many."""
        entries = [self._plan[name] for name in edge.values if name in self._plan]
        held = [entry for entry in entries if entry.decision in (KEPT, COPIED, HELD)]
        if self._plan and not held:
            return None
        width = max([_width(entry.bytes) for entry in held], default=1.0)
        reasons = "\n".join(f"{entry.label}: {entry.reason}" for entry in entries)
        return {
            "color": _DARK[held[0].decision] if held else "#4a5661",
            "penwidth": f"{width:.1f}",
            "tooltip": _escaped(reasons),
        }

    def _legend(self) -> str:
        shown = {e.decision for name, e in self._plan.items() if name in self._recalled}
        cells = "".join(
            f'<TD BGCOLOR="{colour}"> {decision} </TD>'
            for decision, colour in _COLOURS.items()
            if decision not in _RARE or decision in shown
        )
        title = self._drawing.top.label
        return (
            f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="4"><TR><TD><B>{title}</B></TD>'
            f"<TD>  how reverse code gets forward values:</TD>{cells}</TR></TABLE>>"
        )


def _width(size: str) -> float:
    """Return the width of an edge: more for more bytes, or for more loops around a value."""
    try:
        return 1.0 + 0.25 * math.log2(max(int(size), 8) / 8)
    except ValueError:
        return 1.0 + 1.2 * size.count("*")


def _escaped(text: str) -> str:
    """Return a text in which no backslash means anything but itself, besides line breaks."""
    return text.replace("\\", "\\\\").replace("\n", "\\n") or " "


__all__ = ["FORMATS", "MOST_NODES", "Graph", "graph", "graph_of"]
