"""Products of a matrix with many vectors: which are made for blocks, and that they are right."""

from __future__ import annotations

import inspect
import itertools
import linecache
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.compiler.driver import transform
from adc.frontend.entry import lower
from adc.ir.analysis.target import Target
from adc.ir.core import Apply, For, Function, Gemm, Load, walk
from adc.passes.loops.products import find
from tests.corpus.loops.product_programs import PRODUCT_PROGRAMS
from tests.corpus.program import Program
from tests.oracle import chain

# How many products of each program are made for blocks of iterations.
BLOCKS = {
    "two_layers_of_each_row": 2,
    "rows_times_matrix": 1,
    "residual_layers_of_each_row": 2,
    "normalised_row_in_two_products": 2,
    "recurrent_with_products_of_inputs": 1,  # the other one is with what the loop carries
    "products_with_a_matrix_that_changes": 1,
    "products_of_rows_in_an_order": 1,
    "products_with_a_masked_matrix": 1,
    "product_of_a_chosen_vector": 1,
    "product_in_a_branch": 0,
    "product_behind_a_check": 1,
    "products_in_a_nest": 1,
    "products_of_single_precision": 1,
    "vector_that_is_changed_after_its_product": 1,
}
BY_NAME = {program.name: program for program in PRODUCT_PROGRAMS}
each = pytest.mark.parametrize("program", PRODUCT_PROGRAMS, ids=str)


def around(fn: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Function, Function]:
    """Return a function before and after the pass."""
    names = inspect.signature(fn).parameters
    types = {name: chain.type_tree(arg) for name, arg in zip(names, args, strict=True)}
    stages = transform(lower(fn, types), ()).trace.stages
    return next(
        (before, after)
        for (_, before), (name, after) in itertools.pairwise(stages)
        if name == "products"
    )


def count(fn: Function) -> int:
    return sum(isinstance(stmt, Gemm) and stmt.rowwise for stmt in walk(fn.body))


def complaints(program: Program) -> list[str]:
    """Return what is wrong with what the pass makes of a program, in the interpreter."""
    found: list[str] = []
    try:
        before, after = around(program.fn, program.make_args())
        (want,) = chain.run(before, chain.fresh(program.args))[:1]  # type: ignore[arg-type]
        (got,) = chain.run(after, chain.fresh(program.args))[:1]  # type: ignore[arg-type]
    except Exception as error:
        return [f"{program}: {error!r}"]
    if got != pytest.approx(want, rel=1e-5 if "float32" in program.tags else 1e-13):
        found.append(f"{program}: {got} instead of {want}")
    return found


def test_every_program_is_listed() -> None:
    assert BLOCKS.keys() == BY_NAME.keys()


@each
def test_what_is_made_for_blocks(program: Program) -> None:
    before, after = around(program.fn, program.make_args())
    assert (count(before), count(after)) == (0, BLOCKS[program.name])
    assert not complaints(program)


def test_a_vector_that_depends_on_what_is_carried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "_depends", lambda *_: False)
    assert complaints(BY_NAME["recurrent_with_products_of_inputs"])


def test_a_matrix_that_depends_on_the_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program("f", _own_matrices, (_X, np.stack([_W] * len(_X))), (0, 1), frozenset())
    assert count(around(program.fn, program.make_args())[1]) == 0
    monkeypatch.setattr(find, "_depends", lambda *_: False)
    assert complaints(program)


_X = np.random.default_rng(3).standard_normal((70, 5))
_W = np.random.default_rng(4).standard_normal((4, 5)) * 0.3


def _own_matrices(x: Any, ws: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += np.sum((ws[i] @ x[i]) ** 2)
    return total


def test_arrays_behind_a_vector_that_are_longer_in_every_iteration() -> None:
    program = Program("f", _longer_and_longer, (_W[:, :4], _X[0, :4]), (0, 1), frozenset())
    assert count(around(program.fn, program.make_args())[1]) == 0
    assert not complaints(program)


def _longer_and_longer(w: Any, x: Any) -> Any:
    total = 0.0
    for k in range(len(x)):
        u = np.sin(x[: k + 1])
        v = x * np.sum(u)
        y = np.tanh(w @ v)
        total += np.sum(y) * np.prod(u) + u[0]
    return total


def test_sums_that_arrays_hold_are_in_order() -> None:
    """Otherwise they would become lanes where a later pass has a number carried in their place."""

    def product(x: Any, w: Any) -> Any:
        return x @ w

    def free(fn: Function) -> int:
        loaded = {stmt.result for stmt in walk(fn.body) if isinstance(stmt, Load)}
        return sum(
            isinstance(stmt, Apply) and stmt.op.reorders and stmt.args[0] in loaded
            for stmt in walk(fn.body)
        )

    before, after = around(product, (_X[0], _W.T.copy()))
    assert (free(before), free(after)) == (1, 0)


# -- compiled --------------------------------------------------------------------------------------


def loss(p: Any, x: Any, y: Any) -> Any:
    h = np.tanh(p["w"] @ x + p["b"])
    h = h + np.tanh(h @ p["u"])
    return np.sum((p["v"] @ h - y) ** 2)


def total(p: Any, x: Any, y: Any) -> Any:
    return np.mean(adc.vmap(loss, (None, 0, 0))(p, x, y))


def data(count: int) -> tuple[Any, Any, Any]:
    drawn = np.random.default_rng(5)
    shapes = {"w": (6, 5), "b": (6,), "u": (6, 6), "v": (3, 6)}
    p = {name: drawn.standard_normal(shape) * 0.4 for name, shape in shapes.items()}
    return p, drawn.standard_normal((count, 5)), drawn.standard_normal((count, 3))


def bits(tree: Any) -> bytes:
    return b"".join(np.asarray(tree[name]).tobytes() for name in sorted(tree))


@pytest.mark.full
@pytest.mark.parametrize("number", [1, 7, 31, 32, 33, 64, 100])
def test_gradients_of_batches(number: int) -> None:
    p, x, y = data(number)
    found = adc.grad(total)(p, x, y)
    rows = adc.vmap(adc.grad(loss), (None, 0, 0))(p, x, y)
    one = adc.grad(loss)
    want = [one(p, x[i], y[i]) for i in range(number)]
    for name in p:
        rows_of = [each[name] for each in want]
        np.testing.assert_allclose(rows[name], rows_of, rtol=1e-11, atol=1e-14)
        mean = np.mean([each[name] for each in want], axis=0)
        np.testing.assert_allclose(found[name], mean, rtol=1e-11, atol=1e-14)


def test_sizes_that_checks_equate_are_one() -> None:
    """Loops of derivatives fuse then: gradients of every example are written as results."""

    def network(p: Any, x: Any, y: Any) -> Any:
        return np.sum((p["v"] @ np.tanh(p["w"] @ x + p["b"]) - y) ** 2)

    gradients = adc.vmap(adc.grad(network), (None, 0, 0))
    p, x, y = data(40)
    gradients({name: p[name] for name in "bvw"}, x, y)
    source = gradients.source()
    sizes = set(re.findall(r"for \w+ in \w+\((args_\w+?_dim\d)[,)]", source))
    assert sizes == {"args_0_v_dim0", "args_0_w_dim0", "args_0_w_dim1"}
    # An iteration stores each result once, and copies only the vectors of the product.
    _, _, iterations = source.partition("for block in")
    stored = re.findall(r"^ +(\w+?)_?\d*\[.*\] = ", iterations, re.MULTILINE)
    assert [each for each in stored if each != "state"] == ["rows", "rows", "tape_f", *"aaa"]


@pytest.mark.full
@pytest.mark.parametrize(
    "options",
    [{"remat": "store"}, {"remat": "recompute"}, {"memory": "30 kB"}, {"target": "python"}],
    ids=str,
)
def test_plans_have_the_same_bits(options: dict[str, Any]) -> None:
    args = data(100)
    assert bits(adc.grad(total, **options)(*args)) == bits(adc.grad(total)(*args))


@pytest.mark.full
def test_threads_have_the_same_bits() -> None:
    args = data(100)
    made = [bits(adc.grad(total, parallel=number)(*args)) for number in (1, 2, 3)]
    assert len(set(made)) == 1


def test_memory_does_not_grow_with_the_batch() -> None:
    """Reverse code of a block follows its forward code."""
    few, many = (adc.grad(total).plan(*data(number)).peak_bytes for number in (400, 4000))
    assert few is not None
    assert many == few + 8 * 3600  # the losses


@pytest.mark.full
def test_second_derivatives() -> None:
    p, x, y = data(40)
    v = {name: np.cos(np.arange(w.size)).reshape(w.shape) for name, w in p.items()}

    def along(p: Any) -> Any:
        found = adc.grad(total)(p, x, y)
        return sum(np.sum(found[name] * v[name]) for name in ("b", "u", "v", "w"))

    got = adc.grad(along)(p)
    step = 1e-6
    moved = [{name: p[name] + s * step * v[name] for name in p} for s in (1, -1)]
    ahead, behind = (adc.grad(total)(each, x, y) for each in moved)
    for name in p:
        slope = (ahead[name] - behind[name]) / (2 * step)
        np.testing.assert_allclose(got[name], slope, rtol=1e-6, atol=1e-8)


@pytest.mark.full
def test_jacobians() -> None:
    w, xs = data(40)[0]["w"], _X[:40]

    def outputs(w: Any) -> Any:
        return adc.vmap(lambda x: np.tanh(w @ x))(xs)

    forward, reverse = adc.jacfwd(outputs)(w), adc.jacrev(outputs)(w)
    want = np.zeros((40, 6, 6, 5))
    slopes = 1.0 - np.tanh(xs @ w.T) ** 2
    for k in range(6):
        want[:, k, k] = slopes[:, k, None] * xs
    np.testing.assert_allclose(forward, want, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(reverse, want, rtol=1e-12, atol=1e-14)


def test_rows_that_do_not_count() -> None:
    """An iteration whose cotangent is zero contributes nothing, whatever its vector is."""

    def chosen(w: Any, x: Any, counts: Any) -> Any:
        total: Any = 0.0
        for i in range(len(x)):
            y = w @ x[i]
            total += np.where(counts[i], np.sum(y * y), 0.0)
        return total

    x = _X.copy()
    x[3], x[66] = np.nan, np.inf
    counts = np.isfinite(x[:, 0])
    assert count(around(chosen, (_W, x, counts))[1]) == 1
    got = adc.grad(chosen)(_W, x, counts)
    kept = x[counts]
    np.testing.assert_allclose(got, 2.0 * _W @ kept.T @ kept, rtol=1e-12)


def test_an_error_comes_where_python_has_it() -> None:
    def checked(w: Any, x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            y = w @ x[i]
            if y[0] > 2.0:
                raise ValueError(f"row {i}")
            total += np.sum(y)
        return total

    x = np.zeros((50, 5))
    x[37] = x[41] = 10.0 * np.sign(_W[0])
    with pytest.raises(ValueError, match="row 37"):
        adc.jit(checked)(_W, x)


# -- threads ---------------------------------------------------------------------------------------


def shared_loops(fn: Callable[..., Any], args: tuple[Any, ...]) -> list[bool]:
    """Return for each loop that threads share whether its iterations multiply matrices."""
    names = inspect.signature(fn).parameters
    types = {name: chain.type_tree(arg) for name, arg in zip(names, args, strict=True)}
    made = transform(lower(fn, types), (), target=Target(parallel=True)).fn
    return [
        any(isinstance(inner, Gemm) for inner in walk(stmt.body.stmts))
        for stmt in walk(made.body)
        if isinstance(stmt, For) and stmt.parallel
    ]


@pytest.mark.full
def test_threads_multiply() -> None:
    def rows(x: Any, w: Any) -> Any:
        out = np.empty((len(x), len(w)))
        for i in range(len(x)):
            out[i] = np.tanh(w @ x[i])
        return out

    assert shared_loops(rows, (_X, _W)) == [True]
    x = np.random.default_rng(6).standard_normal((2000, 5))
    found = [adc.jit(rows, parallel=number)(x, _W) for number in (1, 2, 3)]
    np.testing.assert_allclose(found[0], np.tanh(x @ _W.T), rtol=1e-12, atol=1e-15)
    for each in found:
        np.testing.assert_allclose(each, found[0], rtol=1e-14)
    p, x, y = data(500)
    alone = adc.vmap(adc.grad(loss), (None, 0, 0))(p, x, y)
    together = adc.vmap(adc.grad(loss), (None, 0, 0), parallel=2)(p, x, y)
    for name in p:
        np.testing.assert_allclose(together[name], alone[name], rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize(("width", "apart"), [(8, True), (9, False), (5, True)])
def test_blocks_that_overlap(width: int, apart: bool) -> None:
    """Iterations that touch elements of each other's blocks are in order."""
    namespace: dict[str, Any] = {}
    lines = (
        "def blocks(x, out):",
        "    for b in range(len(x)):",
        f"        for k in range({width}):",
        "            out[8 * b + k] = out[8 * b + k] * 0.5 + x[b] * k",
        "    return out",
    )
    text = "\n".join(lines) + "\n"
    name = f"<blocks of {width}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), namespace)
    fn = namespace["blocks"]
    x, out = np.arange(50.0), np.ones(8 * 50 + 1)
    assert (shared_loops(fn, (x, out)) != []) is apart
    want = fn(x, out.copy())
    np.testing.assert_array_equal(adc.jit(fn, parallel=3)(x, out.copy()), want)
