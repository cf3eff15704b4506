"""Pictures of gradients: what they show, where it stands, and how they are folded and written."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc import cli
from adc.api.derivative import Derivative
from adc.compiler import planning
from adc.compiler.driver import Compilation
from adc.inspect.drawing import Cluster, Drawing, draw
from adc.inspect.folding import count, fold, fold_below
from adc.inspect.graph import Graph, graph, graph_of
from adc.ir.core import Function
from adc.ir.errors import MissingPackageError


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def line(x: float, y: float) -> float:
    a = math.sin(x) * y
    return a * a + x


def growth(x: float, n: float) -> float:
    s = 0.0
    while x < n:
        if x < 1.0:
            x = x * x + 0.5
            s += math.sin(x)
        else:
            x = x + s * 0.5 + 0.3
    return s * x


def cholesky(a: Any) -> Any:
    n = len(a)
    for j in range(n):
        for k in range(j):
            for i in range(j, n):
                a[i, j] -= a[i, k] * a[j, k]
        d = np.sqrt(a[j, j])
        for i in range(j, n):
            a[i, j] /= d
    s = 0.0
    for j in range(n):
        s += np.log(a[j, j])
    return s


def tree(x: float, n: int) -> float:
    """Recursion: callees."""
    if n == 0:
        return math.sin(x)
    return tree(0.5 * x, n - 1) * tree(x, n - 1)


PROGRAMS: dict[Any, tuple[Any, ...]] = {
    line: (1.0, 2.0),
    growth: (0.1, 4.0),
    cholesky: (np.eye(3),),
    tree: (1.0, 3),
}


@functools.cache
def _compiled(fn: Any) -> Compilation:
    derivative: Derivative = adc.grad(fn)
    code = derivative._code
    return planning.compilation(code, code.match(PROGRAMS[fn], {}))


def _before_remat(made: Compilation) -> Function:
    names = [name for name, _ in made.trace.stages]
    return made.trace.stages[names.index("remat") - 1][1]


def _side(drawing: Drawing, kind: str) -> Cluster:
    (found,) = [each for each in drawing.top.clusters() if each.kind == kind]
    return found


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: str(fn.__name__))
def test_recalls_lead_from_forward_to_reverse_code(fn: Any) -> None:
    drawing = draw(_before_remat(_compiled(fn)))
    forward = set(_side(drawing, "forward").nodes())
    reverse = set(_side(drawing, "reverse").nodes())
    recalls = [edge for edge in drawing.shown() if edge.kind == "recall"]
    assert recalls
    assert all(edge.source in forward and edge.target in reverse for edge in recalls)
    # Iterations that run with their reverse code stand with it, and read what is in front of them.
    assert not any(edge.source in reverse and edge.target in forward for edge in drawing.shown())
    assert sum(node.label.startswith("gradient ") for node in reverse) == 1


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: str(fn.__name__))
def test_decisions_are_coloured(fn: Any) -> None:
    made = _compiled(fn)
    assert made.plan is not None
    source = graph(_before_remat(made), made.plan, depth=99).source
    assert source == graph_of(made.trace, made.plan, depth=99).source
    drawing = draw(_before_remat(made))
    drawn = {edge.values[0] for edge in drawing.edges if edge.kind == "recall"}
    for entry in made.plan.entries:
        if entry.value in drawn:
            assert f"{entry.label}: {entry.reason}" in source


@pytest.mark.parametrize("most", [60, 30, 12])
def test_inner_loops_are_folded_first(most: int) -> None:
    drawing = draw(_before_remat(_compiled(cholesky)))
    whole = len(list(drawing.top.nodes()))
    fold(drawing, most)
    nodes = list(drawing.top.nodes())
    folded = [each for each in nodes if each.shape == "box3d"]
    assert len(nodes) <= most < whole
    drawn = [each for each in drawing.top.clusters() if each.kind == "loop"]
    # Nothing that is still drawn lies deeper than what was folded.
    assert all(cluster.depth <= node.parent.depth + 1 for cluster in drawn for node in folded)
    assert {end for edge in drawing.shown() for end in (edge.source, edge.target)} <= set(nodes)


def test_code_without_loops_is_folded_by_lines() -> None:
    drawing = draw(_before_remat(_compiled(line)))
    fold(drawing, 6)
    labels = [node.label for node in drawing.top.nodes() if node.shape == "box3d"]
    assert len(list(drawing.top.nodes())) <= 6
    start = inspect.getsourcelines(line)[1]
    assert any(each.startswith(f"line {start + 1}: a = math.sin(x) * y\n(") for each in labels)


@pytest.mark.full
def test_small_graphs_are_not_folded() -> None:
    made = _compiled(line)
    drawing = draw(_before_remat(made))
    before = [node.label for node in drawing.top.nodes()]
    fold(drawing, 150)
    assert [node.label for node in drawing.top.nodes()] == before
    source = graph_of(made.trace, made.plan).source
    assert "box3d" not in source
    assert source.count("shape=") - 1 - source.count("shape=point") == len(before) - 1


def test_sizes_and_checks_are_left_out_first() -> None:
    drawing = draw(_before_remat(_compiled(cholesky)))
    whole = len(list(drawing.top.nodes()))
    assert any(node.label.startswith("check ") for node in drawing.top.nodes())
    fold(drawing, whole - 1)
    labels = [node.label for node in drawing.top.nodes()]
    assert len(labels) < whole
    assert not any(label.startswith("check ") or " = dim[" in label for label in labels)
    assert not any(node.shape == "box3d" for node in drawing.top.nodes())


def test_folded_loops_show_their_line() -> None:
    drawing = draw(_before_remat(_compiled(cholesky)))
    fold(drawing, 12)
    labels = [node.label for node in drawing.top.nodes() if node.shape == "box3d"]
    start = inspect.getsourcelines(cholesky)[1]
    assert any(
        re.match(rf"line {start + 2}: for j in range\(n\):\n\(\d+ s", each) for each in labels
    )
    assert any(each.startswith(f"reverse of line {start + 2}: for j in") for each in labels)


def orbit(x: Any, rates: Any) -> Any:
    fast, slow = rates
    total = 0.0
    for v in x:
        if v > 0.5:
            total += np.exp(fast * v) * slow
        else:
            total = np.sin(total)
    return total


@pytest.mark.full
def test_temporaries_have_the_users_expressions() -> None:
    made = adc.grad(orbit).compiled_for(np.ones(3), np.ones(2)).compilation
    labels = [node.label for node in draw(_before_remat(made)).top.nodes()]
    own = {"rates[0]", "v > 0.5", "fast * v", "total += np.exp(fast * v) * slow"}
    assert own | {"recall np.exp(fast * v)", "if (v > 0.5)"} <= {*labels}
    assert any(re.fullmatch(r"total\.\d = total or total\.\d", label) for label in labels)
    assert any(label.startswith("(fast * v).ct = ") for label in labels)
    named = [label for label in labels if re.search(r"\bt(\.\d+)?\b", label)]
    assert not [each for each in named if "rates.dim0" not in each and "check" not in each]


def helper(x: Any) -> Any:
    y = np.sin(x)
    return y * y


def layered(x: Any, w: Any) -> Any:
    for k in range(len(w)):
        x = helper(x * w[k])
        x = x + helper(x)
    a = helper(x)
    b = np.exp(a) * a
    return np.sum(b)


def _layered() -> Compilation:
    made: Any = adc.grad(layered)._code
    found: Compilation = planning.compilation(made, made.match((np.ones(3), np.ones(4)), {}))
    return found


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4, 5, 99])
def test_depth(depth: int) -> None:
    drawing = draw(_before_remat(_layered()))
    whole = count(drawing)
    fold_below(drawing, depth)
    drawn = [each for each in drawing.top.clusters() if each.kind in ("loop", "branch", "line")]
    assert max([each.depth for each in drawn], default=1) <= depth + 1
    if 0 < depth < 3:
        assert max(each.depth for each in drawn) == depth + 1
    folded = any(node.folded is not None for node in drawing.top.nodes())
    assert folded or depth > 3
    assert folded != any(node.is_minor for node in drawing.top.nodes())
    assert folded == (count(drawing) < whole)
    if depth == 0:
        labels = [node.label.replace("\n", " ") for node in drawing.top.nodes()]
        start = inspect.getsourcelines(layered)[1]
        for word in ("", "reverse of "):
            for text in (f"{start + 1}: for k in range", f"{start + 4}: a = helper(x)"):
                assert any(each.startswith(f"{word}line {text}") for each in labels)
        kinds = {node.shape for node in drawing.top.nodes()}
        assert kinds <= {"box3d", "ellipse", "box", "note"}
    # What is folded stands for all of its statements, once.
    sizes = [node.folded.size() for node in drawing.top.nodes() if node.folded is not None]
    plain = [node for node in drawing.top.nodes() if node.folded is None]
    assert sum(sizes) + len(plain) == drawing.top.size()


@pytest.mark.full
def test_lines_that_call_are_frames_with_what_they_call() -> None:
    drawing = draw(_before_remat(_layered()))
    fold_below(drawing, 99)
    start = inspect.getsourcelines(layered)[1]
    calls = [each for each in drawing.top.clusters() if each.is_call]
    assert any(each.source == f"{start + 2}: x = helper(x * w[k])" for each in calls)
    for each in calls:
        assert each.depth > 1
    assert "helper(x * w[k])" in graph(_before_remat(_layered()), depth=99).source


def test_what_is_kept_is_summed_up() -> None:
    made = _layered()
    assert made.plan is not None
    source = graph_of(made.trace, made.plan, depth=0).source
    labels = re.findall(r'label="([^"]*)"[^]]*shape=box3d', source)
    kept = [entry for entry in made.plan.entries if entry.decision in ("kept", "held")]
    numbers = [
        int(found[1]) for each in labels if (found := re.search(r"(\d+) values? kept", each))
    ]
    assert kept
    assert sum(numbers) == len(kept)


def test_arguments_of_one_name_are_one_node() -> None:
    def many(model: Any) -> Any:
        total = 0.0
        for each in model:
            total = total + np.sum(each["w"] * each["w"])
        return total

    code: Any = adc.grad(many)._code
    given = [{"w": np.ones(k + 1)} for k in range(12)]
    drawing = draw(_before_remat(planning.compilation(code, code.match((given,), {}))))
    fold(drawing, 10)
    labels = [node.label for node in drawing.top.nodes()]
    params = [each for each in labels if re.match(r"model(_\d+_w)?: ", each)]
    assert len(params) == 1
    assert count(drawing) <= 12


@pytest.mark.full
@pytest.mark.parametrize("fn", [cholesky, growth, layered], ids=lambda fn: str(fn.__name__))
def test_pictures_fit_a_page(fn: Any) -> None:
    made = _layered() if fn is layered else _compiled(fn)
    text = graph_of(made.trace, made.plan)._repr_svg_()
    wide = re.search(r'<svg width="([\d.]+)pt"', text)
    scale = re.search(r"scale\(([\d.]+)", text)
    assert wide
    assert scale
    assert float(wide[1]) * 4 / 3 <= 1600
    fonts = map(float, re.findall(r'font-size="([\d.]+)"', text))
    assert min(fonts) * float(scale[1]) * 4 / 3 >= 9.0


def test_every_decision_has_a_colour() -> None:
    """Of arrays that are held, for instance, which once had none."""
    made = _compiled(cholesky)
    assert made.plan is not None
    for decision in ("held", "checkpointed", "atomic"):
        entries = tuple(replace(each, decision=decision) for each in made.plan.entries)
        source = graph_of(made.trace, replace(made.plan, entries=entries), depth=99).source
        assert (f"> {decision} </TD>" in source) == (decision != "atomic")


def test_edges_are_drawn_for_what_takes_memory() -> None:
    made = _compiled(cholesky)
    assert made.plan is not None
    source = graph_of(made.trace, made.plan, depth=99).source
    kept = [entry for entry in made.plan.entries if entry.decision == "kept"]
    assert kept
    assert source.count("style=dashed") < source.count('label="recall ')
    for entry in kept:
        assert f'label="recall {entry.value}\\n{entry.bytes} bytes"' in source


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: str(fn.__name__))
def test_graphviz_takes_it(fn: Any) -> None:
    made = _compiled(fn)
    text = graph_of(made.trace, made.plan)._repr_svg_()
    assert text.count("<svg") == 1
    left, right = (
        float(re.findall(rf'<text[^>]* x="([-\d.]+)"[^>]*>{side}</text>', text)[0])
        for side in ("forward", "reverse")
    )
    assert left < right


def test_files(tmp_path: Path) -> None:
    made = Graph('digraph { a -> "b" }')
    starts = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "dot": b"digraph"}
    for suffix, start in starts.items():
        path = tmp_path / f"out.{suffix}"
        made.save(path)
        assert path.read_bytes().startswith(start)


def test_method() -> None:
    slope = adc.grad(line)
    assert isinstance(slope, Derivative)
    assert "reverse" in str(slope.graph(1.0, 2.0))
    assert slope.graph().source == slope.graph(1.0, 2.0).source


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.svg"
    assert cli.main(["graph", f"{__file__}:line", "-o", str(out)]) == 0
    assert "<svg" in out.read_text()
    assert cli.main(["graph", f"{__file__}:line"]) == 0
    assert capsys.readouterr().out.startswith("digraph")
    assert cli.main(["graph", f"{__file__}:line", "--depth", "0"]) == 0
    assert "box3d" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["graph", f"{__file__}:line", "--depth", "-1"])
    with pytest.raises(SystemExit) as caught:
        cli.main(["graph", f"{__file__}:line", "-o", "out.bmp"])
    assert caught.value.code == 2


@pytest.mark.parametrize("package", ["graphviz", "pygraphviz"])
def test_missing_package(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == package:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    made = _compiled(line)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingPackageError, match=f"need the package {package}") as caught:
        graph_of(made.trace, made.plan).pipe("svg")
    assert "pip install 'adc-autodiff[graph]'" in str(caught.value)
