"""Complex numbers: from their parts, and back; numbers and whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adc.ir.errors import IRError
from adc.ir.opdef import OpDef, Static
from adc.ir.ops import parts
from adc.ir.types import WHOLES, Array, Scalar, Type

GONE = "complex numbers are pairs of real ones before anything is differentiated"


def _joined(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    re, im = types
    if re.dtype != im.dtype or re.dtype not in WHOLES:
        raise IRError(f"a complex number of {re} and {im}")
    if isinstance(re, Array) and isinstance(im, Array) and re.layout == im.layout:
        return (Array(WHOLES[re.dtype], re.rank, re.layout, re.ones),)
    if isinstance(re, Scalar) and isinstance(im, Scalar):
        return (Scalar(WHOLES[re.dtype], re.weak and im.weak),)
    raise IRError(f"complex numbers of {re} and {im}")


def _part(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    (ty,) = types
    if ty.kind != "c":
        raise IRError(f"a part of {ty}")
    return (ty.part,)


def _join(re: Any, im: Any) -> Any:
    made = np.empty(np.shape(re), np.result_type(re, np.complex64))
    made.real, made.imag = re, im
    return made[()]


whole = OpDef(
    "complex", 2, _join, "complex", (), _joined, why=GONE, kinds="", parts=parts.whole,
    doc="The complex number with these parts; of two arrays an array.",
)  # fmt: skip
real = OpDef(
    "real", 1, lambda z: np.array(z.real)[()], "real", (), _part, why=GONE, kinds="",
    parts=parts.real, doc="The real part of a complex number, or of those in an array.",
)  # fmt: skip
imag = OpDef(
    "imag", 1, lambda z: np.array(z.imag)[()], "imag", (), _part, why=GONE, kinds="",
    parts=parts.imag, doc="The imaginary part.",
)  # fmt: skip
conj = OpDef(
    "conj", 1, np.conjugate, "conj", (), why=GONE, kinds="", parts=parts.conj,
    doc="The conjugate.",
)  # fmt: skip
modulus = OpDef(
    "modulus", 1, np.absolute, "modulus", (), _part, why=GONE, kinds="", parts=parts.modulus,
    doc="The absolute value, a real number; its derivative at 0 is 0.",
)  # fmt: skip
