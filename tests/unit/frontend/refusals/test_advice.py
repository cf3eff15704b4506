"""Mistakes that users make: does the message name what they know, and does its hint fit?"""

from __future__ import annotations

import collections
import inspect
import itertools
import json
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.optimize
import scipy.sparse
import scipy.special
import scipy.stats

import adc
from adc.frontend.core.messages import advice
from adc.ir.errors import AdcError
from adc.supported import counts, is_supported

X = np.array([0.3, 0.7, 1.1])
M = np.array([[2.0, 0.3, 0.1], [0.2, 3.0, 0.4], [0.1, 0.2, 4.0]])
STACK = np.stack([M, 2.0 * M])
SPARSE = scipy.sparse.lil_matrix(M)


def _drawn(x: Any) -> Any:
    return x[0] * random.random()


def _chained(x: Any) -> Any:
    return x[0] * collections.ChainMap({"a": 1.0})["a"]


def _groups(x: Any) -> Any:
    s = 0.0
    for part in itertools.tee(range(3)):
        s += x[sum(part)]
    return s


def square(x: float) -> float:
    return x * x


SQUARED = np.frompyfunc(square, 1, 1)

# A program, what its message names, and the hint.
CALLS: list[tuple[Callable[[Any], Any], str, str]] = [
    (lambda x: np.sum(scipy.fft.fht(x, 0.1, 0.0)), "`scipy.fft.fht`", "of `scipy.fft`"),
    (lambda x: np.sum(scipy.linalg.signm(M)) * x, "`scipy.linalg.signm`", "adc supported"),
    (lambda x: np.sum(scipy.linalg.schur(M)[0]) * x, "`scipy.linalg.schur`", "`eigh`"),
    (lambda x: np.sum(scipy.linalg.pascal(3)) * x, "`scipy.linalg.pascal`", "outside"),
    (lambda x: scipy.special.ai_zeros(3)[0][0] * x[0], "`scipy.special.ai_zeros`", "outside"),
    (lambda x: SQUARED(x)[0], "`square (vectorized)`", "define it in Python"),
    (lambda x: scipy.optimize.nnls(x, x)[1], "`scipy.optimize.nnls`", "`adc.implicit`"),
    (lambda x: np.sum(scipy.stats.rankdata(x)), "`scipy.stats.rankdata`", "`adc supported` lists"),
    (lambda x: np.sum(x) * time.localtime()[0], "`time.localtime`", "measure the time"),
    (_groups, "`itertools.tee`", "write the loop"),
    (_drawn, "`random.random`", "`np.random.default_rng`"),
    (lambda x: np.sum(x * np.random.wald(1.0, 2.0)), "`.wald` of a `RandomState`", "default_rng`"),
    (lambda x: np.sum(SPARSE @ x), "`@` with a lil_matrix", "`x.tocsr()`"),
    (lambda x: np.sum(SPARSE.dot(x)), "`scipy.sparse.", "`A.tocsr()`"),
    (lambda x: np.sum(np.frompyfunc(square, 1, 1)(x)), "`numpy.frompyfunc`", "`np.vectorize`"),
    (lambda x: np.sum(np.loadtxt("a") * x), "`numpy.loadtxt`", "read it outside"),
    (lambda x: json.loads("1") * x[0], "`json.loads`", "read it outside"),
    (lambda x: float(input()) * x[0], "`input`", "read it outside"),
    (_chained, "`collections.ChainMap", "merge the dicts"),
    (lambda x: np.polynomial.Chebyshev(x)(2.0), "`numpy.polynomial.", "polyval(x, c)"),
    (lambda x: np.array_str(x) and x[0], "`numpy.array_str`", "`print` the array"),
    (lambda x: x[0] * np.busday_count("2000", "2001"), "`numpy.busday_count`", "pass dates as n"),
    (lambda x: x[0] * np.longdouble(3), "`numpy.longdouble`", "use `np.float32`"),
    (lambda x: len(x.tobytes()) * x[0], "`.tobytes`", "has no bytes"),
    (lambda x: x[0] * np.ma.array([1.0])[0], "`numpy.ma", "`adc supported` lists"),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "name", "hint"), CALLS, ids=[name for _, name, _ in CALLS])
def test_calls(fn: Callable[[Any], Any], name: str, hint: str) -> None:
    with pytest.raises(AdcError) as caught:
        adc.grad(fn, cache=False)(X)
    assert caught.value.code == "ADC010"
    assert name in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.span is not None
    assert caught.value.span.file == __file__  # not one of a library


def _refused() -> dict[str, Any]:
    """Return what NumPy has and adc does not, by name."""
    found: dict[str, Any] = {}
    for module in (np, np.linalg):
        for name in sorted(set(dir(module)) - {"test"}):
            value = getattr(module, name)
            if name[0] == "_" or not callable(value) or inspect.ismodule(value):
                continue
            if not is_supported(value):
                found[f"{module.__name__}.{name}"] = value
    return found


def test_every_refused_function_of_numpy_has_a_hint_of_its_own() -> None:
    general = {advice.NUMPY[name] for name in ("numpy", "numpy.linalg")}
    refused = _refused()
    assert [name for name, value in refused.items() if advice.hint(value) in general] == []
    # And no hint is about a function that is supported.
    names = {advice.name_of(value) for value in refused.values()}
    families = {"numpy", "numpy.linalg", "numpy.fft", "numpy.lib.scimath", "numpy.rec",
                "numpy.polynomial"}  # fmt: skip
    unused = {n for n in advice.NUMPY if n.count(".") < 3} - names - families
    assert unused == {"numpy.linalg.test", "numpy.test"}


def test_the_readme_counts_the_functions() -> None:
    text = " ".join((Path(__file__).parents[4] / "README.md").read_text().split())
    found = re.search(r"Of NumPy ([\d.]+)'s (\d+) functions .*? (\d+) are supported", text)
    assert found is not None
    supported, refused = counts()
    if np.__version__.startswith(found[1] + "."):
        assert (int(found[2]), int(found[3])) == (supported + refused, supported)


def test_stacks_of_matrices() -> None:
    def power(a: Any) -> Any:
        return np.sum(np.linalg.matrix_power(a, 2))

    with pytest.raises(AdcError, match=r"`np.linalg.matrix_power` of a stack") as caught:
        adc.grad(power, cache=False)(STACK)
    assert "np.linalg.matrix_power(a[k])" in caught.value.hint


def test_a_loop_over_a_stack_is_the_way_out() -> None:
    def fn(a: Any) -> Any:
        return sum(np.linalg.det(a[k]) for k in range(len(a)))

    found = adc.grad(fn, target="python")(STACK)
    wanted = np.linalg.det(STACK)[:, None, None] * np.linalg.inv(STACK).transpose(0, 2, 1)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


class Table:
    """Stands for an object of a library for tables."""

    __module__ = "pandas.core.frame"

    def __repr__(self) -> str:
        return "0  1.0\n1  2.0\n" * 40


ARGUMENTS: list[tuple[Any, str, str]] = [
    (np.matrix(M), "a matrix of dtype float64", "`np.asarray(x)`"),
    (np.ma.array(X), "a MaskedArray", "`x.filled(0.0)`"),
    (X.astype(np.clongdouble), "dtype c", "`x.astype(np.complex128)`"),
    (X.astype(np.longdouble), "dtype float128", "`x.astype(np.float32)`"),
    (X.astype(object), "dtype object", "`x.astype(np.float64)`"),
    (X.astype(">f8"), "dtype >f8", "byte order"),
    (SPARSE, "is a lil_matrix", "`A.tocsr()`"),
    (scipy.sparse.dok_array((2, 2)), "is a dok_array", "`A.tocsr()`"),
    (scipy.sparse.coo_array(X), "is a coo_array with 1 axes", "two axes"),
]


@pytest.mark.parametrize(
    ("value", "what", "hint"), ARGUMENTS, ids=[what for _, what, _ in ARGUMENTS]
)
def test_arguments(value: Any, what: str, hint: str) -> None:
    with pytest.raises(AdcError) as caught:
        adc.grad(lambda x: np.sum(x))(value)
    assert what in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("value", "what", "hint"), ARGUMENTS[:6], ids=[what for _, what, _ in ARGUMENTS[:6]]
)
def test_captured_arrays(value: Any, what: str, hint: str) -> None:
    for use in (lambda x: np.sum(value * x), lambda x: x * value[0]):
        with pytest.raises(AdcError) as caught:
            adc.grad(use)(2.0)
        assert what in caught.value.message
        assert hint in caught.value.hint


def test_objects_are_not_shown_in_full() -> None:
    with pytest.raises(AdcError) as caught:
        adc.grad(lambda x: np.sum(x))(Table())
    assert caught.value.message == "argument 'x' of <lambda>() is a Table of pandas"
    assert caught.value.hint == "pass an array, such as `x.to_numpy()`"


def test_extras_are_those_of_adcs_package() -> None:
    # The package of this name on the index is another project's.
    root = Path(__file__).parents[4]
    files = [root / "README.md"]
    for folder in ("adc", "ir", "passes", "tests/bench"):
        files += [path for path in (root / folder).rglob("*") if path.suffix in (".py", ".md")]
    found = [
        path for path in files if re.search(r"pip install '?adc(?!-)\b|'adc\[", path.read_text())
    ]
    assert len(files) > 200
    assert not found
