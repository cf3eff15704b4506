"""Types of the IR: scalars with NumPy dtypes and a weak mark, and arrays.

A *weak* scalar is a Python number. It takes part in NumPy 2's promotion as Python's numbers do:
``float32 element * 2.0`` stays ``float32``. Text: ``bool int float complex`` are weak,
``b1 i64 f64 …`` are NumPy's.

Complex numbers occur in the IR of the front end alone: `passes.numbers.split_complex` makes two
real ones of each. So do numbers of 16 bits, ``f16``: `passes.numbers.widen_half` makes ``f32`` of
them, which are rounded to 16 bits, and ``h16[:]`` of their arrays, whose elements have 16 bits in
memory and are loaded and stored as ``f32``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

# Short names of the supported dtypes, in the order of NumPy's promotion within each kind.
DTYPES: dict[str, np.dtype[np.generic]] = {
    "b1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
# Numbers of 16 bits, how their arrays lie in memory, and what they are computed in.
HALF, STORED_HALF = "f16", "h16"
_WIDENED = {HALF: "f32", STORED_HALF: "f32"}
# Complex dtypes, and the dtypes of their parts.
COMPLEX_DTYPES: dict[str, np.dtype[np.generic]] = {
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
}
PARTS = {"c64": "f32", "c128": "f64"}
WHOLES = {part: whole for whole, part in PARTS.items()}
# Dtypes of the elements of arrays, as they lie in memory.
ELEMENTS = {**DTYPES, STORED_HALF: np.dtype(np.float16)}
_ALL = {**ELEMENTS, **COMPLEX_DTYPES, HALF: np.dtype(np.float16)}
# The last name of a dtype counts: the front end's.
NAMES: dict[np.dtype[np.generic], str] = {dtype: name for name, dtype in _ALL.items()}
_WEAK_TEXT = {"b1": "bool", "i64": "int", "f64": "float", "c128": "complex"}
_ARRAY = re.compile(r"(?P<dtype>\w+)\[(?P<axes>(:(, ?:)*)?)\](?P<layout>[AF]?)")
_KIND_ORDER = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number of a `dtype`; `weak` marks Python's own bool, int, float and complex.

    An argument that is `boxed` is an array without axes, which can be written to. That is not part
    of the type.
    """

    dtype: str
    weak: bool = False
    boxed: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return _WEAK_TEXT[self.dtype] if self.weak else self.dtype

    @property
    def kind(self) -> str:
        """One of ``"b"``, ``"i"``, ``"u"``, ``"f"``, ``"c"``."""
        return self.dtype[0]

    @property
    def numpy(self) -> np.dtype[np.generic]:
        return _ALL[self.dtype]

    @property
    def rank(self) -> int:
        """As that of an array without axes."""
        return 0

    @property
    def part(self) -> Scalar:
        """The type of the real part of a complex number; a real one's own."""
        return Scalar(PARTS.get(self.dtype, self.dtype), self.weak)


@dataclass(frozen=True, slots=True)
class Array:
    """An array: element dtype, rank, and layout ``"C"`` (contiguous) or ``"A"`` (any strides).

    `ones` are axes of an argument that have size 1, which broadcasting depends on. They are not
    part of the type: equal types may differ in them.
    """

    dtype: str
    rank: int
    layout: str = "C"
    ones: tuple[int, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        suffix = "" if self.layout == "C" else self.layout
        return f"{self.dtype}[{', '.join(':' * self.rank)}]{suffix}"

    @property
    def kind(self) -> str:
        """As that of `Scalar`."""
        return "f" if self.dtype == STORED_HALF else self.dtype[0]

    @property
    def element(self) -> Scalar:
        """The type of one element, a NumPy scalar: that with which it is loaded and stored."""
        return Scalar("f32" if self.dtype == STORED_HALF else self.dtype)

    @property
    def numpy(self) -> np.dtype[np.generic]:
        return _ALL[self.dtype]

    @property
    def part(self) -> Array:
        """The type of the real parts of complex numbers; of real ones the array's own."""
        return Array(PARTS.get(self.dtype, self.dtype), self.rank, self.layout, self.ones)


Type = Scalar | Array


def widened(dtype: str) -> str:
    """Return the dtype in which numbers of a dtype are computed: ``f32`` for those of 16 bits."""
    return _WIDENED.get(dtype, dtype)


BOOL = Scalar("b1", weak=True)
INT = Scalar("i64", weak=True)
FLOAT = Scalar("f64", weak=True)
COMPLEX = Scalar("c128", weak=True)
B1 = Scalar("b1")
I64 = Scalar("i64")
F16 = Scalar(HALF)
F32 = Scalar("f32")
F64 = Scalar("f64")
U64 = Scalar("u64")


def parse_type(text: str) -> Type:
    """Return the type that `text` spells; raise ValueError if it spells none."""
    text = text.strip()
    for name, weak in _WEAK_TEXT.items():
        if text == weak:
            return Scalar(name, weak=True)
    if text in _ALL:
        return Scalar(text)
    array = _ARRAY.fullmatch(text)
    if array is not None and array["dtype"] in _ALL:
        return Array(array["dtype"], array["axes"].count(":"), array["layout"] or "C")
    raise ValueError(f"not a type: {text!r}")


def promote(a: Scalar, b: Scalar) -> Scalar:
    """Return the type in which ``a op b`` is computed, by NumPy 2's rules (NEP 50).

    Two weak types promote among themselves as Python does; a weak and a NumPy type give the NumPy
    type unless the weak one is of a higher kind (``int8 + 1.0`` is ``float64``).
    """
    if a.weak and b.weak:
        return a if _KIND_ORDER[a.kind] >= _KIND_ORDER[b.kind] else b
    if not a.weak and not b.weak:
        return Scalar(NAMES[np.result_type(a.numpy, b.numpy)])
    weak, strong = (a, b) if a.weak else (b, a)
    if _KIND_ORDER[weak.kind] <= _KIND_ORDER[strong.kind]:
        return strong
    sample = {"b": True, "i": 0, "f": 0.0, "c": 0j}[weak.kind]
    return Scalar(NAMES[np.result_type(strong.numpy, sample)])


def join(a: Scalar, b: Scalar) -> Scalar:
    """Return the type of a variable that is `a` on one path and `b` on another."""
    return a if a == b else promote(a, b)
