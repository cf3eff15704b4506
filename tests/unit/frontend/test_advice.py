"""Mistakes that users make: does the message name what they know, and does its hint fit?"""

from __future__ import annotations

import collections
import copy
import functools
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
import scipy.linalg
import scipy.optimize
import scipy.sparse
import scipy.special
import scipy.stats

import adc
from adc.ir.errors import AdcError

X = np.array([0.3, 0.7, 1.1])
M = np.array([[2.0, 0.3, 0.1], [0.2, 3.0, 0.4], [0.1, 0.2, 4.0]])
STACK = np.stack([M, 2.0 * M])
SPARSE = scipy.sparse.csr_matrix(M)


def _drawn(x: Any) -> Any:
    return x[0] * random.random()


def _counted(x: Any) -> Any:
    return x[0] * collections.Counter([1, 1])[1]


def _products(x: Any) -> Any:
    s = 0.0
    for i, j in itertools.product(range(3), range(3)):
        s += x[i] * x[j]
    return s


def square(x: float) -> float:
    return x * x


SQUARED = np.frompyfunc(square, 1, 1)

# A program, what its message names, and the hint.
CALLS: list[tuple[Callable[[Any], Any], str, str]] = [
    (lambda x: np.sum(np.linalg.svd(np.outer(x, x))[1]), "`numpy.linalg.svd`", "eigvalsh(a.T @ a)"),
    (lambda x: np.linalg.eig(np.outer(x, x))[0][0], "`numpy.linalg.eig`", "`np.linalg.eigh`"),
    (lambda x: np.linalg.lstsq(M, x)[0][0], "`numpy.linalg.lstsq`", "np.linalg.pinv(a) @ b"),
    (lambda x: np.sum(np.abs(np.fft.fft(x))), "`numpy.fft.fft`", "complex numbers"),
    (lambda x: np.sum(np.fft.rfft(x).real), "`numpy.fft.rfft`", "complex numbers"),
    (lambda x: np.sum(scipy.linalg.solve(M, x)), "`scipy.linalg.solve`", "of `np.linalg`"),
    (lambda x: np.sum(scipy.linalg.expm(x)), "`scipy.linalg.expm`", "outside"),
    (lambda x: np.sum(scipy.special.erf(x)), "`scipy.special.erf`", "`math.erf`, `math.erfc`"),
    (lambda x: np.sum(scipy.special.logit(x)), "`scipy.special.logit`", "`scipy.special.expit`"),
    (lambda x: SQUARED(x)[0], "`square (vectorized)`", "define it in Python"),
    (lambda x: scipy.special.logsumexp(x), "`scipy.special.logsumexp`", "np.log(np.sum(np.exp("),
    (lambda x: scipy.optimize.minimize(np.sum, x).fun, "`scipy.optimize.minimize`", "jac=True"),
    (lambda x: np.sum(scipy.stats.norm.logpdf(x)), "`scipy.stats.", "write the density"),
    (lambda x: np.sum(x) * time.time(), "`time.time`", "measure the time around the call"),
    (_products, "`itertools.product`", "nest two `for` loops"),
    (lambda x: functools.reduce(lambda a, b: a * b, x), "`functools.reduce`", "write the loop"),
    (lambda x: functools.partial(max, x[0])(1.0), "`functools.partial`", "use a lambda"),
    (_drawn, "`random.random`", "`np.random.default_rng`"),
    (lambda x: np.sum(x * np.random.randn(3)), "`np.random.randn`", "`np.random.default_rng`"),
    (lambda x: np.sum(copy.deepcopy(x)), "`copy.deepcopy`", "`.copy()`"),
    (lambda x: np.sum(SPARSE @ x), "`@` with a csr_matrix", "`data`, `indices` and `indptr`"),
    (lambda x: np.sum(SPARSE.dot(x)), "`scipy.sparse.", "`data`, `indices` and `indptr`"),
    (lambda x: np.sum(np.vectorize(lambda v: v)(x)), "`numpy.vectorize`", "write the loop"),
    (lambda x: np.sum(np.loadtxt("a") * x), "`numpy.loadtxt`", "read it outside"),
    (lambda x: json.loads("1") * x[0], "`json.loads`", "read it outside"),
    (lambda x: float(input()) * x[0], "`input`", "read it outside"),
    (_counted, "`collections.Counter`", "a dict"),
    (lambda x: np.sum(np.polyval(x, 2.0)), "`numpy.polyval`", "Horner"),
    (lambda x: np.sum(np.unique(x)), "`numpy.unique`", "`adc supported` lists"),
    (lambda x: (x[0] + 1j * x[1]).real, "a complex number", "real and imaginary parts"),
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


STACKS: dict[str, Callable[[Any], Any]] = {
    "solve": lambda a: np.sum(np.linalg.solve(a, np.ones((2, 3, 1)))),
    "inv": lambda a: np.sum(np.linalg.inv(a)),
    "det": lambda a: np.sum(np.linalg.det(a)),
    "slogdet": lambda a: np.sum(np.linalg.slogdet(a)[1]),
    "cholesky": lambda a: np.sum(np.linalg.cholesky(a)),
    "eigh": lambda a: np.sum(np.linalg.eigh(a)[0]),
    "eigvalsh": lambda a: np.sum(np.linalg.eigvalsh(a)),
    "qr": lambda a: np.sum(np.linalg.qr(a)[1]),
    "pinv": lambda a: np.sum(np.linalg.pinv(a)),
    "matrix_power": lambda a: np.sum(np.linalg.matrix_power(a, 2)),
}


@pytest.mark.parametrize("name", STACKS)
def test_stacks_of_matrices(name: str) -> None:
    with pytest.raises(AdcError, match=f"`np.linalg.{name}` of a stack of matrices") as caught:
        adc.grad(STACKS[name], cache=False)(STACK)
    assert f"np.linalg.{name}(a[k])" in caught.value.hint


def test_a_loop_over_a_stack_is_the_way_out() -> None:
    def fn(a: Any) -> Any:
        return sum(np.linalg.det(a[k]) for k in range(len(a)))

    found = adc.grad(fn)(STACK)
    wanted = np.linalg.det(STACK)[:, None, None] * np.linalg.inv(STACK).transpose(0, 2, 1)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


class Plain(np.ndarray):
    pass


class Table:
    """Stands for an object of a library for tables."""

    __module__ = "pandas.core.frame"

    def __repr__(self) -> str:
        return "0  1.0\n1  2.0\n" * 40


ARGUMENTS: list[tuple[Any, str, str]] = [
    (X.view(Plain), "a Plain of dtype float64", "`np.asarray(x)`"),
    (np.matrix(M), "a matrix of dtype float64", "`np.asarray(x)`"),
    (np.ma.array(X), "a MaskedArray", "`x.filled(0.0)`"),
    (X.astype(complex), "dtype complex128", "`x.real` and `x.imag`"),
    (X.astype(np.float16), "dtype float16", "`x.astype(np.float32)`"),
    (X.astype(object), "dtype object", "`x.astype(np.float64)`"),
    (X.astype(">f8"), "dtype >f8", "byte order"),
    (SPARSE, "is a csr_matrix", "`data`, `indices` and `indptr`"),
]


@pytest.mark.parametrize(
    ("value", "what", "hint"), ARGUMENTS, ids=[what for _, what, _ in ARGUMENTS]
)
def test_arguments(value: Any, what: str, hint: str) -> None:
    with pytest.raises(AdcError) as caught:
        adc.grad(lambda x: np.sum(x))(value)
    assert what in caught.value.message
    assert hint in caught.value.hint


def test_memory_maps(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=(3,))
    with pytest.raises(AdcError, match="a memmap of dtype float64") as caught:
        adc.grad(lambda x: np.sum(x * x))(mapped)
    assert "`np.asarray(x)`" in caught.value.hint
    np.testing.assert_array_equal(adc.grad(lambda x: np.sum(x * x))(np.asarray(mapped)), 0.0)


def test_objects_are_not_shown_in_full() -> None:
    with pytest.raises(AdcError) as caught:
        adc.grad(lambda x: np.sum(x))(Table())
    assert caught.value.message == "argument 'x' of <lambda>() is a Table of pandas"
    assert caught.value.hint == "pass an array, such as `x.to_numpy()`"


def test_extras_are_those_of_adcs_package() -> None:
    # The package of this name on the index is another project's.
    root = Path(__file__).parents[3]
    files = [root / "README.md"]
    for folder in ("adc", "ir", "passes", "tests/bench"):
        files += [path for path in (root / folder).rglob("*") if path.suffix in (".py", ".md")]
    found = [
        path for path in files if re.search(r"pip install '?adc(?!-)\b|'adc\[", path.read_text())
    ]
    assert len(files) > 200
    assert not found
