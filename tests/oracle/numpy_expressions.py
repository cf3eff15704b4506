"""Expressions with NumPy's functions that `adc.library.arrays` has, and others like them."""

from __future__ import annotations

_NAN = "np.where(a == 2, np.nan, a)"
_NAN_M = "np.where(m == 2, np.nan, m)"
_SOME = "np.array([[np.nan, 2.0, 1.0], [5.0, np.nan, 4.0]])"
_P, _Q = "np.array([1.0, -2.0, 3.0, 0.5])", "np.array([2.0, 1.0])"
_RAMP = "np.arange(6.0)"

TABLE: dict[str, list[str]] = {
    "np.nansum np.nanprod": [
        "{}(x)", "{}(a, axis=0)", f"{{}}({_NAN})", f"{{}}({_NAN_M}, axis=1, keepdims=True)",
        "{}(x, dtype=np.float32)", f"{{}}({_NAN}, initial=2.0)",
        f"{{}}({_SOME}, where=[True, True, False])",
    ],
    "np.nanmean": [
        "{}(x)", "{}(a, axis=0)", f"{{}}({_NAN})", f"{{}}({_NAN_M}, axis=1)",
        f"{{}}({_SOME}, 0, keepdims=True)",
    ],
    "np.nanstd np.nanvar": [
        "{}(x)", "{}(a, axis=0)", f"{{}}({_NAN})", f"{{}}({_NAN_M}, axis=1)",
        f"{{}}({_SOME}, 0, ddof=1)", f"{{}}({_SOME}, 1, ddof=2)",
    ],
    "np.nanmax np.nanmin": [
        "{}(x)", "{}(a, axis=0)", f"{{}}({_NAN})", f"{{}}({_NAN_M}, axis=0)",
        f"{{}}({_SOME}, 1, keepdims=True)", "{}(a, initial=2)",
    ],
    "np.nanargmax np.nanargmin": [
        "{}(x)", "{}(a, axis=0)", f"{{}}({_NAN})", f"{{}}({_NAN_M}, axis=0)",
        f"{{}}({_SOME}, 1, keepdims=True)",
    ],
    "np.nancumsum np.nancumprod": [
        "{}(x)", "{}(a, axis=0)", f"{{}}({_NAN})", "{}(x, dtype=np.float32)",
    ],
    "np.nanmedian": [
        "{}(x)", "{}(a, axis=0)", f"{{}}({_NAN})", f"{{}}({_SOME}, axis=1)",
        f"{{}}({_SOME}, axis=0, keepdims=True)",
    ],
    "np.nanquantile": ["{}(x, 0.3)", f"{{}}({_NAN}, 0.5)", f"{{}}({_SOME}, 0.25, axis=1)"],
    "np.nanpercentile": ["{}(x, 30)", f"{{}}({_SOME}, 75.0, axis=0)"],
    # polynomials
    "np.polyval": ["{}(v, x)", "{}([1, 2, 3], x)", f"{{}}({_P}, n)", "{}([2.0], m)"],
    "np.polyadd np.polysub np.polymul": [
        "{}(v, w)", f"{{}}({_P}, {_Q})", "{}([0, 1], [0, 0, 2])", "{}(v, n)",
    ],
    "np.polydiv": [f"{{}}({_P}, {_Q})", "{}([1.0, 3.0, 2.0], [1.0, 1.0])", f"{{}}({_Q}, {_P})"],
    "np.polyder": ["{}(v)", f"{{}}({_P}, 2)", "{}([3, 2, 1])", "{}(v, 0)", f"{{}}({_Q}, 3)"],
    "np.polyint": ["{}(v)", f"{{}}({_P}, 2)", "{}([3, 2, 1], k=7)", f"{{}}({_Q}, 2, [1.0, 2.0])"],
    "np.poly": ["{}(v)", "{}([1, 2])"],
    "np.poly1d": ["{}(v).c", "{}(v)(x)", "{}([1, 2, n]).deriv().c", "{}(m).c", "{}(n).c"],
    "np.roots": [
        "{}([1, -3, 2])", "{}([2.0, 1.0, 3.0])", "{}([0.0, 1.0, -6.0, 11.0, -6.0, 0.0])", "{}(n)",
        "{}([4.0])", "{}([4.0, 0.0])", "{}([1.0, 2.0j])", "{}(np.array([1.0, -2.0], np.float32))",
        "{}([])", "{}([1.0, np.nan])", "{}([0.0])", "{}(m)",
    ],
    "np.polyfit": [
        f"{{}}({_RAMP}, {_RAMP} ** 2 + 1.0, 2)", f"{{}}({_RAMP}, np.sin({_RAMP}), 3)",
        f"{{}}({_RAMP}, np.sin({_RAMP}), 1, w={_RAMP} + 1.0)",
        f"{{}}({_RAMP}, np.ones((6, 2)) * {_RAMP}[:, None], 1) + 1.0",
    ],
    "np.polynomial.polynomial.polyval np.polynomial.chebyshev.chebval "
    "np.polynomial.legendre.legval np.polynomial.hermite.hermval "
    "np.polynomial.hermite_e.hermeval np.polynomial.laguerre.lagval": [
        "{}(n, v)", "{}(v, w)", "{}(m, [1, 2, 3])", "{}(n, [2.5])", "{}(v, s)",
        "{}(v, s, tensor=False)", "{}(n, n2)", "{}([n, n2], [0.5, 1.0])",
    ],
    "np.polynomial.polynomial.polyval2d np.polynomial.chebyshev.chebval2d "
    "np.polynomial.legendre.legval2d np.polynomial.hermite.hermval2d "
    "np.polynomial.hermite_e.hermeval2d np.polynomial.laguerre.lagval2d": [
        "{}(v, w, s)", "{}(n, n2, s)", "{}(v, n, s)",
    ],
    "np.polynomial.polynomial.polygrid2d np.polynomial.chebyshev.chebgrid2d "
    "np.polynomial.legendre.leggrid2d np.polynomial.hermite.hermgrid2d "
    "np.polynomial.hermite_e.hermegrid2d np.polynomial.laguerre.laggrid2d": [
        "{}(v, w, s)", "{}(n, n2, s)",
    ],
    # editing
    "np.row_stack": ["{}((v, w))", "{}([m, m])"],
    "np.ediff1d": ["{}(x)", "{}(v, to_begin=v[:1])", "{}(v, to_end=[v[0]])"],
    "np.trim_zeros": [
        "{}(v)", "{}(np.array([0.0, 0.0, 1.0, 0.0, 2.0, 0.0]))", "{}(np.array([0, 1, 0]), 'f')",
        "{}(np.array([0, 1, 0]), trim='b')", "{}(np.array([0.0, 0.0]), 'b')",
    ],
    "np.resize": ["{}(x, (2, 2))", "{}(v, 5)", "{}(m, (k, 2))", "{}(v, k)"],
    "np.delete": [
        "{}(v, 0)", "{}(v, [0, -1])", "{}(m, 0, axis=1)", "{}(m, 1)", "{}(v, slice(0, 2))",
        "{}(v, v > 1)", "{}(m, [1], 0)", "{}(v, -4)", "{}(v, np.s_[::2])", "{}(v, 7)",
    ],
    "np.insert": [
        "{}(v, 1, n)", "{}(v, [0, 2], n)", "{}(v, [0, 0], [v[0], v[1]])", "{}(v, -1, w)",
        "{}(m, 1, n, axis=0)", "{}(m, 0, v, axis=0)", "{}(m, 1, m[:, 0], axis=1)", "{}(m, 2, n)",
        "{}(m, [0, 1], n, axis=1)", "{}(v, 9, n)", "{}(m, [1], n, axis=1)",
        "{}(v, slice(0, 2), n)",
    ],
    "np.diagflat": ["{}(v)", "{}(m, 1)", "{}(x, -1)"],
    "np.block": [
        "{}([v, w])", "{}([[s, s], [s, s]])", "{}([[m], [m]])", "{}(v)",
        "{}([[s, s[:, :1]], [s[:1], s[:1, :1]]])", "{}([n, v])", "{}([[v], [v]])",
    ],
    "np.broadcast": ["{}(x, v).shape", "{}(m, n).size", "{}(v, m, x).nd", "{}(a, b).ndim"],
    "np.broadcast_arrays": ["{}(x, y)", "{}(v, m)", "{}(n, v)"],
    "np.broadcast_shapes": ["{}((2, 1), (3,))", "{}(a.shape, b.shape)", "{}(2, (3, 1))"],
    "np.choose": [
        "{}([0, 1, 0], [v, w])", "{}(c, [x, y])", "{}([0, 5, -1], [v, w], mode='wrap')",
        "{}([0, 5, -1], (v, w), mode='clip')", "{}([0, 5, 1], [v, w])", "{}([1, 0], m)",
    ],
    "np.place": [
        "b = v.copy(); {}(b, b > 1, [1, 2]); b", "b = m.copy(); {}(b, m > 0, [5]); b",
        "b = v.copy(); {}(b, b > 100, []); b",
    ],
    "np.partition": [
        "np.sort({}(v, 1))", "{}(v, 1)[1]", "np.sort({}(m, 0, axis=1))", "{}(v, 9)",
        "{}(m, 1, axis=None)[1]", "{}(m, -1)[:, -1]",
    ],
    "np.argpartition": ["v[{}(v, 1)[1]]", "np.sort({}(m, 0))"],
    "np.asarray_chkfinite": ["{}(a)", "{}(x)"],
    # matrices
    "np.linalg.vector_norm": ["{}(m)", "{}(m, axis=1)", "{}(v, ord=1)", "{}(m, keepdims=True)"],
    "np.linalg.matrix_norm": ["{}(m)", "{}(m, ord=1)", "{}(m, keepdims=True)"],
    "np.linalg.vecdot": ["{}(v, w)", "{}(m, m)"],
    "np.linalg.cross": ["{}(v, w)"],
    "np.linalg.multi_dot": ["{}([v, s, w])", "{}([s, s, s, s])", "{}((s, v))"],
    "np.linalg.tensorinv": ["{}((s + 4.0 * np.eye(3)).reshape(3, 3, 1), ind=1)"],
    "np.linalg.tensorsolve": ["{}(s + 4.0 * np.eye(3), v)"],
    "np.cross": ["{}(v, w, axis=0)", "{}(np.ones((3, 2)), np.ones((3, 2)) * n, axis=0)",
                 "{}(np.ones((3, 2)), w, axisa=0)", "{}(np.ones((2, 3)), w, axisc=0)"],
    "np.trapezoid": ["{}(m, m)", "{}(m, m, axis=0)"],
    "np.interp": ["{}(x, [0.5, 2.0, 3.5], [1.0, 4.0, 2.0], period=4)",
                  "{}(x, [5.5, 2.0, 3.5], [1.0, 4.0, 2.0], period=4.0)"],
    "np.einsum": ["{}(m, [0, 1], v, [1])", "{}(m, [0, 1], m, [2, 1], [0, 2])",
                  "{}(m, [0, ...])", "{}('i,i->i', v, w, out=np.zeros(3))", "{}(v, [3], w, [2])"],
    "np.histogram2d": ["{}([1.0, 2.0, 2.5], [0.0, 1.0, 1.5], 2)",
                       "{}([1.0, 2.0], [0.0, 1.0], [2, 3], weights=[0.5, n])",
                       "{}([1, 2], [0, 1], 2, [[0, 4], [0, 2]])",
                       "{}([1.0, 2.0], [0.0, 1.0], [[0, 1, 3], [0, 2]], density=True)"],
    # places
    "np.tril_indices np.triu_indices": [
        "{}(3)", "{}(3, 1)", "{}(3, -1)", "{}(2, 0, 4)", "{}(k)", "{}(4, m=2)",
    ],
    "np.tril_indices_from np.triu_indices_from": ["{}(s)", "{}(m, 1)", "{}(v)", "s[{}(s)]"],
    "np.diag_indices": ["{}(3)", "{}(k, 3)", "s[{}(1)]"],
    "np.diag_indices_from": ["{}(s)", "{}(m)", "{}(v)"],
    "np.mask_indices": ["{}(3, np.triu)", "{}(3, np.tril, 1)"],
    "np.unravel_index": [
        "{}(3, (2, 3))", "{}([1, 5], (2, 3))", "{}(6, (2, 3))", "{}(k, (5,))",
        "{}([1, 5], (2, 3), 'F')", "m[{}(np.argmax(m), m.shape)]",
    ],
    "np.ravel_multi_index": [
        "{}((1, 2), (2, 3))", "{}(([0, 1], [1, 2]), (2, 3))", "{}((1, 5), (2, 3))",
        "{}((3, 5), (2, 3), mode='wrap')", "{}((3, 5), (2, 3), mode=('clip', 'wrap'))",
        "{}((1, 2), (2, 3), order='F')",
    ],
    "np.lexsort": ["{}((v, w))", "{}([v])", "{}((v, w, v))"],
    "np.ndindex": ["[t for t in {}(2, 3)]", "[t for t in {}((2,))]", "len([t for t in {}(k, 3)])"],
    "np.ndenumerate": ["[t for t, u in {}(v)]"],
    # sets
    "np.unique": [
        "{}(x)", "{}(v)", "{}(m)", "{}(v, return_index=True)", "{}(x, return_inverse=True)",
        "{}(v, return_counts=True)", "{}(m, True, True, True)", "{}(v, equal_nan=False)",
        "{}([3, 1, 3])", "{}(m, axis=0)",
    ],
    "np.unique_values": ["np.sort({}(i))", "np.sort({}(m))"],
    "np.unique_counts np.unique_inverse np.unique_all": ["{}(i)", "{}(np.array([2, 1, 2]))"],
    "np.union1d np.setdiff1d np.setxor1d": ["{}(v, w)", "{}([1, 2, 2], [2, 3])", "{}(m, v)"],
    "np.intersect1d": [
        "{}(v, w)", "{}([1, 2, 2], [2, 3])", "{}(m, v)",
        "{}([1, 5, 3], [3, 1, 4], return_indices=True)",
    ],
    "np.isin": ["{}(x, [1, 2])", "{}(v, w)", "{}(m, v, invert=True)", "{}(x, [])"],
    # signals
    "np.unwrap": [
        "{}(v)", "{}(m)", "{}(m, axis=0)", "{}(np.array([0.0, 3.0, 6.5, 0.5, 7.0]))",
        "{}(np.array([0.0, 3.0, 9.0, 0.5]), period=2.5)", "{}(v, 4.0)",
    ],
    "np.correlate": [
        "{}(v, w)", "{}(v, w, 'same')", "{}(v, w, mode='full')", "{}(v, v[:2], 'same')",
        "{}(v[:2], v, 'same')", "{}(v[:2], v, 'full')",
        "{}(np.arange(7.0), np.arange(4.0), 'same')", "{}(np.arange(4.0), np.arange(7.0), 'same')",
        "{}(np.arange(4.0), np.arange(7.0))",
    ],
    "np.histogram_bin_edges": [
        "{}(np.array([1.0, 2.5, 4.0]), 3)", "{}([1, 2, 2, 3], [1, 2, 3])",
        "{}([1, 2], 2, range=(0.0, 4.0))",
    ],
    "np.geomspace": [
        "{}(1, 8, 4)", "{}(1.0, 1000.0, num=4)", "{}(-1.0, -8.0, 4)",
        "{}(-1.0, 8.0, 4)", "{}(1.0, -8.0, 4)",
        "{}(1, 9, 3, endpoint=False)", "{}(0, 2, 3)", "{}(np.float32(2), np.float32(8), 3)",
    ],
    "np.cumulative_sum np.cumulative_prod": [
        "{}(v)", "{}(m, axis=1)", "{}(m)", "{}(v, include_initial=True)",
        "{}(m, axis=0, include_initial=True)", "{}(n)", "{}(v, dtype=np.float32)",
    ],
    "np.vecdot": ["{}(v, w)", "{}(m, m)", "{}(m, m, axis=0)", "{}(m, v)"],
    "np.matvec": ["{}(m, v)", "{}(s, v)", "{}(np.ones((2, 2, 3)), v)"],
    "np.vecmat": ["{}(v, s)", "{}(v, np.ones((2, 3, 2)))", "{}(m, s)"],
    "np.array_equiv": ["{}(a, b)", "{}(v, m)", "{}(n, v)", "{}(x, x)"],
    # windows
    "np.hanning np.hamming np.blackman np.bartlett": ["{}(k)", "{}(5)", "{}(6)"],
    "np.kaiser": ["{}(5, 2.0)", "{}(k, 8.6)", "{}(4, 0.0)"],
    # single elements
    "np.isneginf np.isposinf np.isreal np.iscomplex": ["{}(a)", "{}(x * 1.0)"],
    "np.modf np.frexp": ["{}(x)", "{}(n * 1.0)"],
    "np.ldexp": ["{}(x, 3)", "{}(x, k)", "{}(x * 1.0, -2)", "{}(v, [1, 2, 3])"],
    "np.spacing": ["{}(x)"],
    "np.conj np.conjugate np.angle": ["{}(x * 1.0)"],
    "np.nextafter": ["{}(x, y)"],
    "np.bitwise_count": ["{}(i)", "{}(x)"],
    "np.real np.imag np.real_if_close": ["{}(a)", "{}(m)"],
    "np.emath.sqrt np.emath.log np.emath.log2 np.emath.log10 np.emath.arcsin np.emath.arccos "
    "np.emath.arctanh": ["{}(m)", "{}(m + 2j)", "{}(v * 0.5)"],
    "np.emath.power": ["{}(m, -2)", "{}(m, 2.5)", "{}(v, k)"],
    "np.emath.logn": ["{}(3.0, np.abs(m) + 2.0)", "{}(np.abs(v) + 2.0, 3)"],
    "np.angle": ["{}(x * 1.0, deg=True)"],
    # functions that are applied
    "np.apply_along_axis": [
        "{}(np.sum, 0, m)", "{}(lambda u: u * 2, 1, m)", "{}(np.sort, 1, m)",
        "{}(lambda u: np.outer(u, u), 0, m)", "{}(np.max, 0, v)",
        "{}(lambda u, t: u[0] + t, 1, m, n)",
    ],
    "np.apply_over_axes": ["{}(np.sum, m, [0, 1])", "{}(np.max, m, (0,))", "{}(np.sum, m, 1)"],
    "np.vectorize": [
        "{}(lambda u, t: u if u > t else t * 2.0, [float])(v, w)", "{}(lambda u: u + 1)(m)",
        "{}(lambda u: 1.5 * u, otypes=[float])(v)", "{}(lambda u: u * 2)(n)",
        "{}(lambda u, t: u - t)(m, n)",
    ],
    "np.piecewise": [
        "{}(v, [v < 0, v >= 0], [-1, 1])", "{}(v, [v < 0], [lambda u: -u, lambda u: u])",
        "{}(m, [m > 1, m < -1], [lambda u: u * 2, 3, 4])",
        "{}(np.arange(4.0), np.arange(4) > k, [1, n])",
    ],
    "np.fromfunction": [
        "{}(lambda i, j: i + 2 * j, (2, 3))", "{}(lambda i: i * n, (k,))",
        "{}(lambda i, j: i == j, (3, 3), dtype=int)",
    ],
    "np.fromiter": [
        "{}([n, n2], float)", "{}(v, np.float32)", "{}([1, 2, 3], int, 2)", "{}([1], int, 4)",
        "{}((u * 2 for u in v), float)",
    ],
    # what is said about types
    "np.result_type": [
        "np.zeros(2, {}(a, b)).dtype.itemsize", "{}(x, y) == np.float64",
        "{}(n, 1.0) == np.float32", "{}(a, 1) == a.dtype",
    ],
    "np.promote_types np.can_cast": ["{}(a.dtype, b.dtype) == True"],
    "np.can_cast": ["{}(a.dtype, np.float32)", "{}(a.dtype, b.dtype, casting='same_kind')"],
    "np.issubdtype": ["{}(a.dtype, np.floating)", "{}(a.dtype, np.integer)", "{}(np.int8, int)"],
    "np.isdtype": ["{}(a.dtype, 'real floating')", "{}(a.dtype, ('bool', 'integral'))"],
    "np.finfo": [
        "a[:0].astype(float).sum() + {}(np.float32).eps", "{}(v.dtype).max", "{}(float).tiny * n",
    ],
    "np.iinfo": ["{}(np.int8).max * n", "{}(i.dtype).min + 0"],
    "np.common_type": ["{}(a) == np.float64"],
    "np.min_scalar_type": ["{}(a) == a.dtype", "{}(300) == np.uint16"],
    "np.typename": ["{}('d') == ''"],
    "np.iscomplexobj np.isrealobj np.isscalar np.iterable": ["{}(a)", "{}(m)"],
    "np.isscalar": ["{}(v[0])", "{}('a')", "{}([1])"],
    "np.shares_memory np.may_share_memory": [
        "{}(v, v)", "{}(v, w)", "{}(v, v * 2)", "{}(v, v.copy())",
    ],
    "np.dtype": ["{}(float) == a.dtype", "np.zeros(2, {}('f4'))"],
    # ufuncs with keywords, and their methods
    "np.add np.subtract np.multiply np.maximum np.hypot np.power np.logaddexp": [
        "{}(v, w, dtype=np.float64)", "{}(v * 1.0, 2.0, where=v > 0, out=np.zeros(3))",
        "{}(m, v, out=np.zeros((2, 3)))", "{}(v, n, dtype=np.float32)",
    ],
    "np.sqrt np.exp np.negative np.absolute np.square np.log": [
        "{}(v, dtype=np.float64)", "{}(v * 1.0, where=v > 0, out=np.ones(3))",
        "{}(v, np.zeros(3))",
    ],
    "np.divide": [
        "{}(v, w, where=w != 0, out=np.zeros(3))", "{}(1.0, v, where=v > 0, out=np.ones(3))",
    ],
    # Where NumPy has vector code for `power` and `arctan2`, it reduces only the last element.
    "np.subtract np.logaddexp np.hypot np.fmax np.fmin np.copysign np.divide "
    "np.bitwise_or np.bitwise_and np.bitwise_xor np.gcd np.lcm np.logical_xor "
    "np.floor_divide np.remainder": [
        "{}.reduce(v)", "{}.reduce(a)", "{}.reduce(m, axis=1, keepdims=True)", "{}.accumulate(v)",
        "{}.accumulate(m, axis=1)", "{}.outer(v, w)", "{}.reduceat(v, [0, 2])",
    ],
    "np.maximum np.minimum np.add np.multiply": [
        "{}.accumulate(a)", "{}.accumulate(m, axis=1)", "{}.reduceat(v, [0, 2, 1])",
        "{}.reduceat(m, [0, 1], axis=1)", "{}.reduce(v, initial=3)",
    ],
    "np.maximum np.minimum np.multiply np.power np.divide": [
        "b = v.copy(); {}.at(b, [0, 0, 1], 2); b",
    ],
    # subscripts and attributes
    "np.r_": ["{}[v, n, w]", "{}[1:5, v]", "{}[0:1:4j]", "{}[n, n2]", "{}[m, m]"],
    "np.c_": ["{}[v, w]", "{}[m[0], v]", "{}[m, m]", "{}[n, n2]"],
    "np.s_": ["v[{}[1:]]", "m[{}[:, 0]]", "v[{}[k]]"],
    "np.index_exp": ["m[{}[0]]", "m[{}[:, ::2]]"],
    "np.mgrid np.ogrid": ["{}[0:2, 0:3]", "{}[0:1:3j]"],
    "[]": [
        "a.imag", "a.real", "n.imag", "v[0].imag",
    ],
    "partition": ["b = v.copy(); b.{}(1); b[1]"],
    "argpartition": ["v[v.{}(1)[1]]"],
    "choose": ["np.array([0, 1, 0]).{}([v, w])"],
    "view": ["v.{}()", "v.{}(v.dtype)"],
    "conjugate": ["m.{}()"],
}  # fmt: skip
