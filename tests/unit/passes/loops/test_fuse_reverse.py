"""Reverse loops that follow their forward loops at once: what is added to zeros, what is not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adc
from adc.testing import check_grads


def an_element_of_the_row(x: Any) -> Any:
    out = 0.0
    for row in x:
        out += np.sum(np.tanh(row)) / (1.0 + row[2])
    return out


def two_elements_of_the_row(x: Any) -> Any:
    out = 0.0
    for i in range(len(x)):
        total = 0.0
        for k in range(x.shape[1]):
            total += np.sin(x[i, k])
        out += total * x[i, 0] / (2.0 + x[i, 1])
    return out


def a_loop_over_the_row(x: Any) -> Any:
    out = 0.0
    for row in x:
        norm = 1.0
        for k in range(len(row)):
            norm *= 1.0 + row[k] ** 2
        out += np.sum(np.tanh(row)) / norm
    return out


def a_loop_over_the_row_afterwards(x: Any) -> Any:
    out = 0.0
    for row in x:
        total = np.sum(np.tanh(row))
        norm = 1.0
        for k in range(len(row)):
            norm *= 1.0 + row[k] ** 2
        out += total * norm
    return out


def an_element_of_all(x: Any) -> Any:
    return np.sum(np.tanh(x)) / (1.0 + x[1, 2])


def rows_of_their_own(x: Any) -> Any:
    out = 0.0
    for i in range(len(x)):
        row = x[i] * 2.0
        out += np.sum(np.tanh(row)) / (1.0 + row[2] * row[2])
    return out


def columns(x: Any) -> Any:
    out = 0.0
    for j in range(x.shape[1]):
        j2 = x.shape[1] - 1 - j
        out += np.sum(np.exp(x[:, j2])) * x[1, j2]
    return out


PROGRAMS: list[Callable[..., Any]] = [
    an_element_of_the_row, two_elements_of_the_row, a_loop_over_the_row,
    a_loop_over_the_row_afterwards, an_element_of_all,
    rows_of_their_own, columns,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_iteration_clears_no_more_than_it_reads(program: Callable[..., Any]) -> None:
    x = np.random.default_rng(0).uniform(0.5, 1.5, (4, 5))
    check_grads(program, (x,))
    text = adc.grad(program).ir(x, after="fuse_reverse")
    whole = re.findall(r"^    +%\S+ = full\[f64\] \S+ %x\.dim0\S* %x\.dim1", text, re.MULTILINE)
    assert not whole


def test_the_element_is_added_after_the_loop() -> None:
    text = adc.grad(an_element_of_the_row).ir(np.ones((4, 5)), after="fuse_reverse")
    assert "reverse" not in text
    added = [
        line.split("accumulate")[1].split()[1] for line in text.splitlines() if "accum" in line
    ]
    assert added == ["%i]", "2]"]


def cross_entropy(logits: Any, labels: Any) -> Any:
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(logits.shape[0]), labels])


def test_a_row_is_reversed_where_an_array_numbers_it() -> None:
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(5, 4)), rng.integers(-4, 4, 5)
    derivative = adc.grad(cross_entropy)
    check_grads(cross_entropy, (logits, labels))
    derivative(logits, labels)
    # One loop over rows, which holds the reverse code of each; no matrix but the result.
    assert len(re.findall(r"^ {4}for ", derivative.source(), re.MULTILINE)) == 1
    assert "empty(state, np.float64, (logits_dim0, logits_dim1))" not in derivative.source()
