"""Every supported function on every kind of argument: what adc computes, and what NumPy does.

`TABLE` has expressions for each function. The names in an expression say what is passed: ``x y z``
anything from Python's numbers to matrices of any dtype, ``a b`` arrays with axes, ``v w`` vectors,
``m`` matrices, ``s`` square ones, ``n`` numbers, ``i j`` integers and arrays of them, ``k`` a small
Python integer, ``c`` booleans. `cases` draws arguments for one, `differences` runs the
interpreter on what the front end makes of it, and Python itself, and compares type, dtype, shape,
value and exception. A refusal is no difference: what is computed must be NumPy's.
"""

from __future__ import annotations

import copy
import linecache
import math
import random
import re
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adc.compiler.dispatch import Code
from adc.compiler.results import arranged
from adc.ir import interp
from adc.ir.errors import AdcError, AssumptionError, IRError
from adc.ir.types import DTYPES
from adc.options import Options
from adc.passes.numbers.widen_half import widen_half
from adc.passes.pipeline import derived
from tests.oracle import numpy_expressions

_SCALARS = {
    "np.abs np.absolute np.fabs np.negative np.positive np.sign np.square np.sqrt np.cbrt "
    "np.reciprocal np.exp np.exp2 np.expm1 np.log np.log10 np.log1p np.log2 np.sin np.cos np.tan "
    "np.arcsin np.arccos np.arctan np.asin np.acos np.atan np.sinh np.cosh np.tanh np.arcsinh "
    "np.arccosh np.arctanh np.asinh np.acosh np.atanh np.deg2rad np.radians np.rad2deg np.degrees "
    "np.floor np.ceil np.trunc np.fix np.rint np.isnan np.isinf np.isfinite np.signbit "
    "np.logical_not np.invert np.bitwise_invert np.bitwise_not": ["{}(x)"],
    # Near its zeros and far away NumPy's has the digits that rounding leaves.
    "np.sinc": ["{}(x % 8 + 0.3)"],
    # NumPy's of a number is an array without axes; of large ones it overflows too early.
    "np.i0": ["{}(x % 50) * 1.0"],
    "np.add np.subtract np.multiply np.divide np.true_divide np.floor_divide np.remainder np.mod "
    "np.fmod np.power np.pow np.float_power np.maximum np.minimum np.fmax np.fmin np.hypot "
    "np.arctan2 np.atan2 np.copysign np.heaviside np.logaddexp np.logaddexp2 np.greater "
    "np.greater_equal np.less np.less_equal np.equal np.not_equal np.logical_and np.logical_or "
    "np.logical_xor np.divmod": ["{}(x, y)", "{}(n, n2)"],
    "np.gcd np.lcm np.bitwise_and np.bitwise_or np.bitwise_xor np.left_shift np.right_shift "
    "np.bitwise_left_shift np.bitwise_right_shift": ["{}(i, j)", "{}(x, j)"],
    "np.add np.subtract np.multiply np.maximum np.minimum": ["{}.outer(a, b)", "{}(x, x)"],
    "np.add np.multiply np.maximum np.minimum np.logical_and np.logical_or": [
        "{}.reduce(a)", "{}.reduce(a, axis=-1)", "{}.reduce(m, axis=None)",
        "{}.reduce(m, axis=1, keepdims=True)",
    ],
    "np.add np.multiply": ["{}.accumulate(a)", "{}.reduce(a, dtype=np.int16)"],
    "np.bool np.bool_ np.byte np.double np.float16 np.half np.float32 np.float64 np.int16 "
    "np.int32 np.int64 np.int8 np.int_ np.intc np.intp np.long np.longlong np.short np.single "
    "np.ubyte np.uint np.uint16 np.uint32 np.uint64 np.uint8 np.uintc np.uintp np.ulong "
    "np.ulonglong np.ushort":
        ["{}(n)", "{}()"],
}  # fmt: skip

_REDUCED = ["{}(x)", "{}(a, axis=0)", "{}(a, axis=-1)", "{}(m, axis=(0, 1))", "{}(m, axis=1)",
            "{}(m, 0, keepdims=True)", "{}(a, keepdims=True)", "{}(x, axis=None)",
            "{}(x, axis=0)"]  # fmt: skip
_DTYPED = ["{}(x, dtype=np." + name + ")" for name in
           ("int8", "uint8", "int32", "int64", "uint64", "float32", "float64", "bool")]  # fmt: skip

_TABLE: dict[str, list[str]] = {
    **_SCALARS,
    "np.sum np.prod": [
        *_REDUCED, *_DTYPED, "{}(a, initial=3)", "{}(a, where=a > 1)", "{}(a, axis=0, initial=0.5)",
        "{}(m, axis=(1,), dtype=np.float32)", "{}(a, 0, np.int16, None, True)", "{}(a > 0)",
        "{}(m > 0, axis=0)", "{}([x, y])",
    ],
    "np.mean": [*_REDUCED, *_DTYPED, "{}(a, where=a > 1)", "{}(a > 0)", "{}(m, axis=(0, -1))"],
    "np.std np.var": [
        *_REDUCED, *_DTYPED, "{}(a, ddof=1)", "{}(m, axis=0, ddof=1)", "{}(a, correction=1)",
        "{}(a, ddof=5)", "{}(a, where=a > 1)", "{}(a, axis=0, keepdims=True, ddof=0.5)",
    ],
    "np.max np.min np.amax np.amin": [
        *_REDUCED, "{}(a, initial=2)", "{}(a, where=a > 1, initial=-1)", "{}([x, y])",
    ],
    "np.ptp": [*_REDUCED],
    "np.all np.any": [*_REDUCED, "{}(a, where=a > 1)", "{}(m > 0, axis=0)"],
    "np.count_nonzero": ["{}(x)", "{}(m, axis=0)", "{}(m, axis=1, keepdims=True)", "{}(a > 0)"],
    "np.argmax np.argmin": [
        "{}(x)", "{}(a, axis=0)", "{}(m, axis=1)", "{}(m, axis=-1, keepdims=True)", "{}(a)",
    ],
    "np.cumsum np.cumprod": [
        "{}(x)", "{}(a, axis=0)", "{}(m, axis=1)", *_DTYPED, "{}(m, axis=0, dtype=np.int16)",
    ],
    "np.median": ["{}(x)", "{}(a, axis=0)", "{}(m, axis=1)", "{}(m, axis=-1, keepdims=True)",
                  "{}(m, axis=(0, 1))", "{}(a, keepdims=True)"],
    "np.quantile": ["{}(x, 0.3)", "{}(a, 0.5, axis=0)", "{}(m, 0.25, axis=1)", "{}(a, 1.0)",
                    "{}(v, [0.0, 0.5, 0.9])", "{}(v, 0.7, method='lower')", "{}(v, 0)",
                    "{}(v, np.array([0.1, 0.2]))", "{}(m, 0.5, axis=0, keepdims=True)",
                    "{}(v, 0.4, method='nearest')", "{}(v, 0.4, method='midpoint')",
                    "{}(v, 0.4, method='higher')", "{}(v, n)"],
    "np.percentile": ["{}(x, 30)", "{}(a, 50.0, axis=0)", "{}(v, [0, 50, 90])", "{}(v, n)",
                      "{}(m, 25, axis=1)"],
    "np.average": ["{}(x)", "{}(a, axis=0)", "{}(v, weights=w)", "{}(m, axis=0, weights=w)",
                   "{}(a, weights=b)", "{}(m, axis=1, weights=w)", "{}(v, weights=np.zeros(3))",
                   "{}(m, weights=m)", "{}(v, returned=True)", "{}(m, axis=1, keepdims=True)"],
    "np.trace np.linalg.trace": ["{}(m)", "{}(m, offset=1)", "{}(v)"],
    "np.trace": ["{}(m, -1)", "{}(m, dtype=np.int8)", "{}(m, dtype=np.float32)", "m.trace()"],
    "np.diff": ["{}(a)", "{}(m, axis=0)", "{}(v, 2)", "{}(v, n=0)", "{}(v, prepend=1)",
                "{}(v, append=0.5)", "{}(x)", "{}(m, n=2, axis=1)"],
    "np.gradient": ["{}(v)", "{}(m)", "{}(m, axis=0)", "{}(v, 2.0)", "{}(m, 2.0, 3.0)",
                    "{}(m, 2)", "{}(v, edge_order=2)", "{}(m, axis=(0, 1))", "{}(v, w)",
                    "{}(m, axis=1, edge_order=2)", "{}(x)", "{}(m, axis=(1, 0))"],
    "np.interp": ["{}(x, np.sort(w), w * 2)",
        "{}(n, np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0]))",
                  "{}(x, np.array([0.0, 1.0]), np.array([1.0, np.inf]))",
                  "{}(x, np.array([0.0, 1.0, 4.0]), v)", "{}(v, [0, 1], [2, 4], left=-1, right=9)",
                  "{}(x, np.array([1.0]), np.array([5.0]))"],
    "np.trapezoid": ["{}(v)", "{}(v, w)", "{}(m)", "{}(m, axis=0)", "{}(v, dx=2)", "{}(m, v)"],
    "np.convolve": [
        "{}(v, w)", "{}(v, w, 'same')", "{}(v, w, mode='valid')", "{}(x, y)", "{}(v, w, 'none')",
    ],
    "np.kron": ["{}(v, w)", "{}(m, v)", "{}(v, m)", "{}(m, m)", "{}(x, y)", "{}(n, v)", "{}(a, a)"],
    "np.cross": ["{}(v, w)", "{}(m, v)", "{}(np.ones((2, 3)), w)"],
    "np.vander": ["{}(v)", "{}(v, 2)", "{}(v, k, increasing=True)"],
    "np.dot np.inner np.vdot np.outer np.matmul np.tensordot np.linalg.matmul np.linalg.outer "
    "np.linalg.tensordot": ["{}(v, w)", "{}(m, v)", "{}(v, s)", "{}(s, s)", "{}(x, y)"],
    "np.tensordot": ["{}(v, w, 1)", "{}(m, m, 2)", "{}(v, w, axes=0)", "{}(s, s, axes=1)",
                     "{}(s, s, axes=([0], [1]))", "{}(s, s, axes=([0, 1], [1, 0]))"],
    "np.einsum": ["{}('i,i', v, w)", "{}('ij->i', m)", "{}('ij,j', m, v)", "{}('ii', s)",
                  "{}('i->', v)", "{}('ij,kj->ik', m, m)", "{}('i,j->ij', v, w)"],
    "np.clip": ["{}(x, 0, 2)", "{}(x, y, z)", "{}(a, None, 1)", "{}(a, 0.5, None)",
                "{}(i, -1, 300)", "{}(x, min=0)", "{}(x, 2, 0)", "{}(n, 0, 1.5)"],
    "np.round np.around": ["{}(x)", "{}(x, 1)", "{}(x, decimals=2)", "{}(x, -1)", "{}(n, 0)"],
    "np.nan_to_num": ["{}(x)", "{}(x, nan=1.0)", "{}(a, posinf=2, neginf=-2)"],
    "np.isclose np.allclose": ["{}(x, y)", "{}(x, x)", "{}(a, a, equal_nan=True)",
                               "{}(x, y, rtol=0.5, atol=1)"],
    "np.array_equal": ["{}(a, b)", "{}(a, a)", "{}(x, y)"],
    "np.where": ["{}(c, x, y)", "{}(x, y, z)", "{}(n > 1, n, 0)", "{}(c, 1, 2.0)", "{}(c)",
                 "{}(c, n, n2)", "{}(True, n, n2)", "{}(x > 1, x, 0)", "{}(x)"],
    "np.select": ["{}([c], [x])", "{}([a > 0, a < -1], [a, 2 * a], 7)", "{}([c, c], [n, n2], 1.5)",
                  "{}([x > 1], [x], 0)"],
    "np.empty": ["np.shape({}(k))", "np.shape({}((2, k)))", "{}(3, np.int8) == 500",
                 "{}((), np.float32).dtype == np.float32"],
    "np.zeros np.ones": ["{}(())", "{}((), dtype=np.int16)", "{}(k, dtype=bool)",
        "{}((k, 2), int)"],
    "np.zeros_like np.ones_like": ["{}(x)", "{}(x, dtype=np.int8)", "{}(a, shape=(2,))", "{}(n)"],
    "np.empty_like": ["np.shape({}(x))"],
    "np.full": ["{}(k, n)", "{}((2, 2), n, np.int8)", "{}((), n)", "{}(3, n, dtype=float)",
                "{}(3, v)", "{}((2, 3), v)"],
    "np.full_like": ["{}(x, n)", "{}(a, 2.5)", "{}(a, n, dtype=np.float32)", "{}(n, n2)"],
    "np.require": [
        "{}(v)", "{}(v, np.float64)", "{}(v, requirements='C')", "{}(v, None, ['C', 'A'])",
    ],
    "np.array np.asarray np.asanyarray np.ascontiguousarray": [
        "{}(x)", "{}(x, dtype=np.float32)", "{}(n)", "{}([n, n2])", "{}([[n, n2], [n2, n]])",
        "{}([v, w])", "{}(x, dtype=np.int8)", "{}([1, 2.5, True])", "{}([])", "{}([[n], [v[0]]])",
    ],
    "np.astype": ["{}(a, np.float32)", "{}(a, np.int64)", "{}(a, bool)", "{}(a, np.uint8)"],
    "np.copy": ["{}(x)", "{}(n)", "{}(m[:, 0])"],
    "np.arange": ["{}(k)", "{}(k * 0.7)", "{}(np.float32(k))", "{}(np.int8(k))", "{}(k, 7)",
        "{}(0, k, 0.5)", "{}(1, 9, k)", "{}(k, dtype=np.int8)",
                  "{}(5, k, -1)", "{}(0, 1, 0.1)"],
    "np.linspace": ["{}(n, n2, 5)", "{}(0, 1, k)", "{}(n, 1, 4, endpoint=False)",
                    "{}(0, 10, 5, dtype=int)", "{}(v, w, 3)", "{}(0, n, 1)"],
    "np.logspace": ["{}(0, 2, 5)", "{}(n, 1, 4)", "{}(0, 3, 4, base=2.0)", "{}(0, 1, 4, False)"],
    "np.eye np.identity np.tri": ["{}(k)", "{}(3, dtype=np.int8)"],
    "np.eye np.tri": ["{}(3, k)", "{}(3, 4, 1)", "{}(3, k=-1)", "{}(3, 3, -2, bool)"],
    "np.tril np.triu": ["{}(m)", "{}(m, 1)", "{}(m, -1)", "{}(v)"],
    "np.diag": ["{}(v)", "{}(m)", "{}(v, 1)", "{}(m, -1)", "{}(x)"],
    "np.diagonal": ["{}(m)", "{}(m, 1)", "{}(m, -1)", "{}(v)"],
    "np.meshgrid": ["{}(v, w)", "{}(v, w, indexing='ij')", "{}(v)", "{}(n, v)"],
    "np.indices": ["{}((2, 3))", "{}((k,))"],
    "np.ndarray": ["{}((2, 3)).shape", "{}(3, np.int8).dtype == np.int8", "{}((), float).ndim"],
    "np.atleast_3d": ["{}(x)", "{}(m)", "{}(v, n)"],
    "np.matrix_transpose np.linalg.matrix_transpose np.linalg.diagonal": ["{}(m)", "{}(v)"],
    "np.linalg.diagonal": ["{}(m, offset=1)"],
    "np.dsplit": ["{}(np.ones((2, 1, 4)) * n, 2)", "{}(m, 1)"],
    "np.unstack": ["{}(m)", "{}(m, axis=1)", "{}(v)"],
    "np.cov": ["{}(m)", "{}(v)", "{}(v, v)", "{}(m, rowvar=False)", "{}(m, bias=True)",
               "{}(m, ddof=0)"],
    "np.corrcoef": ["{}(m)", "{}(v, v)", "{}(m, rowvar=False)"],
    "np.histogram": ["{}(np.array([1.0, 2.5, 4.0]), 3)", "{}([1, 2, 2, 3], [1, 2, 3])",
                     "{}(np.array([1.0, 2.0]), 2, range=(0.0, 4.0))"],
    "np.digitize": ["{}(n, [1.0, 2.0])", "{}(v, [0.0, 1.0, 2.0])", "{}(v, [2.0, 1.0], right=True)"],
    "np.ix_": ["{}([0, 1], [1, 2])", "s[{}([0, 2], [1])]", "{}(v > 0, w > 0)"],
    "np.append": ["{}(v, w)", "{}(x, y)", "{}(m, m, axis=0)", "{}(v, n)"],
    "np.concatenate np.concat": ["{}((v, w))", "{}([m, m], axis=1)", "{}((v, w, v))",
                                 "{}((a, a), axis=-1)", "{}((m, m), axis=None)",
        "{}((v, v), dtype=np.float32)"],
    "np.stack": ["{}((v, w))", "{}((v, v), axis=1)", "{}([n, n2])", "{}((m, m), axis=-1)"],
    "np.vstack np.hstack np.dstack np.column_stack": ["{}((v, w))", "{}((m, m))", "{}((n, n2))",
        "{}([v, v])"],
    "np.split np.array_split": ["{}(np.arange(6), 3)", "{}(v, [1])", "{}(a, 1)",
        "{}(np.arange(6.0), [2, 4])"],
    "np.hsplit": ["{}(m, 1)", "{}(v, [1, 2])"],
    "np.vsplit": ["{}(m, 1)", "{}(m, [1])"],
    "np.atleast_1d np.atleast_2d": ["{}(x)", "{}(n)"],
    "np.broadcast_to": ["{}(x, (2, 3))", "{}(n, (2,))", "{}(n, ())", "{}(v, (2, 3))"],
    "np.expand_dims": ["{}(x, 0)", "{}(a, -1)", "{}(m, (0, 3))", "{}(n, 0)"],
    "np.squeeze": ["{}(x)", "{}(m, axis=0)", "{}(n)"],
    "np.reshape": ["{}(x, -1)", "{}(m, (-1, 1))", "{}(a, -1)", "{}(n, (1, 1))", "{}(m, (3, 2))"],
    "np.ravel np.transpose np.flip": ["{}(x)", "{}(m)", "{}(n)"],
    "np.permute_dims": ["{}(m)", "{}(m, (1, 0))"],
    "np.transpose": ["{}(m, (1, 0))", "{}(m, (0, 1))"],
    "np.flip": ["{}(m, 0)", "{}(m, axis=(0, 1))"],
    "np.fliplr np.flipud": ["{}(m)", "{}(v)"],
    "np.rot90": ["{}(m)", "{}(m, 2)", "{}(m, -1)"],
    "np.moveaxis": ["{}(m, 0, 1)", "{}(m, 0, -1)"],
    "np.rollaxis": ["{}(m, 1)"],
    "np.swapaxes": ["{}(m, 0, 1)"],
    "np.roll": ["{}(v, 1)", "{}(m, 1)", "{}(m, -1, axis=0)", "{}(v, k)", "{}(m, (1, 2), (0, 1))",
        "{}(x, 1)"],
    "np.repeat": ["{}(v, 2)", "{}(m, 2, axis=0)", "{}(x, 3)", "{}(v, [1, 2, 0])", "{}(m, 2)"],
    "np.tile": ["{}(v, 2)", "{}(m, (2, 1))", "{}(x, 3)", "{}(v, (2, 2))"],
    "np.pad": ["{}(v, 1)", "{}(m, 1, constant_values=3)", "{}(v, (1, 2), mode='edge')",
               "{}(v, 2, mode='wrap')", "{}(v, 1, 'reflect')", "{}(m, ((1, 0), (0, 2)))",
               "{}(v, 1, 'symmetric')", "{}(v, 1, constant_values=2.7)"],
    "np.sort": ["{}(v)", "{}(m)", "{}(m, axis=0)", "{}(m, axis=None)", "{}(x)"],
    "np.argsort": ["{}(v, kind='stable')", "{}(m, kind='stable')", "{}(m, axis=0, kind='stable')",
                   "{}(m, axis=None, kind='stable')", "{}(x)"],
    "np.searchsorted": ["{}(np.array([0, 1, 3]), x)",
        "{}(np.array([0.0, 1.0, 3.0]), x, side='right')",
                        "{}(np.sort(v), n)", "{}(np.sort(v), w)", "{}([1, 2, 3], n)"],
    "np.take": ["{}(v, 0)", "{}(v, [0, -1])", "{}(m, 1, axis=0)", "{}(m, [0, 1], axis=1)",
        "{}(m, 2)",
                "{}(v, 7, mode='wrap')", "{}(v, [9, -9], mode='clip')", "{}(x, 0)", "{}(v, j)"],
    "np.compress": ["{}([True, False, True], v)", "{}(v > 1, v)", "{}([False, True], m, axis=0)"],
    "np.extract": ["{}(a > 1, a)", "{}(c, c)"],
    "np.nonzero np.flatnonzero np.argwhere": ["{}(a)", "{}(m > 1)", "{}(x)"],
    "np.take_along_axis": ["{}(m, np.argsort(m, axis=1), 1)", "{}(v, np.argsort(v), 0)",
                           "{}(v, np.array([0, -1]), axis=0)"],
    "np.put_along_axis": ["b = m.copy(); {}(b, np.array([[0]]), 7, 1); b"],
    "np.put": ["b = v.copy(); {}(b, [0, 1], [5, 6]); b",
        "b = v.copy(); {}(b, [0, 1, 2], [5, 6]); b",
               "b = v.copy(); {}(b, [0], n); b", "b = v.copy(); {}(b, 0, w); b",
               "b = m.copy(); {}(b, [0, -1], [1, 2, 3]); b", "b = v.copy(); {}(b, [0], []); b",
               "b = v.copy(); {}(b, [4, -5], 3, mode='wrap'); b",
        "b = m.copy(); {}(b, [0, 1], [9]); b"],
    "np.putmask": ["b = v.copy(); {}(b, b > 1, 0); b", "b = v.copy(); {}(b, b > 1, w); b",
                   "b = v.copy(); {}(b, b > 1, np.array([1, 2])); b",
        "b = m.copy(); {}(b, m > 0, n); b"],
    "np.copyto": ["b = np.zeros(3); {}(b, v); b", "b = np.zeros(3, np.int32); {}(b, v); b",
                  "b = np.zeros(3, np.int8); {}(b, n); b", "b = np.zeros((2, 3)); {}(b, x); b",
                  "b = np.zeros(3, np.float32); {}(b, v, where=v > 0); b",
                  "b = np.zeros(3, np.uint8); {}(b, v, casting='unsafe'); b",
        "b = v.copy(); {}(b, w); b"],
    "np.fill_diagonal": ["b = s.copy(); {}(b, n); b", "b = m.copy(); {}(b, 5); b"],
    "np.bincount": ["{}(np.array([0, 1, 1, 3]))", "{}(j % 1000)",
        "{}(np.array([0, 2]), np.array([0.5, 1.5]))",
                    "{}(np.array([1]), minlength=4)", "{}([0, 1], v[:2])"],
    "np.shape np.ndim np.size": ["{}(x)", "{}(n)", "{}([n, n2])"],
    "np.size": ["{}(m, 0)"],
    # What LAPACK makes of NaN and infinities depends on whose it is.
    "np.linalg.det np.linalg.slogdet": [
        "{}(s)", "{}(s + 4.0 * np.eye(3))", "{}(np.ones((2, 2)))", "{}(np.zeros((0, 0)))", "{}(m)",
        "{}(np.array([[1.0, 2.0], [2.0, 4.0]]))", "{}(np.array([[0.0, 1.0], [0.0, 2.0]]))",
        "{}(np.array([[1e-310, 0.0], [0.0, 1.0]]))", "{}(np.array([[np.nan, 1.0], [1.0, 2.0]]))",
        "{}(v)", "{}(np.zeros((2, 2), np.float32))",
    ],
    "np.linalg.inv np.linalg.cholesky": [
        "{}(s)", "{}(s + 4.0 * np.eye(3))", "{}(np.ones((2, 2)))", "{}(np.zeros((0, 0)))", "{}(m)",
        "{}(v)", "{}(np.array([[1.0, 2.0], [2.0, 4.0]]))",
    ],
    "np.linalg.pinv": ["{}(np.array([[1.0, 2.0], [2.0, 5.0], [1.0, 0.5]]))",
                       "{}(np.array([[3, -128, 2], [1, 2, 127]], np.int8))"],
    "np.linalg.eig": ["{}(np.diag([3.0, 1.0]) * (1 + 0j))[0].real * n", "{}(s)[0]",
                      "{}(np.array([[0.0, 1.0], [-1.0, 0.5]]))[1]", "{}(v)", "{}(m)"],
    "np.linalg.eigvals": ["{}(np.diag([3.0, 1.0]) * (1 + 0j)).real * n", "{}(s)", "{}(v)",
                          "{}(np.array([[0.0, 1.0], [-1.0, 0.5]], np.float32))",
                          "{}(np.eye(2, dtype=int))"],
    "np.linalg.eigvalsh": ["{}(s + s.T)", "{}(np.eye(3))"],
    "np.linalg.eigh": ["{}(s + s.T)[0]", "{}(np.diag([3.0, 1.0]))[0]"],
    "np.linalg.solve": ["{}(s, v)", "{}(s, s)", "{}(s + 4.0 * np.eye(3), w)",
        "{}(np.ones((2, 2)), np.ones(2))",
                        "{}(m, v)"],
    "np.linalg.qr": ["{}(s)", "{}(m)", "{}(m, mode='r')"],
    "np.linalg.norm": ["{}(x)", "{}(v, 1)", "{}(v, np.inf)", "{}(m)", "{}(m, axis=1)",
        "{}(m, 'fro')", "{}(v, 3)",
                       "{}(m, 1)", "{}(v, -np.inf)", "{}(v, 0)", "{}(m, axis=0, keepdims=True)",
        "{}(v, 2.5)",
                       "{}(s, np.inf)", "{}(a, keepdims=True)"],
    "np.linalg.svdvals np.linalg.cond np.linalg.matrix_rank": ["{}(s)", "{}(m)", "{}(np.eye(3))"],
    "np.linalg.svd": ["{}(s)[1]", "{}(m)[1]",
                      "{}(m, full_matrices=False)[1]", "{}(m, compute_uv=False)"],
    "np.linalg.lstsq": ["{}(s, v)[0]", "{}(np.array([[1.0, 2.0], [2.0, 5.0], [1.0, 0.5]]), v)"],
    "np.linalg.tensorinv": ["{}(s + 4.0 * np.eye(3), 1)"],
    "np.linalg.tensorsolve": ["{}(s + 4.0 * np.eye(3), v)"],
    "np.linalg.multi_dot": ["{}([s, s])", "{}([s, s, v])", "{}((v, s, s, s))"],
    "np.linalg.vector_norm": ["{}(x)", "{}(v, ord=1)", "{}(m, axis=1)", "{}(m, keepdims=True)"],
    "np.linalg.matrix_norm": [
        "{}(m)", "{}(s, ord=1)", "{}(s, ord='nuc')", "{}(s, ord=2)", "{}(m, keepdims=True)",
    ],
    "np.linalg.matrix_power": ["{}(s, 2)", "{}(s, 0)", "{}(s, 3)", "{}(s + 4.0 * np.eye(3), -1)"],
    # methods of arrays, of elements and of expressions
    "sum prod max min mean std var all any argmax argmin cumsum cumprod ptp": [
        "a.{}()", "m.{}(axis=0)", "v[0].{}()", "n.{}()", "(a * 2).{}()",
    ],
    "sum prod cumsum cumprod mean": ["a.{}(dtype=np.int8)", "v[0].{}(dtype=np.float32)"],
    "argsort": ["a.{}(kind='stable')", "v[0].{}()", "n.{}()"],
    "copy ravel flatten squeeze transpose conj nonzero sort round tolist __len__ diagonal "
    "item trace": ["a.{}()", "v[0].{}()", "n.{}()", "m.{}()"],
    "round ": ["a.{}(1)", "n.{}(1)"],
    "astype": ["a.{}(float)", "v[0].{}(float)", "v[0].{}(np.int8)", "n.{}(np.float32)",
        "a.{}(np.int8)"],
    "clip": ["a.{}(0, 1)", "v[0].{}(0, 1)", "a.{}(min=1)", "a.{}(None, 2)"],
    "dot": ["v.{}(w)", "m.{}(v)", "s.{}(s)"],
    "fill": ["b = a.copy(); b.{}(n); b", "b = a.copy(); b.{}(2.5); b"],
    "repeat": ["v.{}(2)", "v[0].{}(2)"],
    "reshape": ["m.{}(-1)", "m.{}(3, 2)", "v[0].{}(1)", "v[0].{}(1, 1)", "m.{}((-1, 1))"],
    "swapaxes": ["m.{}(0, 1)"],
    "take": ["v.{}([0, 2])", "v.{}(0)", "m.{}(1, axis=0)", "v[0].{}(0)"],
    "searchsorted": ["np.sort(v).{}(n)"],
    "compress": ["v.{}([True, False, True])"],
    "put": ["b = v.copy(); b.{}([0, 1], [3]); b"],
    "item": ["v.{}(0)", "m.{}(1, 0)", "m.{}(-1)", "v.{}(7)"],
    # elements, views, and what Python unpacks
    "[]": [
        "v[0]", "m[0, 1]", "m[0][1]", "v[k]", "m.T[0]", "v[...]", "m[0, ...]", "v[-1:][0]",
        "m.ravel()[0]", "np.squeeze(v[:1])", "v[:1].reshape(())", "m[1:][0, 0]",
        "[u for u in v][0]", "v[np.int64(0)]", "m[(0, 1)]", "np.diag(s)[0]", "v[np.array([0, 1])]",
        "v[v > 1]", "v[()]", "m[None, 0]", "v.flat[0]", "np.split(v, [1])[0]", "v[:0]", "m[:, 0]",
        "v[::-1]", "(v * 2)[1]", "v[[0, -1]]", "m[[0], [1]]", "m[np.newaxis]", "v[1:2][0]",
        "m[0].sum()", "m.shape", "m.ndim", "m.size", "m.T", "a.dtype", "v.itemsize",
    ],
    # operators
    "+ - * / // % **": ["x {} y", "n {} n2", "v[0] {} n", "x {} 2", "2 {} x", "i {} -1", "n {} -2",
                        "x {} 0", "n {} 0.0", "i {} j", "b = a.copy(); b {}= n; b",
                        "b = a.copy(); b {}= a; b", "b = n; b {}= n2; b"],
    "& | ^ << >>": ["i {} j", "x {} y", "n {} n2", "i {} 1", "b = i; b {}= j; b"],
    "< <= > >= == !=": ["x {} y", "n {} n2", "x {} 1", "i {} 300", "-1 {} x"],
    "- + ~ abs not": ["{}(x)", "{}(n)"],
    "@": ["v {} w", "m {} v", "s {} s", "v {} s", "x {} y"],
    # Python's builtins and `math`
    "abs bool float int round": ["{}(n)", "{}(v[0])", "{}(x)"],
    "round": ["{}(n, 1)", "{}(n, -1)", "{}(n, k)"],
    # What they return has the type of the one chosen, which is known only at run time.
    "max min": ["{}(n, n)", "{}(v)", "{}([v[0], v[-1]])", "{}(v[0], v[1], v[2])",
        "{}(1.5, float(n))"],
    # Of no elements it is Python's 0, and here that of their type.
    "sum": ["{}(m[0])", "{}([n, n2])", "{}([n, n2]) / {}([n2])", "{}(m[0]) / {}(m[0])",
            "{}([1.5]) / {}([0.0])", "{}(m[0], n)"],
    "divmod pow": ["{}(n, n2)", "{}(x, 2)"],
    "all any": ["{}(v > 0)", "{}([n, n2])"],
    "len list tuple": ["{}(v)", "{}(m)", "{}(a)"],
    "isinstance": ["{}(n, float)", "{}(n, (int, np.integer))", "{}(v[0], np.floating)"],
    "dict range enumerate zip reversed slice": [],
    "print": [],
    "math.acos math.acosh math.asin math.asinh math.atan math.atanh math.cbrt math.ceil math.cos "
    "math.cosh math.degrees math.erf math.erfc math.exp math.exp2 math.expm1 math.fabs math.floor "
    "math.gamma math.isfinite math.isinf math.isnan math.lgamma math.log math.log10 math.log1p "
    "math.log2 math.radians math.sin math.sinh math.sqrt math.tan math.tanh math.trunc":
        ["{}(n)", "{}(v[0])", "{}(x)"],
    "math.atan2 math.copysign math.fmod math.hypot math.nextafter math.pow math.log": ["{}(n, n2)"],
    "math.isclose math.remainder": ["{}(n, n2)"], "cmath.isclose": ["{}(n, n2)"],
    "math.modf math.frexp math.ulp": ["{}(n)", "{}(v[0])", "{}(x)"],
    "math.fsum": ["{}(v)", "{}([n, n2])", "{}(m[0])"], "math.lcm": ["{}(k, 6)", "{}(i, j)"],
    "math.gcd math.ldexp": ["{}(n, k)", "{}(i, j)"],
    "math.prod": ["{}([n, n2])", "{}(m[0])"], "math.dist": ["{}(v, v)"],
    "math.comb math.perm": ["{}(k, 2)"], "math.factorial math.isqrt": ["{}(k)"],
}  # fmt: skip


def table() -> dict[str, list[str]]:
    """Return the expressions of every function, each with its name in it."""
    found: dict[str, list[str]] = {}
    for names, forms in [*_TABLE.items(), *numpy_expressions.TABLE.items()]:
        for name in names.split():
            entry = found.setdefault(name, [])
            entry += [text for form in forms if (text := form.replace("{}", name)) not in entry]
    return found


# --- arguments ------------------------------------------------------------------------------------

_FLOATS = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -2.5, 0.5, 3.75, -1.0, 2.0]
_PLAIN = [0.5, -1.25, 2.0, 3.75, -0.5, 1.0, 0.25, -3.0, 1.75]
_HALF = np.dtype(np.float16)
_DTYPES = list(DTYPES.values())
# Powers and shifts by more are not computed.
_LARGE = 10_000
_NAMES = re.compile(r"\b(x|y|z|a|b|v|w|m|s|n|n2|i|j|k|c)\b")
_SHAPES: dict[str, list[tuple[int, ...]]] = {
    "a": [(3,), (2, 3), (3,), (1,), (0,), (3, 1), (0, 3), (2, 0), (2, 2, 3)],
    "v": [(3,), (3,), (3,), (3,), (1,), (0,), (2,)], 
    "m": [(2, 3), (2, 3), (1, 3), (2, 1), (0, 3), (3, 2)],
    "s": [(3, 3), (3, 3), (1, 1), (2, 2)],
}  # fmt: skip
_OTHERS = {"b": "a", "w": "v"}
# BLAS skips products with a number that is zero, so an infinity times zero is zero there.
_FINITE = ("np.linalg", "np.dot(")
# Their sums are rounded: numbers near 2**63 cancel to what depends on the order.
_AVERAGES = ("mean(", "average(")


@dataclass(frozen=True)
class Case:
    """An expression, and arguments by name."""

    text: str
    args: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.text}  # {', '.join(f'{k} = {_shown(v)}' for k, v in self.args.items())}"


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()}, '{value.dtype}')" + (
            f".reshape({value.shape})" if not value.size else ""
        )
    return repr(value)


def _contents(
    rng: random.Random, dtype: np.dtype[Any], count: int, special: bool, extreme: bool = True
) -> list[Any]:
    if dtype.kind == "b":
        return [rng.random() < 0.5 for _ in range(count)]
    if dtype.kind == "f":
        pool = list(_FLOATS if special else _PLAIN)
        if special and extreme:
            info = np.finfo(dtype)
            pool += [float(info.max), float(info.smallest_subnormal), float(info.tiny)]
        return [rng.choice(pool) for _ in range(count)]
    limits = np.iinfo(dtype)
    low, high = int(limits.min), int(limits.max)
    least = max(low, -4)
    pool = [low, high, high - 1, 0, 1, low + 1] if special else []
    pool += [least, 0, 1, 2, 3, 5, 7] if not special else [2, 3]
    return [rng.choice(pool) for _ in range(count)]


def _array(
    rng: random.Random,
    shape: tuple[int, ...],
    dtypes: list[np.dtype[Any]],
    special: bool,
    extreme: bool = True,
) -> Any:
    dtype = rng.choice(dtypes)
    flat = _contents(rng, dtype, math.prod(shape), special, extreme)
    return np.array(flat, dtype).reshape(shape)


def _number(rng: random.Random, dtypes: list[np.dtype[Any]], special: bool) -> Any:
    dtype = rng.choice(dtypes)
    (value,) = _contents(rng, dtype, 1, special)
    form = rng.random()
    if form < 0.4 and dtype.name in ("bool", "int64", "float64"):
        return value
    return dtype.type(value) if form < 0.8 else np.array(value, dtype)


def _argument(rng: random.Random, name: str, dtypes: list[np.dtype[Any]], special: bool,
              shapes: dict[str, tuple[int, ...]]) -> Any:  # fmt: skip
    integers = [d for d in dtypes if d.kind in "iu"] or [np.dtype(np.int64)]
    if name == "k":
        return rng.choice([0, 1, 2, 3, 4])
    if name in ("n", "n2"):
        return _number(rng, dtypes, special)
    if name in ("x", "y", "z", "i", "j", "c"):
        wanted = integers if name in "ij" else [np.dtype(np.bool_)] if name == "c" else dtypes
        if rng.random() < 0.45:
            return _number(rng, wanted, special)
        shape = (
            shapes["broad"]
            if rng.random() < 0.6
            else rng.choice([(3,), (1,), (2, 3), (1, 3), (2, 1)])
        )
        return _array(rng, shape, wanted, special)
    kind = _OTHERS.get(name, name)
    # What overflows in a sum of products depends on the order in which it is added.
    shape = shapes[kind] if rng.random() < 0.85 else rng.choice(_SHAPES[kind])
    return _array(rng, shape, dtypes, special, extreme=False)


def cases(text: str, count: int, seed: int = 0, *, half: bool = False) -> Iterator[Case]:
    """Yield so many samples of an expression, always the same ones; with float16, if `half`."""
    rng = random.Random(zlib.crc32(f"{seed} {text}".encode()))
    assigned = set(re.findall(r"\b(\w) = ", text))
    names = sorted({found[0] for found in _NAMES.finditer(text)} - assigned)
    for k in range(count):
        special = (k + len(text)) % 2 == 1 and not any(name in text for name in _FINITE)
        # Arguments of one dtype, of few, or of any.
        few = [rng.choice(_DTYPES)] if rng.random() < 0.5 else rng.sample(_DTYPES, 2)
        dtypes = [np.dtype(np.float64)] if rng.random() < 0.2 else few
        if half:
            dtypes = [_HALF, *few[1:]]
        shapes = {kind: rng.choice(those) for kind, those in _SHAPES.items()}
        shapes["broad"] = rng.choice([(3,), (2, 3), (1,), (0,), (2, 1), (0, 3)])
        args = {n: _argument(rng, n, dtypes, special, shapes) for n in names}
        if any(name in text for name in _AVERAGES):
            args = {n: _small(value) for n, value in args.items()}
        yield Case(text, args)


def _small(value: Any) -> Any:
    """Return integers that float64 adds up without rounding."""
    wide = np.asarray(value).dtype in (np.int64, np.uint64)
    return value // 2**32 if wide else value


# --- running --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Raised:
    """How a call ended."""

    error: Exception

    def __str__(self) -> str:
        return f"{type(self.error).__name__}: {str(self.error)[:150]}"


#: What no one can know: it depends on the machine.
UNDEFINED = object()


def _holds_integers(found: Any) -> bool:
    if isinstance(found, tuple | list):
        return any(map(_holds_integers, found))
    return np.asarray(found).dtype.kind in "biu"


class Expression:
    """An expression as a function, for Python and for adc."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tolerance = 1e4 if "linalg" in text or "polyfit" in text else 1.0
        assigned = set(re.findall(r"\b(\w) = ", text))
        names = sorted({found[0] for found in _NAMES.finditer(text)} - assigned)
        *lines, last = text.split("; ")
        body = "".join(f"    {line}\n" for line in [*lines, f"return {last}"])
        source = f"def program({', '.join(names)}):\n{body}"
        self._file = f"<sweep {text}>"
        linecache.cache[self._file] = (len(source), None, source.splitlines(True), self._file)
        namespace: dict[str, Any] = {"np": np, "math": math, "__name__": __name__}
        exec(compile(source, self._file, "exec"), namespace)
        self.fn: Callable[..., Any] = namespace["program"]
        self._names = names

    def close(self) -> None:
        del linecache.cache[self._file]

    def python(self, case: Case) -> Any:
        """Return what Python gives, or raises; `UNDEFINED` for integers made of NaN or infinity."""
        if re.search(r"\*\*|<<", self.text) and any(
            type(arg) is int and abs(arg) > _LARGE for arg in case.args.values()
        ):
            return UNDEFINED  # Python's integers have any length: it might compute for years
        with warnings.catch_warnings(record=True) as warned, np.errstate(invalid="warn"):
            warnings.simplefilter("always")
            try:
                found = self.fn(**copy.deepcopy(case.args))
            except Exception as error:
                # Quantiles of no elements raise what NumPy happens to meet first.
                accident = "quantile" in self.text and isinstance(error, OverflowError)
                return UNDEFINED if accident else Raised(error)
        invalid = any("invalid value" in str(each.message) for each in warned)
        return UNDEFINED if invalid and _holds_integers(found) else found

    def adc(self, case: Case) -> Any:
        """Return what the lowered function gives in the interpreter, or raises."""
        try:
            return interpreted(self.fn, tuple(copy.deepcopy(case.args[n]) for n in self._names))
        except interp.ProgramError as error:
            return Raised(error.error)
        except Exception as error:
            return Raised(error)


def complaint(expression: Expression, case: Case, got: Any) -> str:
    """Return in what the outcome of a case differs from Python's, or "".

    A 0-d array that is an argument may count as its number.
    """
    found = difference(got, expression.python(case), expression.tolerance)
    plain = {name: _plain(value) for name, value in case.args.items() if np.ndim(value) == 0}
    if found and any(value is not case.args[name] for name, value in plain.items()):
        case = Case(case.text, {**case.args, **plain})
        found = found and difference(got, expression.python(case), expression.tolerance)
    return found


def interpreted(fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return what `adc.jit` of a function gives, without compiling: as lowered, interpreted."""
    code = Code(fn, (), Options())
    values = code.match(args, {})
    try:
        return _interpreted(code, values, general=False)
    except interp.ProgramError as error:
        if not isinstance(error.error, AssumptionError):
            raise
    except AssumptionError:
        pass
    return _interpreted(code, values, general=True)  # for axes of any size


def _interpreted(code: Code, values: Any, general: bool) -> Any:
    made = code.prepared(values, general)
    signature, lowered = made.signature, made.lowered
    leaves = [*signature.leaves(values)]
    for capture in lowered.captures:
        leaves += capture.leaves(values) or ()
    widened = widen_half(lowered.fn)  # the same, unless there are numbers of 16 bits
    results = interp.run(widened, [np.asarray(leaf)[()] for leaf in leaves], derived)
    return arranged(lowered)(results)


def _plain(leaf: Any) -> Any:
    """Return an argument as compiled code gets it: 0-d arrays are numbers."""
    if isinstance(leaf, np.ndarray) and leaf.ndim == 0:
        return leaf[()]
    return leaf


# --- comparing ------------------------------------------------------------------------------------


def is_refusal(found: Any) -> bool:
    """Whether a call was refused by adc, rather than being raised by the program or a defect.

    Errors that are known only at run time name adc.
    """
    return (
        isinstance(found, Raised)
        and (isinstance(found.error, AdcError) or str(found.error).startswith("adc"))
        and not isinstance(found.error, IRError)
    )


def difference(got: Any, want: Any, tolerance: float = 1.0) -> str:
    """Return in what two outcomes differ, or ""."""
    if want is UNDEFINED or (type(want) is int and 2**63 <= abs(want) <= 2**63 + 2**40):
        return ""  # negated, or an index added: not checked (`adc explain numerics`)
    if isinstance(want, Raised) or isinstance(got, Raised):
        if isinstance(want, Raised) and isinstance(got, Raised):
            same = type(want.error) is type(got.error)
            return "" if same else f"raises {got}, not {want}"
        return (
            f"raises {got}"
            if isinstance(got, Raised)
            else f"{_shown(got)}, but NumPy raises {want}"
        )
    if isinstance(want, tuple | list):
        if type(got) is not type(want) or len(got) != len(want):
            return f"{type(got).__name__} {got!r}, not {type(want).__name__} {want!r}"
        parts = (difference(g, w, tolerance) for g, w in zip(got, want, strict=True))
        return next((found for found in parts if found), "")
    if type(got) is not type(want):
        return f"a {type(got).__name__} {_shown(got)}, not a {type(want).__name__} {_shown(want)}"
    if isinstance(want, np.ndarray | np.generic):
        if got.dtype != want.dtype:
            return f"{got.dtype}, not {want.dtype}"
        if got.shape != want.shape:
            return f"shape {got.shape}, not {want.shape}"
    with np.errstate(all="ignore"):
        same = _close(np.asarray(got), np.asarray(want), tolerance)
    return "" if same else f"{_shown(got)}, not {_shown(want)}"


def _close(got: Any, want: Any, tolerance: float) -> bool:
    if want.dtype.kind not in "fc":
        return bool(np.array_equal(got, want))
    digits = {"float64": 1e-13, "float32": 5e-6, "float16": 1e-3}
    limit = tolerance * digits[want.real.dtype.name]
    exact = ~np.isfinite(want) | (want == 0)
    with_nan = np.isnan(got) & np.isnan(want)
    zero = (want == 0) & (np.abs(got) <= 1e-13) & (tolerance > 1)
    same = with_nan | (got == want) | zero
    scale = np.abs(want) if tolerance == 1 else np.max(np.abs(want), initial=0.0)
    near = ~exact & (np.abs(got - want) <= limit * scale)
    return bool(np.all(same | near))
