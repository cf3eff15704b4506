"""The op table: one row per operation, in one place, never per dtype.

A row has the name of the operation, the Python callables it stands for, its meaning (`evaluate`, on
NumPy scalars), its spelling in emitted code, its type rule, its derivative, its cost and the domain
where tests sample it; and its traits, which passes and back ends ask for.
Derivative rules are ordinary arithmetic on operands that `adc.ir.rules` traces.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from adc.ir.errors import IRError
from adc.ir.types import B1, BOOL, Array, Scalar, Type

Static = int | str
TypeRule = Callable[[Sequence[Type], tuple[Static, ...]], tuple[Type, ...]]
# (cotangent, result, *operands), traced -> one contribution per operand, None for none.
VjpRule = Callable[..., tuple[Any, ...]]

OPS: dict[str, OpDef] = {}


def same(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    """All operands and the result have one type; the result is weak if every operand is."""
    first = types[0]
    for ty in types[1:]:
        if ty.dtype != first.dtype or isinstance(ty, Array) != isinstance(first, Array):
            raise IRError(f"operands of different types: {first} and {ty}")
    if isinstance(first, Array):
        return (first,)
    return (Scalar(first.dtype, all(isinstance(t, Scalar) and t.weak for t in types)),)


def predicate(types: Sequence[Type], params: tuple[Static, ...]) -> tuple[Type, ...]:
    """Operands of one type, a truth value as the result."""
    result = same(types, params)[0]
    return (BOOL if isinstance(result, Scalar) and result.weak else B1,)


@dataclass(frozen=True)
class CFunction:
    """A function of the C library; CUDA's library has it under the same name.

    Attributes
    ----------
    name : str
        Its name in double precision.
    vectorized : bool
        Whether glibc's vector library has it, with sufficient accuracy.
    single : bool
        Whether single precision is accurate enough; if not, the double result is rounded.
    exact : bool
        Whether IEEE 754 defines every bit of it, so that all implementations agree.
    """

    name: str
    vectorized: bool = True
    single: bool = True
    exact: bool = False


@dataclass(frozen=True)
class Ufunc:
    """A ufunc of `scipy.special`, one of whose loops computes a row.

    Attributes
    ----------
    name : str
        Its name there; that of a private one begins with an underscore.
    loop : str
        What it takes and returns in double precision, in NumPy's letters: ``"dd->d"``. A complex
        number, ``D``, is two operands of the row, an integer, ``l``, one.
    output : int
        Which number of those that it returns is the result of the row; a complex one counts twice.
    device : str or callable
        On a GPU: the function of CUDA's library, or an algorithm as `OpDef.algorithm` is one; empty
        if there is none.
    """

    name: str
    loop: str
    output: int = 0
    device: str | Callable[..., Any] = ""


@dataclass(frozen=True, eq=False)
class OpDef:
    """One operation.

    Attributes
    ----------
    name : str
        As printed in the IR.
    arity : int
        Number of operands; -1 for any.
    evaluate : callable
        The meaning, on NumPy scalars and arrays; the reference interpreter calls it.
    code : str
        The expression the emitter prints; ``{0}``, ``{1}`` … are the operands, ``{order}`` the
        static parameter, 0 if there is none.
    spellings : tuple of callables or str
        The callables that the front end lowers to this row: those of Python and NumPy, and by
        name those of modules that need not be there, as ``"scipy.special.expit"``.
    types : callable
        Type rule: operand types and static parameters to result types.
    vjp : callable or None
        ``(ct, y, *operands)`` to one contribution per operand; None: derivative is zero.
    why : str
        Why there is no `vjp`.
    refuse : bool
        True where the derivative exists but adc has no rule: an active operand is an error.
    refused : tuple of str
        For each operand, why adc has no derivative by it; empty where it has one, or it is zero.
    draw : bool
        True if the result is a random draw: it is kept for reverse code, never recomputed.
    cost : float
        Weight of recomputing it; an addition is 1.
    nanoseconds : float or None
        Its time on float64 in a vectorised loop, measured on a typical server core by
        ``adc calibrate``; None if `cost` says it as well.
    libm : CFunction or None
        The function of the C library that computes it.
    algorithm : callable or None
        Its implementation where no library has it (`adc.ir.ops.algorithms`).
    ufunc : Ufunc or None
        The ufunc of SciPy that computes it.
    parts : callable or None
        What it does to complex numbers, as arithmetic on their parts: operands to result, each
        complex number a pair (`adc.ir.ops.parts`); None: it is not defined for them.
    raises : str or None
        The arguments for which Python's `math` function of the same name raises, as named in
        `adc.frontend.numpy.maths`; None if there is no such function of one argument.
    domain : tuple of (low, high)
        Where tests sample each operand.
    kinks : tuple of float
        Points where the derivative jumps, of the first operand or of the difference of both; the
        rule's choice there is tested.
    exact : bool
        Whether no result is rounded: each is a number of the dtype of its operands, if these are
        seen as numbers of a wider one.
    jumps : bool
        Whether it is discontinuous: a rounding error of an operand may change a float result by
        more than that. All results that are not floats are discontinuous anyway.
    kinds : str
        Kinds of operands it is defined for, of ``"biuf"``.
    least : str
        The smallest dtype that NumPy computes in where it takes floats only and gets integers.
    total : bool
        Whether it is finite for all finite operands, but for huge ones.
    image : (low, high)
        The range of its results.
    orders : (bool, bool) or None
        Of a comparison of sizes: whether the first operand is the smaller one, and whether it may
        be equal.
    neutral : float or None
        The neutral element: partial reductions by the row start from it.
    inverse : tuple of (str or None)
        For each operand, the row that inverts an update of it: exactly for integers, which wrap
        around, and inexactly for floats.
    routine : str
        The function of `adc.ir.library` that computes it, if it is not an instruction.
    linear : bool
        Whether the result is proportional to operands that are.
    shielded, plain : str
        Of a product or a quotient: the row that is 0 wherever its first operand is, whatever the
        other; and of such a row the one without that test.
    random : bool
        Whether it is a part of drawing random numbers.
    sizes : int or None
        Of a row that allocates an array of given sizes: the position of the first size operand.
        The fill value precedes them; an array after them provides its memory.
    copies : bool
        Whether it allocates an array like the operand.
    aliases : {"", "whole", "part"}
        Whether the array that it returns shares the memory of the first operand.
    undefined : bool
        Whether its result is undefined: it is never read.
    asks_shape : bool
        Whether it reads the size of an array, and no element.
    reduces : bool
        Whether it reduces all the elements of an array to a number.
    reorders : bool
        Whether adc may choose the order of additions (`adc.ir.sums`).
    converts : bool
        Whether it returns the operand in another type.
    """

    # Name and meaning.
    name: str
    arity: int
    evaluate: Callable[..., Any]
    code: str
    spellings: tuple[Callable[..., Any] | str, ...] = ()
    types: TypeRule = same
    # Derivative.
    vjp: VjpRule | None = None
    why: str = ""
    refuse: bool = False
    refused: tuple[str, ...] = ()
    draw: bool = False
    # Implementation and cost.
    cost: float = 1.0
    nanoseconds: float | None = None
    libm: CFunction | None = None
    algorithm: Callable[..., Any] | None = None
    ufunc: Ufunc | None = None
    parts: Callable[..., Any] | None = None
    raises: str | None = None
    # Operands and results.
    domain: tuple[tuple[float, float], ...] = ((-3.0, 3.0),)
    kinks: tuple[float, ...] = ()
    exact: bool = False
    jumps: bool = False
    kinds: str = "iuf"
    least: str = "f16"
    total: bool = False
    image: tuple[float, float] = (-math.inf, math.inf)
    # Algebra.
    orders: tuple[bool, bool] | None = None
    neutral: float | None = None
    inverse: tuple[str | None, ...] = ()
    routine: str = ""
    linear: bool = False
    shielded: str = ""
    plain: str = ""
    random: bool = False
    # Arrays.
    sizes: int | None = None
    copies: bool = False
    aliases: str = ""
    undefined: bool = False
    asks_shape: bool = False
    reduces: bool = False
    reorders: bool = False
    converts: bool = False
    doc: str = ""

    @property
    def function(self) -> str:
        """The function that emitted code calls for it; empty where it writes something else."""
        name, paren, _ = self.code.partition("(")
        return name if paren else ""

    @property
    def operator(self) -> str:
        """What emitted code writes with Python's operators, by itself; empty for a function."""
        return self.code[1:-1] if self.code.startswith("(") else ""

    @property
    def is_expression(self) -> bool:
        """Whether emitted code writes an expression of its operands for it, not a statement."""
        return "{" in self.code

    @property
    def fills(self) -> bool:
        """Whether it allocates an array whose elements are all equal to the first operand."""
        return self.sizes == 1

    @property
    def reserves(self) -> bool:
        """Whether it allocates an array whose elements are uninitialised."""
        return self.sizes == 0

    @property
    def allocates(self) -> bool:
        """Whether it allocates one array in memory of its own."""
        return self.copies or self.sizes is not None

    def __post_init__(self) -> None:
        if self.name in OPS:
            raise IRError(f"two rows named {self.name}")
        OPS[self.name] = self

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_row, (self.name,))

    def __call__(self, *args: Any, params: tuple[Static, ...] = ()) -> Any:
        """Record an application of the row to operands, inside of a rule that is traced."""
        for arg in args:
            if not isinstance(arg, float | int):
                return arg.record(self, args, params)
        raise IRError(f"{self.name} is applied to no traced operand")


def _row(name: str) -> OpDef:
    return OPS[name]


def find(callee: object) -> OpDef | None:
    """Return the row that stands for the Python callable `callee`, or None."""
    here, elsewhere = _spellings()
    found = here.get(id(callee))
    if found is None:
        for name, op in elsewhere.get(getattr(callee, "__name__", ""), ()):
            module, _, own = name.rpartition(".")
            if getattr(sys.modules.get(module), own, None) is callee:
                return op
    return found


@lru_cache(maxsize=1)
def _spellings() -> tuple[dict[int, OpDef], dict[str, list[tuple[str, OpDef]]]]:
    """Return the rows by the callables they stand for, and by the last names of the others."""
    here: dict[int, OpDef] = {}
    elsewhere: dict[str, list[tuple[str, OpDef]]] = {}
    for op in OPS.values():
        for spelling in op.spellings:
            if isinstance(spelling, str):
                elsewhere.setdefault(spelling.rpartition(".")[2], []).append((spelling, op))
            else:
                here[id(spelling)] = op
    return here, elsewhere


def numpy_value(value: object, ty: Type) -> Any:
    """Return `value` as the NumPy scalar of type `ty`."""
    if type(value) is ty.numpy.type:
        return value
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(ty.numpy)[()]
