"""Products read the matrices of a stack where they lie (`passes.target.elide_copies`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adc.compiler.driver import transform
from adc.ir.core import Apply, walk
from adc.ir.text.parser import parse
from adc.ir.text.printer import print_stmt
from adc.ir.verifier import verify
from adc.passes.target.elide_copies import elide_copies
from tests.oracle import chain as chains
from tests.oracle.meter import Meter

R = np.random.default_rng(0)
X, W = R.normal(size=(5, 4)), 0.3 * R.normal(size=(3, 4, 4))


def written_out(x: Any, w: Any) -> Any:
    h = np.tanh(x @ w[0])
    h = np.tanh(h @ w[1])
    return np.sum(np.tanh(h @ w[2]))


def in_a_loop(x: Any, w: Any) -> Any:
    for k in range(len(w)):
        x = np.tanh(x @ w[k])
    return np.sum(x)


def blocks_of_it(x: Any, w: Any) -> Any:
    """No product reads a whole matrix."""
    return np.sum(x[:, :2] @ w[0, :2, :2]) + np.sum(x[:, :3] @ w[1, :3, :3])


def sizes_of_copies(x: Any, w: Any) -> Any:
    """Sizes of the matrices are asked for before they are multiplied."""
    first, second = w[0], w[1]
    return np.sum(x @ first) * first.shape[0] + np.sum(x @ second @ w[2]) * len(second)


def changed(x: Any, w: Any) -> Any:
    """A view would show what is written later."""
    first, second = w[0].copy(), w[1].copy()
    w[0] *= 2.0
    return np.sum(x @ first @ second) + np.sum(w)


@pytest.mark.parametrize(
    ("fn", "views"),
    [(written_out, 3), (in_a_loop, 2), (blocks_of_it, 0), (sizes_of_copies, 3), (changed, 0)],
)
def test_views_of_matrices(fn: Callable[..., Any], views: int) -> None:
    chain = chains.Chain.of(fn, (X.copy(), W.copy()), (0, 1))
    made = transform(chain.lowered, (("adjoint", chain.positions),), "auto")
    found = Counter(s.op.name for s in walk(made.fn.body) if isinstance(s, Apply))
    assert found["row"] + found["part"] == views
    value, *gradients = Meter(made.fn).run(chains.fresh(chain.inputs))
    np.testing.assert_allclose(value, fn(X.copy(), W.copy()), rtol=1e-12)
    for gradient, k in zip(gradients, range(2), strict=False):
        moved = [X.copy(), W.copy()]
        way = R.normal(size=moved[k].shape)
        slopes = []
        for step in (1e-6, -1e-6):
            moved = [X.copy(), W.copy()]
            moved[k] = moved[k] + step * way
            slopes.append(fn(*moved))
        np.testing.assert_allclose(
            np.sum(gradient * way), (slopes[0] - slopes[1]) / 2e-6, rtol=1e-6, atol=1e-7
        )


def test_a_copy_that_is_returned() -> None:
    def fn(x: Any, w: Any) -> Any:
        first = w[0].copy()
        return first, x @ first

    chain = chains.Chain.of(fn, (X.copy(), W.copy()), ())
    made = transform(chain.lowered, (), "auto")
    assert not any(isinstance(s, Apply) and s.op.name == "row" for s in walk(made.fn.body))
    w = W.copy()
    copy, product = Meter(made.fn).run([X.copy(), w])
    assert not np.shares_memory(copy, w)
    np.testing.assert_array_equal(copy, W[0])
    np.testing.assert_allclose(product, X @ W[0], rtol=1e-12)


def test_a_copy_that_a_product_is_added_to() -> None:
    """No copy of a library's product is: the code is written down here."""
    fn = parse("""
        fn f(%x: f64[:, :], %w: f64[:, :, :]) -> f64[:, :] {
          %n = dim[1] %w
          %m = dim[2] %w
          %a = empty[f64] %n %m
          for L0 %i in 0 to %n {
            for L1 %j in 0 to %m {
              %t = load %w[0, %i, %j]
              write %a[%i, %j] %t
            }
          }
          gemm[nn, add] %a %x %x
          %b = empty[f64] %n %m
          gemm[nn] %b %x %a
          return %b
        }
    """)
    assert elide_copies(fn) == fn
    copy = replace(fn, body=tuple(s for s in fn.body if "add" not in print_stmt(s)))
    assert elide_copies(copy) != copy


CALLEE = """
    fn times(%h: f64[:, :], %n: int, %m: int, %w: f64[:, :, :], %k: int, %more: int) -> f64[:, :] {{
      %a = empty[f64] %n %m
      %at = add %k 0
      for L0 %i in 0 to %n {{
        for L1 %j in 0 to %m {{
          %t = load %w[%at, %i, %j]
          write %a[%i, %j] %t
        }}
      }}
      {change}
      %rows = dim[0] %h
      %c = empty[f64] %rows %m
      gemm[nn] %c %h %a
      %goes = gt %more 0
      %d = if %goes {{
        %less = sub %more 1
        %found = call C1 times(%c, %n, %m, {again}, %k, %less)
        yield %found
      }} else {{
        yield %c
      }}
      return %d
    }}
    fn f(%x: f64[:, :], %w: f64[:, :, :]) -> f64[:, :] {{
      %n = dim[1] %x
      %m = dim[1] %w
      %o = dim[2] %w
      %same = eq %n %m
      check %same ValueError "other sizes"
      %square = eq %n %o
      check %square ValueError "no square"
      %c = call C0 times(%x, {size}, %n, %w, 1, 2)
      return %c
    }}
"""


@pytest.mark.parametrize(
    ("change", "again", "size", "views"),
    [
        ("", "%w", "%n", 1),
        ("", "%w", "4", 0),  # nothing says that these are the sizes
        ("", "%other", "%n", 0),  # another stack may have other sizes
        ("write %w[0, 0, 0] 1.0:f64", "%w", "%n", 0),
    ],
)
def test_a_function_that_is_called(change: str, again: str, size: str, views: int) -> None:
    """The sizes are those that its caller checks, and nothing may change the stack."""
    other = "%other = copy %w\n" if again == "%other" else ""
    text = CALLEE.format(change=other + change, again=again, size=size)
    done = verify(elide_copies(verify(parse(text)), checked=True))
    (callee,) = done.callees
    found = Counter(s.op.name for s in walk(callee.body) if isinstance(s, Apply))
    assert found["part"] == views
    assert found["row"] == 0
    got = Meter(done).run([X.copy(), W.copy()])[0]
    want = X @ W[1]
    for _ in range(2):
        want = want @ W[1]
    np.testing.assert_allclose(got, want, rtol=1e-12)
