"""What lowering knows: frames, what joins at control flow, what lowerings share; and its result."""

from __future__ import annotations

import ast
import types
from collections.abc import Collection, Iterator, Mapping, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from adc.frontend.core.bindings import ArrayObject, Binding, Closure, TupleOf
from adc.frontend.inputs.places import Capture, Guard, Place, Step
from adc.frontend.syntax.source import Source
from adc.ir.core import Derived, Function, Operand, Value
from adc.ir.errors import (
    AliasError,
    GeneratorError,
    GlobalStateError,
    Span,
    TypeUnstableError,
    UnboundError,
    UnsupportedError,
)
from adc.library.transforms import Level


class Dead(Exception):
    """Raised while lowering code that cannot be reached: control flow ended in `raise`."""


class StackError(Exception):
    """The program is long for what it does with the elements of lists: pass them as stacks."""

    def __init__(self, places: frozenset[Place]) -> None:
        self.places = places


class LongError(Exception):
    """Copies of the body of a loop would be much code: lists become buffers, if that helps."""


class PickedError(UnsupportedError):
    """A number that an index, an axis or a string needs is known only at run time.

    Where a loop over a constant range is unrolled, its index is known.

    Attributes
    ----------
    places : frozenset of Place
        Where the list is that is indexed, if it can be passed as a stack.
    """

    def __init__(
        self, message: str, span: Span | None, hint: str, places: frozenset[Place] = frozenset()
    ) -> None:
        super().__init__(message, span, hint)
        self.places = places


class TextError(PickedError):
    """A string of run-time values is more than printed: it may be, if the program is refused."""


class LastingError(GlobalStateError):
    """Something outside is changed: the program is lowered again.

    A variable that several functions read is one then.

    Attributes
    ----------
    log : Place, optional
        Where a list is to which something is appended: nothing else may be asked of it then.
    member : tuple, optional
        A class, and the attribute of it that is assigned.
    """

    def __init__(
        self, error: GlobalStateError, log: Place | None = None,
        member: tuple[type, str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(error.message, error.span, error.hint)
        self.log = log
        self.member = member


class TableError(PickedError):
    """A key of a dict, or a member of a set, is known only at run time.

    Where a loop over a constant range is unrolled, it is known. Else the program is lowered again,
    and the dict or set becomes a table there.

    Attributes
    ----------
    site : Span
        Where the key is used.
    """

    def __init__(self, message: str, span: Span, hint: str) -> None:
        super().__init__(message, span, hint)
        self.site = span

    def __reduce__(self) -> tuple[Any, ...]:
        # Who gets it from another process cannot lower the program again.
        return UnsupportedError, (self.message, self.span, self.hint)


class SteppedError(GeneratorError):
    """A generator is drawn from in several places: lower the program again, step by step there.

    Attributes
    ----------
    site : Span
        Where its function is.
    """

    def __init__(self, error: GeneratorError, site: Span) -> None:
        super().__init__(error.message, error.span, error.hint)
        self.site = site

    def __reduce__(self) -> tuple[Any, ...]:
        # Who gets it from another process cannot lower the program again.
        return GeneratorError, (self.message, self.span, self.hint)


# A variable of a function: the function, and its name.
Variable = tuple[object, str]


class UnassignedError(UnboundError):
    """A variable is read that some path has not assigned: lower the program again, and check it.

    The same is likely to happen with `others`.
    """

    def __init__(
        self, message: str, span: Span, hint: str, variable: Variable, why: str,
        others: Collection[Variable] = (),
    ) -> None:  # fmt: skip
        super().__init__(message, span, hint)
        self.variable = variable
        self.why = why
        self.others = others

    def __reduce__(self) -> tuple[Any, ...]:
        # Who gets it from another process cannot lower the program again.
        return UnboundError, (self.message, self.span, self.hint)


# What stands for the contents of all lists, dicts and objects among variables.
CONTENTS: Variable = (None, "")


class VariesError(TypeUnstableError):
    """What is of one of several kinds is read: lower the program again, where it may be one."""

    def __init__(
        self, message: str, span: Span | None, hint: str, variable: Variable = CONTENTS
    ) -> None:
        super().__init__(message, span, hint)
        self.variable = variable

    def __reduce__(self) -> tuple[Any, ...]:
        # Who gets it from another process cannot lower the program again.
        return TypeUnstableError, (self.message, self.span, self.hint)


class StaleError(AliasError):
    """What is read may have changed under another name: lower the program again.

    Lists and dicts, as objects, are one of several then, with these names for all of them.
    """


class SameError(TypeUnstableError):
    """A list or dict has two names after an iteration: lower the program again likewise."""


class ChoiceError(UnsupportedError):
    """What is one of several values is used where adc needs to know which it is."""


class ModesNeededError(Exception):
    """Code is differentiated in more ways than it was lowered for: lower the program again."""


class PoolError(UnsupportedError):
    """An object or dict holds what a pool of these cannot have (`Shared.pools`)."""


class ConstantNeededError(UnsupportedError):
    """A captured number must be a constant: it can be, if its value is guarded.

    It need not be, perhaps, if objects or dicts are in pools (`Shared.pools`).
    """

    def __init__(self, message: str, span: Span | None, hint: str, place: Place) -> None:
        super().__init__(message, span, hint)
        self.place = place
        self.pools = False

    def __reduce__(self) -> tuple[Any, ...]:
        # Who gets it from another process cannot lower the program again.
        return UnsupportedError, (self.message, self.span, self.hint)


@dataclass(frozen=True)
class Generated:
    """A random generator: which parameter is its state, where it is found, if it is drawn from."""

    position: int
    place: Place
    drawn: bool


@dataclass(frozen=True)
class Change:
    """Something that a call changes.

    Attributes
    ----------
    place : Place
        Of the list, dict, object or array.
    step : Step or None
        To the attribute, item or variable that is set; None: all elements of an array, or the end
        of a list.
    some : bool
        Whether only some paths set it: what is put there is a pair with whether this one did.
    """

    place: Place
    step: Step | None
    some: bool = False


@dataclass(frozen=True)
class Changes:
    """All that a call changes.

    Attributes
    ----------
    where : tuple of Change
    values : TupleOf
        What is put there, finished like a result; what its containers hold is in `heap`.
    leaves : tuple
        For each number and array in it the place where it is now, or the number of the one that it
        is as well; None: it is the next result.
    opened : frozenset of Place
        Lists to which is only appended, and dicts that hold these: they are no captures.
    """

    where: tuple[Change, ...]
    values: TupleOf
    heap: dict[str, Binding]
    leaves: tuple[Place | int | None, ...]
    opened: frozenset[Place]

    @property
    def count(self) -> int:
        """How many results of the code are put somewhere."""
        return self.leaves.count(None)


@dataclass(frozen=True)
class Lowered:
    """The result of lowering.

    Attributes
    ----------
    fn : Function
        Value form. Parameters: the leaves of the arguments, then the captures.
    result : Binding
        How the function's results make up the Python result.
    captures, guards : tuple
        What must be read, and what must be unchanged, at every call.
    sources : tuple of Source
        Every function that was lowered, for cache keys.
    written : frozenset of int
        Positions of the array parameters that the function writes.
    heap : dict
        What the lists, dicts and objects in the result hold.
    changed : tuple of Place
        Lists, dicts and objects among the arguments that the function changes.
    generators : tuple of Generated
        Random generators among the parameters.
    communicators : tuple of Place
        Communicators of MPI.
    applied : tuple of Level
        What was applied to the Python function, first to last, and is lowered with it.
    stacks : frozenset of int
        Positions of the parameters that are several arrays of the caller's (`flatten.Parts`).
    compared : frozenset of frozenset of int
        Positions of array parameters that are different arrays: pairs of them.
    changes : Changes or None
        What a call changes outside of the function (`transforms.changes`): the numbers and arrays
        in it are results, before the states of generators.
    seconds : float
        What lowering took.
    """

    fn: Function
    result: Binding
    captures: tuple[Capture, ...]
    guards: tuple[Guard, ...]
    sources: tuple[Source, ...]
    written: frozenset[int]
    heap: dict[str, Binding] = field(default_factory=dict)
    changed: tuple[Place, ...] = ()
    generators: tuple[Generated, ...] = ()
    communicators: tuple[Place, ...] = ()
    applied: tuple[Level, ...] = ()
    stacks: frozenset[int] = frozenset()
    compared: frozenset[frozenset[int]] = frozenset()
    changes: Changes | None = None
    seconds: float = field(default=0.0, compare=False)

    @property
    def drawn(self) -> tuple[Generated, ...]:
        """The generators that the function draws from: their states are its last results."""
        return tuple(each for each in self.generators if each.drawn)


@dataclass(frozen=True)
class Holder:
    """A function object, whose free variables are meant, and where it is found."""

    fn: types.FunctionType
    place: Place

    @property
    def in_library(self) -> bool:
        """Whether it is one of adc's own functions in Python."""
        return (self.fn.__module__ or "").startswith("adc.library")


@dataclass(frozen=True)
class Handling:
    """An exception in its handler: which check has failed, and which it may be.

    `bound` is what the handler's name is bound to.
    """

    failed: tuple[Operand, ...]
    codes: frozenset[int]
    bound: Binding | None = None


@dataclass(eq=False)
class Region:
    """The body of a `try`: what may be caught there (None: everything), and what that was.

    `codes` are the numbers of the checks that it catches (`control.escapes`). It `keeps` the
    numbers in messages where they may be raised again. `before` are the names bound where it
    begins.
    """

    classes: tuple[type[BaseException], ...] | None
    keeps: bool = False
    codes: set[int] = field(default_factory=set)
    before: frozenset[str] = frozenset()


@dataclass(eq=False)
class Opening:
    """A call in a `try` of which the function's body is lowered as a part of that `try`.

    `frame` is that of the call. `ready` says that it comes next, and `done` that it was.
    """

    call: ast.AST
    frame: Frame
    ready: bool = False
    done: bool = False

    def takes(self, caller: Frame | None) -> bool:
        """Whether the function that is entered is that of the call; it is entered once."""
        if not (self.ready and caller is self.frame):
            return False
        self.ready, self.done = False, True
        return True


@dataclass(eq=False)
class Frame:
    """One Python function while it is lowered: its names, and where free ones are found."""

    source: Source
    env: dict[str, Binding]
    holder: Holder
    outer: Frame | None = None
    caller: Frame | None = None
    # Names that are bound only where no exit is pending (`control.merge`).
    partial: set[str] = field(default_factory=set)
    path: tuple[object, ...] = ()
    # How often functions were inlined, by function and position: calls in copies of code have one.
    inlined: dict[object, int] = field(default_factory=dict)
    locals: frozenset[str] = frozenset()
    # The inner function that this is a call of.
    closure: Closure | None = None
    # Which frame this has the variables of, if it is one that is done.
    original: Frame | None = None
    # Where the user called the library function that this is part of.
    site: Span | None = None
    # Where it is called, if it is inlined.
    called: Span | None = None
    # Whether it is the outline of a function that several calls may share.
    shared: bool = False
    # Whether it is done, and has the names only that an inner function reads, as they stay.
    closed: bool = False
    # The `try` statements in whose bodies this is now; the exceptions that are handled now.
    # The variables that inner functions write (`nonlocal`), and the slots that hold them: like
    # the contents of lists, they are state that all functions share.
    cells: dict[str, str] = field(default_factory=dict)
    # What the innermost loop keeps at a `break` (`language.breaks`).
    breaking: Any = None
    catching: tuple[Region, ...] = ()
    handling: tuple[Handling, ...] = ()

    @property
    def function(self) -> tuple[object, ...]:
        """Which function of the program this is a call of, the same in all attempts to lower it."""
        node = self.source.node
        return (self.source.file, node.lineno, node.col_offset)


@dataclass
class State:
    """The state that joins at control flow: the names of one frame, and all array versions."""

    env: dict[str, Binding]
    partial: set[str]
    versions: dict[ArrayObject, Value]
    stale: dict[ArrayObject | str, str]
    known: dict[object, Operand]
    # How many inner functions there are, and how often an attribute of one was set.
    attributes: tuple[int, int] = (0, 0)


@dataclass
class Sharing:
    """Which functions the calls of a program share.

    Attributes
    ----------
    shared, inlined : set
        The signatures of those that are shared, and of those that cannot be.
    seen : dict
        How many statements of each signature an attempt to lower the program has repeated.
    again : int
        How often lowering has begun again. After a few times it goes on with what is shared then.
    """

    shared: set[object] = field(default_factory=set)
    inlined: set[object] = field(default_factory=set)
    seen: dict[object, int] = field(default_factory=dict)
    again: int = 0


# Which derivatives of code are taken: none, those in reverse mode, or any.
NEITHER: frozenset[str] = frozenset()
REVERSE = frozenset({"reverse"})
BOTH = frozenset({"reverse", "tangent"})


@dataclass(frozen=True)
class OnePool:
    """What an attempt found: what is in these pools has to be in one.

    If that is to be `open`, the lists in it are not all of one length that does not change.
    """

    slots: tuple[str, ...]
    open: bool = False


@dataclass(frozen=True)
class Pool:
    """Where all objects of a class are, all dicts with some keys, or all lists made at some places.

    If it is `open`, its lists are of any length, and no rows with a column for each element.
    """

    slot: str
    open: bool = False


@dataclass
class Shared:
    """The state that the lowerings of a function and its recursive callees share."""

    guards: dict[Place, Guard] = field(default_factory=dict)
    # What was found outside.
    values: dict[Place, Any] = field(default_factory=dict)
    # Where the functions were found that are lowered.
    holders: dict[types.FunctionType, Holder] = field(default_factory=dict)
    sources: dict[int, Source] = field(default_factory=dict)
    recursive: set[object] = field(default_factory=set)
    # Functions that call themselves for parts of what they are passed, and are inlined.
    structural: set[object] = field(default_factory=set)
    # Recursive functions that need the constants among their arguments.
    with_constants: set[object] = field(default_factory=set)
    # IR functions, by Python function, signature and modes (`control.callees`).
    callees: dict[tuple[object, object, frozenset[str]], Any] = field(default_factory=dict)
    sharing: Sharing = field(default_factory=Sharing)
    # Derivatives that the code calls, by name.
    derived: dict[str, Derived] = field(default_factory=dict)
    # Functions with custom derivatives, and those of their rules.
    rules: dict[object, Any] = field(default_factory=dict)
    # How many of these functions were taken out again.
    forgotten: int = 0
    # Which derivatives are taken of the code that is lowered now: rules have functions for these.
    modes: frozenset[str] = BOTH
    # Whether they are of the first of a pair only: what comes with it may be of any kind.
    auxiliary: bool = False
    # Numbers from outside that are part of the program, and where those that are not lie.
    constants: Mapping[Place, Any] = field(default_factory=dict)
    numbers: dict[Value, Place] = field(default_factory=dict)
    # Statements that were lowered: their files and lines.
    passed: set[tuple[str, int, int]] = field(default_factory=set)
    # Functions are inlined until this many statements were built: a function that calls another
    # twice, which calls a third twice … would take exponential time.
    inlined: int = 10_000
    # Whether there is a library of linear algebra to call.
    on_device: bool = False
    # How many of the first arguments are what a method is bound to.
    bound: int = 0
    # Whether code is for axes that may or may not turn out to have size 1.
    general: bool = False
    # Whether the caller of the code does what the program changes outside (`transforms.changes`);
    # whether it changes anything there, so that variables have one place for all functions, and
    # these places; lists to which is only appended; what functions read that are lowered apart.
    lasting: bool = False
    changes: bool = False
    named: dict[object, Place] = field(default_factory=dict)
    logs: frozenset[Place] = frozenset()
    # Attributes of classes that the program assigns.
    members: frozenset[tuple[type, str]] = frozenset()
    apart: set[Place] = field(default_factory=set)
    # Lists among the arguments that can be passed as stacks; and for each loop that is unrolled
    # now, outermost first, those whose elements it takes.
    stackable: frozenset[Place] = frozenset()
    taken: list[set[Place]] = field(default_factory=list)
    # Variables that are read where some path may not have assigned them, by function.
    unset: frozenset[Variable] = frozenset()
    # Variables that may be one of several values, of different kinds (`bindings.OneOf`).
    varied: frozenset[Variable] = frozenset()
    # Whether any of these is used where a value is needed (`control.choices`).
    choosing: bool = False
    # Whether elements of all kinds may be picked out of lists by numbers known only at run time,
    # and lists of any length may hold texts and objects.
    picks: bool = False
    # The pools, by what those have in common that are in one (`Rows.kind_of_pool`); which may be
    # needed in another attempt (`values.growing.pools`).
    pools: Mapping[object, Pool] = field(default_factory=dict)
    wanted: set[object] = field(default_factory=set)
    # By class: whether the order of attributes is "unknown" of any object, or is "read" of any.
    orders: dict[type, set[str]] = field(default_factory=dict)
    # Whether there are pools rather than constants, which would do: what pools cannot hold is an
    # assumption then.
    pooled: bool = False
    # Whether what is one of two lists or dicts stays so, and is no third one; only if `picks`.
    parted: bool = False
    # Whether strings of run-time values may be anywhere, and not only what is printed.
    texts: bool = False
    # Whether lists become buffers so that loops over them need no copies of their bodies; None:
    # where that would be much code, the program is lowered again to try it.
    rolls: bool | None = False
    # The functions of generators that are drawn from in several places (`control.suspended`).
    stepped: frozenset[Span] = frozenset()
    # How many more calls of `structural` functions may be inlined.
    unfolded: int = 2000
    # How many cases of statements these may still take: each is a copy.
    cases: int = 400
    # Where keys known only at run time are used, for which dicts and sets become tables; None: they
    # never do.
    tables: frozenset[Span] | None = frozenset()

    def admits_table(self, span: Span, what: str, hint: str) -> bool:
        """Return whether a dict or set may become a table where a key is used.

        Raises
        ------
        TableError
            If it may when the program is lowered again.
        """
        if self.tables is None:
            return False
        if span not in self.tables:
            raise TableError(f"{what} known only at run time is not supported", span, hint)
        return True

    @contextmanager
    def within(self, modes: frozenset[str]) -> Iterator[None]:
        """Lower code of which these derivatives are taken, unless it may be any of all code."""
        before = self.modes
        if before != BOTH:
            self.modes = modes
        try:
            yield
        finally:
            self.modes = before

    def number(self, table: Sized) -> int:
        """Return a number that no function of a table has had in its name."""
        return len(table) + self.forgotten

    def taken_first(self) -> frozenset[Place]:
        """Return the lists whose elements the outermost loop takes that takes any."""
        return frozenset(next(filter(None, self.taken), ()))
