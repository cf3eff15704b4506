"""Sparse Jacobians and Hessians: what `jacfwd`, `jacrev` and `hessian` return for `sparsity`.

`patterns` has how a pattern is found, and how few directions have all entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse as sp

from adc.api.derivative import MANY, Derivative, Jacobian, Lazy
from adc.api.patterns import Matrix, Plan, detect, flat, planned
from adc.api.sweeps import Seeds, Swept, by_rows, pulled, pushed
from adc.compiler.compiled import DIRECTIONS
from adc.compiler.dispatch import Code
from adc.frontend.inputs.places import Arguments
from adc.frontend.transforms import results
from adc.functions import name_of, span_of
from adc.ir import foreign
from adc.ir.errors import ArgumentError
from adc.library.transforms import Level
from adc.options import Options
from adc.tracebacks import shorten, shortened

Leaf = np.ndarray[Any, Any]
# The largest mismatch of a product with a random direction that rounding explains, in units of the
# rounding error.
_ROUNDING = 64.0


class _Other(Exception):
    """The function has another number of inputs, or results, than the pattern."""

    def __init__(self, total: int) -> None:
        super().__init__(total)
        self.total = total


def _products(swept: Swept, reverse: bool) -> Leaf:
    """Return the products with the directions, a row for each input or float result."""
    if reverse:
        last = [np.moveaxis(part, 0, -1) for part in swept.parts]
        return np.ascontiguousarray(flat(last))
    return flat(swept.parts)


def _mismatch(matrix: Matrix, products: Leaf, plan: Plan, reverse: bool) -> float:
    """Return by how much the product with the random direction is not that of the matrix.

    It is relative to the sum of the terms' magnitudes, in units of the rounding error; infinite
    where an entry is not finite, as nothing is known of the others then.
    """
    if plan.vector is None:
        return 0.0
    found = products[:, -1]
    sided = matrix.T if reverse else matrix
    rounding = float(np.finfo(found.dtype).eps)
    with np.errstate(all="ignore"):
        off = np.abs(found - sided @ plan.vector)
        far = np.flatnonzero(~(off <= _ROUNDING * rounding * np.abs(found)))
        # Terms may be larger than their sum.
        scale = abs(sided.tocsr()[far]) @ np.abs(plan.vector)
        ratios = np.where(off[far] > 0.0, off[far] / scale, off[far])
    return float(np.max(np.nan_to_num(ratios, nan=np.inf), initial=0.0)) / rounding


def _blocked(matrix: Matrix, swept: Swept, heights: Sequence[int]) -> list[list[Matrix]]:
    """Return the block of each float result and input."""
    widths = [column.size for column in swept.columns]
    if len(heights) == len(widths) == 1:
        return [[matrix]]
    tops, lefts = np.cumsum([0, *heights]), np.cumsum([0, *widths])
    return [
        [
            matrix[tops[j] : tops[j + 1], lefts[k] : lefts[k + 1]]
            for k in range(len(widths))
        ]
        for j in range(len(heights))
    ]  # fmt: skip


def _shapes(values: Arguments, code: Code) -> object:
    """Return what a pattern is kept for: the function's code, and the shapes of the arguments."""
    signature = code.find(values)[0].signature
    sizes = [foreign.sizes_of(leaf) for leaf in signature.leaves(values)]
    return values.fn.__code__, *sizes


class SparseJacobian(Jacobian):
    """A Jacobian of SciPy's sparse arrays. Made by `jacrev`, `jacfwd` and `hessian`.

    One direction for each color has all entries. A random one more tells whether an entry is
    missing, as when a branch is taken that was not taken before.
    """

    _is_sparse = True

    def __init__(
        self,
        fn: Callable[..., Any],
        levels: tuple[Level, ...],
        options: Options,
        level: Level,
        sparsity: Any,
        probe: bool,
    ) -> None:
        super().__init__(fn, levels, options, level)
        self._sparsity, self._probe = _pattern(sparsity), bool(probe)
        plain = all(each.kind == "grad" and not each.has_aux for each in levels)
        if level.holomorphic or not plain or len(levels) + (level.kind == "hessian") > 1:
            raise ArgumentError(
                f"a sparse Jacobian of {Derivative.__repr__(self)}",
                None,
                "`sparsity` is for Jacobians of functions and of gradients, and for Hessians",
            )
        self._forget()

    def _forget(self) -> None:
        self._plans: dict[object, Plan] = {}
        # The largest mismatch that was found with a complete pattern: rounding of the function.
        self._rounding: dict[object, float] = {}
        self._codes: dict[str | int, Code] = {}

    def _settle(self) -> None:
        level = self._level
        super()._settle()
        if level != self._level:
            self._forget()

    @property
    def _second(self) -> bool:
        """Whether it is a matrix of second derivatives."""
        if self._levels:
            return self._levels[-1].argnums == self._level.argnums
        return self._level.kind == "hessian"

    # -- code ------------------------------------------------------------------------------

    def _code_for(self, what: str | int) -> Code:
        """Return code for so many directions at once, for marks, or for the value."""
        if what not in self._codes:
            wide = what if isinstance(what, int) else {"marks": MANY, "value": 0}[what]
            pull = self._reverse and isinstance(what, int)
            chosen = None if what == "value" else self._level.chosen
            made = Code(
                self.__wrapped__,
                self._transformed,
                self._options,
                along=None if pull else chosen,
                pull=chosen if pull else None,
                nested=self._nested,
                wide=wide,
                pattern=what == "marks",
            )
            self._codes.setdefault(what, made)
        code = self._codes[what]
        code.refresh()  # arguments are matched to one of several
        return code

    def _code_along(self, count: int) -> Code:
        return self._code_for(next((most for most in DIRECTIONS if count <= most), MANY))

    @property
    def _marks(self) -> Code:
        return self._code_for("marks")

    # -- calling ---------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the Jacobian at the given arguments."""
        try:
            self._settle()
            return self._at(self._marks.match(args, kwargs))
        except BaseException as error:
            shorten(error)
            raise

    @shortened
    def pattern(self, *args: Any, **kwargs: Any) -> Any:
        """Return where the Jacobian at these arguments may have entries.

        Returns
        -------
        csr_array of bool
            A row for each number that the function returns, a column for each in the arguments
            that are differentiated.
        """
        self._settle()
        return self._plan(self._marks.match(args, kwargs))[1].pattern

    @shortened
    def directions(self, *args: Any, **kwargs: Any) -> int:
        """Return how many directions have all entries, without the one of the test."""
        self._settle()
        return self._plan(self._marks.match(args, kwargs))[1].directions

    def _check(self, values: Arguments, code: Code) -> None:
        """Raise for what has no sparse matrices."""
        compiled = code.find(values)[0]
        level, fn = self._level, code.fn
        chosen = list(compiled.signature.imaginary(level.argnums))
        heap = compiled.lowered.heap
        if any(chosen) or results.pairs(compiled.lowered.result, heap):
            raise ArgumentError(
                f"a sparse Jacobian of {name_of(fn)}(), which has complex arguments or results",
                span_of(fn), "leave out `sparsity`, or pass real and imaginary parts",
            )  # fmt: skip
        if level.kind == "hessian" and not compiled.levels:
            raise ArgumentError(
                f"a sparse Hessian of {name_of(fn)}(), which does not return one number",
                span_of(fn), "return one number, or leave out `sparsity`",
            )  # fmt: skip
        for leaf in compiled.signature.leaves(values):
            if foreign.is_foreign(leaf):
                raise ArgumentError(
                    f"a sparse Jacobian of {name_of(fn)}(), with an array on a GPU",
                    span_of(fn), "pass NumPy arrays: SciPy's sparse arrays are on the host",
                )  # fmt: skip

    def _plan(self, values: Arguments) -> tuple[object, Plan]:
        """Return how the matrix at these arguments is computed, and what that is kept for."""
        given = self._sparsity
        detects = isinstance(given, str)
        key = _shapes(values, self._marks) if detects else None
        if key not in self._plans:
            if detects:
                self._check(values, self._marks)
                symmetric = self._symmetric(values, self._marks)
                self._plans[key] = self._planned(self._detected(values), symmetric)
            else:
                plan = self._planned(given, self._second)
                code = self._code_along(plan.seeds.count)
                self._check(values, code)
                if self._second and not self._symmetric(values, code):
                    plan = self._planned(given, False)
                self._plans[key] = plan
        return key, self._plans[key]

    def _detected(self, values: Arguments) -> Matrix:
        level = replace(self._level, kind="jacfwd")
        # By rows, an entry of a dense row costs nothing; by columns it costs a direction.
        symmetric = self._symmetric(values, self._marks)
        dense = "mirror" if symmetric else "fill" if self._reverse else ""
        return detect(self._marks, level, values, dense)

    def _symmetric(self, values: Arguments, code: Code) -> bool:
        """Whether second derivatives are symmetric: by a user's rule they need not be."""
        return self._second and code.commutes(values)

    def _planned(self, pattern: Matrix, symmetric: bool) -> Plan:
        return planned(pattern, symmetric=symmetric, reverse=self._reverse, probe=self._probe)

    def _at(self, values: Arguments) -> Any:
        """Return the Jacobian, with SciPy's sparse arrays."""
        key, plan = self._plan(values)
        matrix, products, swept = self._matrix(values, plan)
        off = _mismatch(matrix, products, plan, self._reverse)
        if off > self._rounding.get(key, _ROUNDING):
            # It may take other branches than those that the pattern is of.
            found = self._detected(values)
            missing = sp.csr_array(found > plan.pattern)
            if missing.nnz and not isinstance(self._sparsity, str):
                raise self._lacks(missing)
            if missing.nnz:
                symmetric = self._symmetric(values, self._marks)
                self._plans[key] = plan = self._planned(plan.pattern + found, symmetric)
                matrix, _, swept = self._matrix(values, plan)
            elif np.isfinite(off):
                self._rounding[key] = off
        return self._arranged(matrix, swept)

    def _matrix(self, values: Arguments, plan: Plan) -> tuple[Matrix, Leaf, Swept]:
        """Return the matrix, the products that it is read from, and what computed them."""
        code = self._code_along(plan.seeds.count)
        vars(self)["_code"] = code  # which `source` shows
        size = plan.pattern.shape[0 if self._reverse else 1]

        def seeds(total: int) -> Seeds:
            if total != size:
                raise _Other(total)
            return plan.seeds

        try:
            if self._reverse:
                swept = pulled(self._code_for("value"), code, self._level, values, seeds)
            else:
                swept = pushed(code, self._level, values, seeds)
        except _Other as error:
            raise self._other(plan, 0 if self._reverse else 1, error.total) from None
        products = _products(swept, self._reverse)
        axis = 1 if self._reverse else 0
        if len(products) != plan.pattern.shape[axis]:
            raise self._other(plan, axis, len(products))
        pattern = plan.pattern
        matrix = sp.csr_array(
            (products.ravel()[plan.places], pattern.indices, pattern.indptr), shape=pattern.shape
        )
        return matrix, products, swept

    def _other(self, plan: Plan, axis: int, total: int) -> ArgumentError:
        fn = self._marks.fn
        what = ("results", "inputs")[axis]
        return ArgumentError(
            f"the sparsity pattern has shape {plan.pattern.shape}, but {name_of(fn)}() has {total} "
            f"{what}",
            span_of(fn),
            "a pattern has a row for each number that is returned, and a column for each number in "
            "the arguments that are differentiated",
        )

    def _lacks(self, missing: Matrix) -> ArgumentError:
        rows, columns = missing.nonzero()
        fn = self._marks.fn
        return ArgumentError(
            f"the sparsity pattern of {name_of(fn)}() lacks {missing.nnz} entries, the first in "
            f"row {rows[0]}, column {columns[0]}",
            span_of(fn),
            'add them, or give sparsity="detect"',
        )

    def _arranged(self, matrix: Matrix, swept: Swept) -> Any:
        if self._reverse:
            heights = [row.size for row in swept.rows]
        else:
            heights = [part[..., 0].size for part in swept.parts]
        found = by_rows(swept, self._level, _blocked(matrix, swept, heights))
        return self._with_value(swept, found)

    # -- other uses ------------------------------------------------------------------------

    @Lazy
    def _code(self) -> Code:
        return self._code_for(MANY)

    @property
    def __adc_applied__(self) -> tuple[Level, ...]:
        raise ArgumentError(
            f"{self!r} is used in code that adc compiles, which has no sparse Jacobians",
            None,
            "take the dense one there, without `sparsity`",
        )

    def _made_of(self, fn: Callable[..., Any], options: Options) -> SparseJacobian:
        return SparseJacobian(fn, self._levels, options, self._level, self._sparsity, self._probe)

    def __reduce__(self) -> str | tuple[Any, ...]:
        found = super().__reduce__()
        if isinstance(found, str):
            return found
        return (SparseJacobian, (*found[1], self._sparsity, self._probe))


def _pattern(sparsity: Any) -> Any:
    """Return what a user gives as `sparsity` as a sparse array, or ``"detect"``."""
    if isinstance(sparsity, str) and sparsity == "detect":
        return sparsity
    if not isinstance(sparsity, str):
        try:
            found = sp.csr_array(sparsity)
        except (TypeError, ValueError):
            pass
        else:
            if found.ndim == 2:
                return sp.csr_array(found != 0)
    raise ArgumentError(
        f'sparsity={sparsity!r} is neither "detect" nor a matrix',
        None,
        "a matrix is of SciPy, or an array of two axes, which is not zero where there are entries",
    )


__all__ = ["SparseJacobian"]
