"""What to write instead of NumPy's functions, types and methods that adc does not know."""

from __future__ import annotations

OUTSIDE = "compute it outside the differentiated function, and pass the result as an argument"
_CALL = "call it outside the differentiated function"
_TEXT = "make the text outside the differentiated function, or `print` the array"
_DATES = "pass dates as numbers, such as days since the first one"
_FIELDS = "use arrays of numbers, one for each field"
_KIND = "it is a kind of dtypes: ask for it with `np.issubdtype(a.dtype, …)`"
_INDICES = "loop over indices, such as `for i, j in np.ndindex(a.shape)`"
_LAYOUT = "arrays have no memory layout here: use `np.asarray`, or `.copy()`"
_WARNINGS = "compiled code does not warn: set this around the call"
_SETTINGS = "call it before or after the differentiated function"
_READ = "read it outside the differentiated function, and pass it as an argument"
_SAVE = "return the arrays, and save them outside the differentiated function"

_BY_HINT = {
    _TEXT: "array2string array_repr array_str base_repr binary_repr format_float_positional "
    "format_float_scientific",
    _DATES: "busday_count busday_offset busdaycalendar datetime_as_string datetime_data "
    "is_busday isnat",
    _FIELDS: "object_ str_ bytes_ void record rec.recarray rec character flexible",
    _KIND: "complexfloating floating generic inexact integer number signedinteger "
    "unsignedinteger ufunc",
    _INDICES: "broadcast flatiter nditer nested_iters",
    _LAYOUT: "asfortranarray isfortran",
    _WARNINGS: "errstate geterr geterrcall seterr seterrcall",
    _SETTINGS: "get_include get_printoptions getbufsize info printoptions set_printoptions "
    "setbufsize show_config show_runtime mintypecode test",
    _READ: "load loadtxt genfromtxt fromfile fromstring frombuffer fromregex memmap from_dlpack",
    _SAVE: "save savetxt savez savez_compressed",
    "use an array of two axes, and `@`": "asmatrix matrix",
    "use `np.block`": "bmat",
    "use `np.float32` or `np.float64`": "longdouble",
    "use `np.complex64` or `np.complex128`": "clongdouble",
    "sort the real parts, or the absolute values": "sort_complex",
    "use `np.int64` or `np.uint64`": "longlong ulonglong",
    "use `>>` and `&` on integers": "packbits unpackbits",
    "`np.einsum` needs no path: adc contracts two operands at a time": "einsum_path",
    "use `np.vectorize`": "frompyfunc",
    "use `np.histogram2d`, or `np.add.at` with the index of each bin": "histogramdd",
    "raise it: `raise np.linalg.LinAlgError(text)`": "linalg.LinAlgError",
    _CALL: "linalg.test",
}
# By qualified name, or what it begins with.
FUNCTIONS = {
    "numpy": "`adc supported` lists NumPy's functions that are supported; or " + OUTSIDE,
    "numpy.linalg": "`adc supported` lists the functions of `np.linalg` that are supported; or "
    + OUTSIDE,
    "numpy.fft": "`adc supported` lists the functions of `np.fft` that are supported",
    "numpy.polynomial": "use `Polynomial`, or functions of coefficients, such as "
    "`np.polynomial.polynomial.polyval(x, c)`, `np.polynomial.chebyshev.chebval`, `np.polymul`",
    "numpy.lib.scimath": "use the function of the same name in `np`, of a complex number where the "
    "result is complex",
    **{f"numpy.{name}": text for text, names in _BY_HINT.items() for name in names.split()},
}

_BYTES = "an array has no bytes here: do this outside the differentiated function"
# By the name of an attribute of arrays.
_ATTRIBUTES = {
    **dict.fromkeys(
        ("tobytes", "tofile", "dump", "dumps", "data", "ctypes", "byteswap", "getfield",
         "setfield", "strides", "to_device"), _BYTES,
    ),
    "resize": "use `np.resize`, which returns a new array",
    "itemset": "write `a[index] = value`",
    "ptp": "use `np.ptp`",
    "newbyteorder": "convert the array outside the differentiated function",
    "setflags": "do not write to the array, or write to a copy",
    "flags": "arrays have no memory layout here",
    "base": "whether two arrays share memory says `np.shares_memory`",
    "device": "`target=` says where the code runs",
}  # fmt: skip


def of_attribute(name: str) -> str:
    """Return what to use instead of an attribute or method of an array.

    >>> of_attribute("ptp")
    'use `np.ptp`'
    """
    return _ATTRIBUTES.get(name, "`adc supported` lists the methods that are supported")


__all__ = ["FUNCTIONS", "OUTSIDE", "of_attribute"]
