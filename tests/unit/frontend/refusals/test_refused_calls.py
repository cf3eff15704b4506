"""Calls that a function of `adc.library` does not support: refused at the program's line."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
import adc.library
from adc.frontend.entry import lower
from adc.ir.errors import LimitError, UnsupportedError
from tests.oracle import chain

LIBRARY = Path(adc.library.__file__).parent
X = np.array([0.3, 0.7, 1.1])
M = np.array([[2.0, 0.3, 0.1], [0.2, 3.0, 0.4], [0.1, 0.2, 4.0]])
STACK = np.stack([M, 2.0 * M])
Z = X + 1j

Program = Callable[..., Any]

# A program, its argument, the call that is refused, what the message says, and the hint.
REFUSED: list[tuple[Program, Any, str, str, str]] = [
    (lambda a: np.cross(a[:2], X), X, "np.cross(", "vectors of two", "`a[0] * b[1]"),
    (lambda z: np.nanmax(z), Z, "np.nanmax(", "of complex numbers", "real parts"),
    (lambda x: np.nanpercentile(x, 50, method="inverted_cdf"), X, "np.nan", "by this", "leave out"),
    (lambda x: np.quantile(x, 0.5, method="inverted_cdf"), X, "np.quan", "by this", "leave out"),
    (lambda x: np.percentile(x, 50, method="inverted_cdf"), X, "np.perc", "by this", "leave out"),
    (lambda x: np.histogram(x, "auto"), X, "np.hist", "a rule", "pass a number"),
    (lambda a: np.poly(a), M, "np.poly(", "`np.poly` of a matrix", "`np.linalg.eigvalsh(a)`"),
    (lambda z: np.poly(z), Z, "np.poly(", "of complex roots", "`np.polymul`"),
    (lambda x: np.polyfit(x, x, 1, full=True), X, "np.polyfit(", "with `full`", "`np.linalg.lst"),
    (lambda x: np.polyfit(x, x, 1, cov=True), X, "np.polyfit(", "or `cov`", "`np.linalg.lstsq`"),
    (lambda z: np.unwrap(z), Z, "np.unwrap(", "anything but floats", "pass floats"),
    (lambda x: np.unwrap(x.astype(int), period=4), X, "np.unwrap(", "but floats", "a period that"),
    (lambda x: np.histogram_bin_edges(x, "auto"), X, "np.hist", "a rule", "the edges"),
    (lambda x: np.histogram2d(x, x, "auto"), X, "np.histogram2d(", "a rule", "pass a number"),
    (lambda a: np.hypot.reduce(a, axis=(0, 1)), M, "np.hypot.reduce(", "several axes", "the other"),
    (lambda a: np.hypot.reduce(a, axis=None), M, "np.hypot.reduce(", "several axes", "the other"),
    (lambda x: np.subtract.reduce(x, initial=0.0, where=x > 1.0), X, "np.sub", "`where`", "np.wh"),
    (lambda x: np.vectorize(np.sum, signature="(n)->()")(x), X, "np.vec", "`signature`", "loop"),
    (lambda x: np.vectorize(lambda u: (u, u))(x), X, "np.vec", "several results", "each result"),
    (lambda x: np.trim_zeros([x[0], 0.0]), X, "np.trim_zeros(", "of a list", "pass an array"),
    (lambda a: np.trim_zeros(a), M, "np.trim_zeros(", "but a vector", "slice the array"),
    (lambda a: np.unique(a, axis=0), M, "np.unique(", "`np.unique` of rows", "`np.lexsort`"),
    (lambda a: np.lexsort(a), STACK, "np.lexsort(", "but vectors", "loop over"),
    (lambda a: np.linalg.qr(a, "complete"), STACK, "np.linalg.qr(", "a stack", "loop over"),
    (lambda a: np.linalg.qr(a, mode="raw"), M, "np.linalg.qr(", "`mode='raw'`", "reduced"),
    (lambda a: np.linalg.svd(1j * a[:2, :1]), M, "np.linalg.svd(", "not square", "full_matrices"),
    (lambda a: np.linalg.tensorsolve(a, X, (0,)), M, "np.linalg.tens", "with `axes`", "transpose"),
]  # fmt: skip


def _refusal(fn: Program, *args: Any) -> UnsupportedError:
    with pytest.raises(UnsupportedError) as caught:
        adc.jit(fn, cache=False)(*args)
    error = caught.value
    assert type(error).code == "ADC010"
    assert error.span is not None
    assert error.span.file == __file__
    assert "^" in str(error)
    return error


@pytest.mark.parametrize(
    ("fn", "what"),
    [
        (lambda x: np.quantile(x, 0.5, weights=x), "the argument 'weights' of `np.quantile`"),
        (lambda x: np.quantile(x, 0.5, None, None), "`np.quantile` with these arguments"),
    ],
)
def test_arguments_that_are_not_taken(fn: Program, what: str) -> None:
    assert _refusal(fn, X).message.startswith(what)


@pytest.mark.parametrize(
    ("fn", "arg", "call", "what", "hint"), REFUSED, ids=[f"{r[2]}{r[3]}" for r in REFUSED]
)
def test_calls_are_refused(fn: Program, arg: Any, call: str, what: str, hint: str) -> None:
    error = _refusal(fn, arg)
    assert what in error.message
    assert error.message.endswith(" is not supported")
    assert hint in error.hint
    assert error.span is not None
    assert error.span.excerpt().startswith(call)
    assert error.span.line == fn.__code__.co_firstlineno


def _in_a_branch(x: Any) -> Any:
    if x[0] > 100.0:
        return np.trim_zeros([x[0], x[1]])[0]  # here
    return x[0]


def _in_a_loop(x: Any) -> Any:
    s = 0.0
    for each in [x, x[1:]]:
        for k in range(len(each)):
            s += each[k] * np.unwrap(each > k, period=4)[0]  # here
    return s


def _caught(x: Any) -> Any:
    try:
        y = np.trim_zeros([x[0], x[1]])[0]  # here
    except NotImplementedError:
        y = 0.0
    return y


def _caught_everything(x: Any) -> Any:
    y: Any = 0.0
    try:
        if x[0] > 0.0:
            y = np.trim_zeros([x[0], x[1]])[0]  # here
    finally:
        y += 1.0
    return y


def _in_a_function_for_each_row(x: Any) -> Any:
    def row(u: Any) -> Any:
        return np.trim_zeros([u[0], u[1]])[0]  # here

    return np.apply_along_axis(row, 0, x)


def _within_a_derivative(x: Any) -> Any:
    return adc.grad(lambda u: np.trim_zeros([u[0], u[1]])[0])(x)[0]  # here


def _recursive(x: Any, k: int = 3) -> Any:
    if k == 0 or x[0] > 1.0:
        return x[0]
    return _recursive(x, k - 1) + np.trim_zeros([x[0], x[1]])[0]  # here


def _with_context(x: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.trim_zeros([x[0], x[1]])[0]  # here


PLACES = (
    _in_a_branch, _in_a_loop, _caught, _caught_everything, _in_a_function_for_each_row,
    _within_a_derivative, _recursive, _with_context,
)  # fmt: skip


def _marked(fn: Program) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    first = fn.__code__.co_firstlineno
    return next(n for n, line in enumerate(lines, 1) if n >= first and line.endswith("# here"))


@pytest.mark.parametrize("fn", PLACES, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("of", [adc.jit, adc.grad], ids=["jit", "grad"])
def test_wherever_a_call_is(fn: Program, of: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError) as caught:
        of(fn, cache=False)(X)
    assert caught.value.code == "ADC010"
    assert caught.value.hint in ("pass an array", "write nested loops") or fn is _in_a_loop
    assert caught.value.span is not None
    assert (caught.value.span.file, caught.value.span.line) == (__file__, _marked(fn))


def _inner(x: Any) -> Any:
    return np.trim_zeros([x[0], x[1]])[0]  # here


def _outer(x: Any) -> Any:
    return _inner(x) + _inner(x[1:])


def test_in_a_function_of_the_program() -> None:
    error = _refusal(_outer, X)
    assert error.span is not None
    assert error.span.line == _marked(_inner)
    assert [span.function for span in error.span.chain()] == ["_outer", "_inner"]


def _long(x: Any, y: Any) -> Any:
    for _ in range(3):
        y = y + np.sin(x[0] + y) * np.cos(x[1] - y) + np.tanh(x[2] * y) * np.exp(-x[0] * y)
        if y > x[1]:
            y = y * np.sin(x[0] + y) * np.cos(x[1] - y) + np.tanh(x[2] * y) / np.exp(-x[0] * y)
        else:
            y = y - np.sin(x[0] + y) * np.cos(x[1] - y) - np.tanh(x[2] * y) / np.exp(-x[0] * y)
        y += np.sqrt(abs(y)) * np.arctan(y) + np.log1p(abs(y)) * np.cosh(y) - np.sinh(y) * y
        y += np.sqrt(abs(y)) * np.arctan(y) - np.log1p(abs(y)) * np.cosh(y) - np.sinh(y) / y
    return y + np.trim_zeros([x[0], x[1]])[0]  # here


def _long_ones(x: Any) -> Any:
    y = x[0]
    y = _long(x, _long(x, _long(x, _long(x, _long(x, y)))))
    return _long(x, _long(x, _long(x, _long(x, _long(x, y)))))


@pytest.mark.parametrize("inline", [True, False])
def test_in_functions_that_are_not_inlined(inline: bool) -> None:
    for fn, place in ((_long_ones, _long), (_outer, _inner), (_recursive, _recursive)):
        with pytest.raises(UnsupportedError, match="of a list") as caught:
            lower(fn, {"x": chain.type_tree(X)}, inline=inline)
        assert caught.value.span is not None
        assert (caught.value.span.file, caught.value.span.line) == (__file__, _marked(place))


# --- what only the run can tell -------------------------------------------------------------------


def _fitted(x: Any) -> Any:
    return np.polyfit(x, x * x, 2)[0]


def _fitted_or_else(x: Any) -> Any:
    y = x[0]
    try:
        y = np.polyfit(x, x * x, 2)[0]
    except Exception:
        y = -1.0
    return y


def _factors(x: Any) -> Any:
    return np.linalg.svd(x[:, None] + 0j)[1][0]


def _combined(x: Any, r: int) -> Any:
    if r > 100:
        return np.linalg.qr(np.stack([M[:r], M[:r]]))[0][0, 0, 0] * x[0]
    return x[0]


AT_RUN_TIME = [
    (_fitted, np.array([1.0, 2.0]), "fewer points than coefficients", "use a lower degree"),
    (_fitted, np.array([1.0, 1.0, 1.0, 2.0]), "poorly conditioned", "use a lower degree"),
    (_fitted_or_else, np.array([1.0, 2.0]), "fewer points", "use a lower degree"),
    (_factors, X, "not square", "pass `full_matrices=False`"),
]


@pytest.mark.full
@pytest.mark.parametrize(("fn", "arg", "what", "hint"), AT_RUN_TIME)
def test_limits_met_at_run_time(fn: Program, arg: Any, what: str, hint: str) -> None:
    for of in (adc.jit, adc.grad):
        with pytest.raises(NotImplementedError) as caught:
            of(fn, target="python", cache=False)(arg)
        assert type(caught.value) is LimitError
        text = str(caught.value)
        assert text.startswith("adc: `")
        assert text.endswith(f" is not supported: {hint}")
        assert what in text
        assert caught.traceback[-1].path == Path(__file__)


@pytest.mark.full
def test_limits_are_exceptions_of_compiled_code() -> None:
    compiled = adc.grad(_fitted_or_else, cache=False)
    with pytest.raises(LimitError, match=r"fewer points.*: use a lower degree"):
        compiled(np.array([1.0, 2.0]))


def test_what_is_not_met_does_not_matter() -> None:
    assert adc.jit(_combined, target="python", cache=False)(X, 3) == X[0]


# --- the library ----------------------------------------------------------------------------------


@pytest.mark.full
def test_the_library_says_what_is_not_supported_in_one_way() -> None:
    """`raise Unsupported(what, hint)`: what is not supported reads on with "is not supported"."""
    found = []
    for path in sorted(LIBRARY.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = {
            target.id: stmt.value
            for stmt in tree.body
            if isinstance(stmt, ast.Assign)
            for target in stmt.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            text = ast.unparse(node.exc)
            where = f"{path.name}:{node.lineno}: {text}"
            name = ast.unparse(node.exc.func)
            if name == "NotImplementedError":
                # SciPy's own, of a `Rotation` and of sparse arrays.
                assert "modulus" in text or "a nonzero scalar" in text, where
            assert not re.search(r"\badc\b", text), where
            if name == "Unsupported":
                found.append(where)
                what = node.exc.args[0]
                if isinstance(what, ast.Name):
                    what = named[what.id]
                if isinstance(what, ast.JoinedStr):
                    what = what.values[-1]
                assert isinstance(what, ast.Constant), where
                assert not str(what.value).endswith((".", "supported")), where
                assert len(node.exc.args) == 2, where
    assert len(found) > 30


def test_as_plain_python() -> None:
    with pytest.raises(NotImplementedError, match="of a list is not supported: pass an array"):
        adc.library.arrays.editing.trim_zeros([1.0])


def test_generators_of_the_program_raise() -> None:
    def first(n: int) -> Any:
        if n > 3:
            raise ValueError(f"{n} are too many")
        for k in range(n):
            if k > 10:
                raise np.linalg.LinAlgError("never")
            yield k

    def total(x: float, n: int) -> Any:
        return sum(x * k for k in first(n))

    compiled = adc.jit(total, target="python", cache=False)
    assert compiled(2.0, 3) == 6.0
    with pytest.raises(ValueError, match="4 are too many"):
        compiled(2.0, 4)
