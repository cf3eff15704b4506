"""What lies outside of the function, and what the program may change there."""

from __future__ import annotations

from dataclasses import replace

from adc.frontend.core.bindings import ArrayObject, ArrayRef, Binding, NamedTuple, Num, Ref
from adc.frontend.core.lowering.scalars import Scalars
from adc.frontend.core.state import Frame, LastingError, Shared
from adc.frontend.inputs.places import Capture, Place, Variable
from adc.ir.core import Stmt
from adc.ir.errors import GlobalStateError


class Lasting(Scalars):
    """Knows what is an argument or captured, and refuses changes that the next call would see."""

    def __init__(self, shared: Shared | None = None) -> None:
        super().__init__(shared)
        self.prologue: list[Stmt] = []
        # Bindings of what lies outside, and the numbers and arrays in it: they are parameters.
        self.reached: dict[Place, Binding] = {}
        self.captured: dict[Place, tuple[Capture, tuple[Num | ArrayRef, ...]]] = {}
        # Arrays that the function finds outside, and was not given: it may not write to them.
        self.outside: dict[ArrayObject, Place] = {}
        # The states of random generators from outside.
        self.generators: dict[ArrayObject, Place] = {}
        # The communicators of MPI from outside, and where they are, by the array of their order.
        self.communicators: dict[ArrayObject, tuple[NamedTuple, Place]] = {}
        # Lists, dicts and objects from outside: what they hold at first, and where they are.
        self.initial: dict[str, Binding] = {}
        self.places: dict[str, frozenset[Place]] = {}
        # Those that others than names hold: attributes of objects, captured variables.
        self.elsewhere: set[str] = set()
        # Those that the program changes, where the caller of the code can be told (else None); and
        # lists outside to which is only appended, of which the code knows nothing.
        self.lasting: dict[str, Ref] | None = None
        self.logs: set[str] = set()
        # Those, and dicts that hold them: their contents are no captures as a whole.
        self.opened: set[Place] = set()
        # The one of them to which something is appended now.
        self.logging: str | None = None
        # The slots of variables outside that the program assigns, and their places.
        self.variables: dict[Place, str] = {}
        self.assigned: dict[str, Place] = {}
        # Where the arrays are that are parameters.
        self.homes: dict[ArrayObject, Place] = {}
        # Arguments that the program changes; what a recursive function may not change.
        self.changed: set[Place] = set()
        self.lent: set[str] = set()

    def is_outside(self, place: Place) -> bool:
        """Whether a value is captured, so that the next call sees its changes."""
        return not isinstance(place.root, int) or place.root < self.shared.bound

    @property
    def kept_outside(self) -> dict[str, Ref] | None:
        """What the program changes outside, which its caller is told; None if that cannot be.

        How often functions of the library call those of the program is their own affair.
        """
        frame: Frame | None = self.frame
        while frame is not None:
            module = frame.holder.fn.__module__ or ""
            if frame.holder.in_library and not module.startswith("adc.library.standard"):
                return None
            frame = frame.caller
        return self.lasting

    def require_one_name(self, place: Place, error: GlobalStateError) -> None:
        """Lower the program again if functions may read what is changed at other places as well."""
        variable = any(isinstance(step, Variable) for step in place.path)
        if variable and not self.shared.changes:
            raise LastingError(error)

    def outlasts(self, slot: str) -> bool:
        """Whether what a slot holds at the end is put there when the call is over."""
        if self.lasting is None:
            return False
        return slot in self.assigned or any(map(self.is_outside, self.places.get(slot, ())))

    def changes_outside(
        self, what: str, place: Place, how: str = "would be changed"
    ) -> GlobalStateError:
        """Return the error for a change that the next call would see, and nobody can make."""
        if isinstance(place.root, int):
            named = replace(place, path=("self", *place.path))
            where = f" of the object that the method belongs to, `{named}`," if place.path else (
                " that the method belongs to"
            )  # fmt: skip
            hint = "the object"
        else:
            where, hint = f" outside the function, `{place}`,", "it"
        return GlobalStateError(
            f"{what}{where} {how}", self.builder.loc,
            f"change a copy, or pass {hint} as an argument and return it",
        )  # fmt: skip
