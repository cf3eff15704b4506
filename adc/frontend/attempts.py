"""What attempts to lower a program have found, for the next one.

Most programs are lowered once. Where something is met that takes other code from the beginning, the
attempt ends with an exception that says what it was, and the program is lowered again::

    s = 0.0
    while np.sum(s) < 9.0:
        s = s + x          # VariesError: `s` is a number or an array

What only some programs need costs the others nothing, and changes no code of theirs.

`Attempts` goes on until the program is lowered or refused. Where it is refused, `Alternatives` has
what else may be lowered for the arguments of a call. Of the errors of several attempts, the user is
told that of the one that got further (`is_after`, `_is_further`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adc.frontend.control import program
from adc.frontend.core import dispatch
from adc.frontend.core.state import (
    BOTH,
    ChoiceError,
    ConstantNeededError,
    LastingError,
    LongError,
    ModesNeededError,
    OnePool,
    PickedError,
    Pool,
    PoolError,
    SameError,
    Sharing,
    StackError,
    StaleError,
    SteppedError,
    TableError,
    TextError,
    UnassignedError,
    Variable,
    VariesError,
)
from adc.frontend.inputs.places import Place
from adc.ir.errors import (
    AdcError,
    AliasError,
    Span,
    TypeMismatchError,
    TypeUnstableError,
    UnboundError,
    UnsupportedError,
)

# What an attempt may end with.
ENDS = (ModesNeededError, program.ShareError, LongError, dispatch.SplitError, AdcError)


def is_after(error: AdcError, other: AdcError) -> bool:
    """Whether the program was lowered further than to another error.

    That of a loop whose variables change their kind is about its head, others about all of a range.
    """
    if error.span is None or other.span is None:
        return False
    one, two = error.span.chain()[0], other.span.chain()[0]
    end = two.line if isinstance(other, TypeUnstableError) else max(two.line, two.end_line)
    return one.file == two.file and one.line > end


@dataclass
class Attempts:
    """What the next attempt begins with.

    Attributes
    ----------
    modes : frozenset of str
        Which derivatives of the result are taken.
    shares : bool
        Whether a function may be lowered once and called.
    picks : bool
        Whether elements of all kinds may be picked out of lists (`Shared.picks`).
    texts : bool
        Whether strings of run-time values may be anywhere (`Shared.texts`).
    sharing : Sharing
        Which are.
    unset : dict
        Variables that some path has not assigned.
    varied : dict
        Variables that are one of several values, of different kinds.
    choosing : bool
        Whether a value is needed where there is one of these.
    parted : bool
        Whether what is one of two lists or dicts stays so.
    tables : set of Span, or None
        Where keys known only at run time are used; None if there are to be no tables.
    changes : bool
        Whether something outside is changed.
    logs : set of Place
        Lists there to which something is appended.
    members : set of tuple
        Attributes of classes that are assigned.
    rolls : bool, optional
        Whether lists become buffers, for loops without copies of their bodies (`Shared.rolls`).
    stepped : set of Span
        Functions of generators that are drawn from in several places.
    pooled : bool
        Whether objects are to be in pools rather than numbers constants.
    pools : dict
        The pools of objects of which the run decides how many there are (`Shared.pools`).
    wanted : set
        Those that attempts could have used.
    """

    modes: frozenset[str]
    shares: bool
    picks: bool = False
    texts: bool = False
    sharing: Sharing = field(default_factory=Sharing)
    unset: dict[Variable, UnassignedError | None] = field(default_factory=dict)
    varied: dict[Variable, VariesError] = field(default_factory=dict)
    choosing: bool = False
    parted: bool = False
    tables: set[Span] | None = field(default_factory=set)
    changes: bool = False
    logs: set[Place | None] = field(default_factory=set)
    members: set[tuple[type, str] | None] = field(default_factory=set)
    rolls: bool | None = None
    stepped: set[Span] = field(default_factory=set)
    pooled: bool = False
    pools: dict[object, Pool] = field(default_factory=dict)
    wanted: set[object] = field(default_factory=set)
    _refused: AdcError | None = None
    _unpooled: AdcError | None = None
    _unrolled: Attempts | None = None

    def state(self) -> Mapping[str, Any]:
        """Return what the state of the next attempt (`Shared`) is made with."""
        return {
            "sharing": self.sharing, "modes": self.modes, "unset": frozenset(self.unset),
            "varied": frozenset(self.varied), "choosing": self.choosing,
            "picks": self.picks, "texts": self.texts, "parted": self.parted,
            "tables": None if self.tables is None else frozenset(self.tables),
            "changes": self.changes, "logs": frozenset(self.logs),
            "members": frozenset(self.members),
            "rolls": self.rolls,
            "stepped": frozenset(self.stepped),
            "pools": dict(self.pools), "wanted": self.wanted,
            "pooled": self.pooled,
        }  # fmt: skip

    def note(self, error: Exception) -> None:
        """Note what an attempt ended with; raise the program's error if another would not help."""
        if isinstance(error, LongError):
            self._unrolled = replace(
                self, sharing=Sharing(), unset=dict(self.unset), varied=dict(self.varied),
                tables=None if self.tables is None else set(self.tables), logs=set(self.logs),
                members=set(self.members),
                stepped=set(self.stepped), pools=dict(self.pools), wanted=set(self.wanted),
                rolls=False,
            )  # fmt: skip
            self.rolls = True
            return
        try:
            self._note(error)
        except AdcError:
            if self._unrolled is None:
                raise
            # With copies of the bodies of loops it may be supported.
            vars(self).update(vars(self._unrolled))

    def _note(self, error: Exception) -> None:
        match error:
            case ModesNeededError():
                self.modes = BOTH
            case program.ShareError():
                self.sharing.seen.clear()
            case UnassignedError():
                self._note_unset(error)
            case dispatch.SplitError():
                if self.choosing:
                    raise ChoiceError(
                        "this use of what is one of several values is not supported", error.span,
                        "assign it to a variable before",
                    ) from error  # fmt: skip
                self.choosing = True
            case LastingError():
                self.changes = True
                self.logs |= {error.log} - {None}
                self.members |= {error.member} - {None}
            case SteppedError() if error.site not in self.stepped:
                self.stepped.add(error.site)
            case TableError() if self.tables is not None:
                self.tables.add(error.site)
            case PickedError() if error.places:
                raise StackError(error.places) from None
            case StaleError() | SameError() if self.picks and not self.parted:
                self.parted = True
            case VariesError() if error.variable not in self.varied:
                self.varied[error.variable] = error
            case AdcError():
                self._note_refused(error)
            case _:
                raise AssertionError(error)

    def _note_unset(self, error: UnassignedError) -> None:
        # It is checked where it is read, unless no path to there assigns it.
        if error.variable in self.unset:
            first = self.unset[error.variable]
            known = first if first and first.why else error
            raise UnboundError(known.message, known.span, known.hint) from None
        self.unset = {**dict.fromkeys(error.others), **self.unset, error.variable: error}

    def _note_refused(self, error: AdcError) -> None:
        if self.sharing.shared:
            # What a shared function does not tell its callers may be what is missing.
            self.sharing, self.shares = Sharing(), False
            return
        wanted = self._wanted()
        if isinstance(error, ConstantNeededError) and not (wanted and self.pooled):
            error.pools = bool(wanted)
            raise error
        if wanted:
            self._unpooled = self._unpooled or error
            self._make_pools(wanted)
            return
        if self.pools and self._unpooled is not None:
            # Without them, it may need no tables. What pools cannot hold is worth telling.
            told = isinstance(error, PoolError | AliasError) or is_after(error, self._unpooled)
            error = error if told else self._unpooled
            self.pools = {}
        if self.tables:
            # Where it does with known keys, in loops that are unrolled, it needs no tables.
            self.tables, self._refused = None, error
            return
        error = self._refused or error
        if self.varied and isinstance(error, VariesError | ChoiceError):
            error = next(iter(self.varied.values()))
        if isinstance(error, VariesError | SameError):
            raise TypeUnstableError(error.message, error.span, error.hint) from None
        if isinstance(error, PickedError) and not isinstance(error, TextError):
            raise UnsupportedError(error.message, error.span, error.hint) from None
        if isinstance(error, StaleError):
            raise AliasError(error.message, error.span, error.hint) from None
        raise error from None

    def _wanted(self) -> set[object]:
        """Return which pools attempts could have used, and have not had."""
        if self._unpooled is not None and not self.pools:
            return set()  # they do not help
        # A class that the program makes is another one in each attempt.
        known = {str(kind) for kind in self.pools}
        opened = [pool.slot for pool in self.pools.values() if pool.open]
        known |= {str(OnePool((slot,), open=True)) for slot in opened}
        return {kind for kind in self.wanted if str(kind) not in known}

    def _make_pools(self, wanted: set[object]) -> None:
        """Have pools of what needs them, and one for what two were of."""
        for kind in sorted(wanted, key=str):
            if not isinstance(kind, OnePool):
                self.pools[kind] = Pool(f"$hpool{len(self.pools)}")
                continue
            found = {each: pool for each, pool in self.pools.items() if pool.slot in kind.slots}
            opened = kind.open or any(pool.open for pool in found.values())
            self.pools |= dict.fromkeys(found, Pool(kind.slots[0], opened))
            self.wanted.discard(kind)


# Refusals that other kinds of values may not meet.
_KNOWN_ONLY_LATER = (
    UnsupportedError, TypeUnstableError, TypeMismatchError, UnboundError, AliasError,
)  # fmt: skip
# How many objects a loop may make that are variables of the code each. More are in a pool.
_MOST_OBJECTS = 8


def _is_further(error: AdcError, first: AdcError, passed: set[tuple[str, int, int]]) -> bool:
    """Whether an attempt can do what the first one could not, and met an error somewhere else."""
    a, b = error.span, first.span
    if a is None or b is None or isinstance(error, ChoiceError):
        return False
    if isinstance(first, UnsupportedError) and a.file == b.file and a.line > b.line:
        return True
    return (a.file, a.line) != (b.file, b.line) and any(
        file == b.file and line <= b.line <= end for file, line, end in passed
    )


@dataclass
class Alternatives:
    """What a program is lowered with for the arguments of a call, if it was refused before.

    In this order, each with the constants that it needs and, if it is refused still, with all sizes
    and then with all integers as constants:

    =======  =====================================================================================
    pools    objects in pools, where a constant would say that there are more than eight of them
    nothing  the program as it is
    texts    strings of run-time values anywhere, if one was met
    pools    objects in pools, where a constant would say how many there are
    picks    elements of all kinds picked out of lists, which may take much code
    =======  =====================================================================================

    Attributes
    ----------
    values : tuple
        The arguments.
    may_pool : bool
        Whether objects may be in pools.
    constants : dict
        Integers among the arguments and captured variables, by place.
    """

    values: tuple[Any, ...]
    may_pool: bool
    constants: dict[Place, Any] = field(default_factory=dict)
    pools: bool = False
    texts: bool = False
    picks: bool = False
    # What was refused first; that with pools, which do not help then; whether a string was met, and
    # a number of objects.
    _refused: AdcError | None = None
    _pooled: AdcError | None = None
    _met_text: bool = False
    _met_objects: bool = False

    def note(self, error: AdcError, numbers: set[Place], passed: set[tuple[str, int, int]]) -> None:
        """Note why the program was refused; raise its error if there is no other way.

        `numbers` are the places of the integers and sizes that the program has, and `passed` the
        files and lines of the statements that were lowered.
        """
        needed = {error.place} if isinstance(error, ConstantNeededError) else set()
        if self.pools:
            if not self._add(needed):
                self.pools, self._pooled = False, error
                self.picks = self._refused is not None
                self.constants.clear()
            return
        if self._pooled is None and self.may_pool and self._counts_objects(error):
            self.pools = True
            return
        self._met_objects |= isinstance(error, ConstantNeededError) and error.pools
        self._met_text |= isinstance(error, TextError)
        if self._add(needed):
            return
        if not isinstance(error, _KNOWN_ONLY_LATER):
            raise error
        # What sizes decide can be known: how many axes there are, which path is taken.
        first = self._refused = self._refused or error
        sizes = {place for place in numbers if place.path[-2:-1] == ("shape",)}
        if self._add(sizes) or self._add(numbers):
            return
        if self._met_text and not self.texts:
            self.texts, self._refused = True, None
        elif self._met_objects and self._pooled is None and self.may_pool and not self.picks:
            self.pools = True
        elif not self.picks:
            self.picks = True
        else:
            last = error if _is_further(error, first, passed) else first
            raise (
                self._pooled if self._pooled and is_after(self._pooled, last) else last
            ) from None
        self.constants.clear()

    def _add(self, places: set[Place]) -> bool:
        """Make numbers among what the call passes constants; return whether any was none before."""
        before = len(self.constants)
        for place in sorted(places - set(self.constants), key=str):
            # Nothing is there of what becomes an array.
            with suppress(AttributeError, LookupError, TypeError):
                self.constants[place] = place.read(self.values)
        return len(self.constants) > before

    def _counts_objects(self, error: AdcError) -> bool:
        """Whether a number would be a constant so that there are as many objects, and many."""
        if not (isinstance(error, ConstantNeededError) and error.pools):
            return False
        with suppress(AttributeError, LookupError, TypeError):  # as in `_add`
            number = error.place.read(self.values)
            return bool(isinstance(number, int | np.integer) and number > _MOST_OBJECTS)
        return False
