"""Track which arrays the variables of emitted code own.

A variable holds an array until it is assigned again or the function ends. Where control flow merges
there are several states; each of them is exact. Loops share the variables of their carried values
with their results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from adc.ir.analysis.sizes.formulas import Sum
from adc.ir.core import Operand, Value

# An array; in a callee, one of its parameters for an argument.
Token = object
State = dict[Value, Token]
# The most states that are distinguished.
_MOST = 8


class Owners:
    """The states of one function at one point; `sizes` are the bytes of arrays."""

    def __init__(self, sizes: dict[Token, Sum], params: Iterable[Value] = ()) -> None:
        self.sizes = sizes
        self.states: list[State] = [{param: param for param in params}]
        self._variables: dict[Value, Value] = {}

    def share(self, value: Value, variable: Value) -> None:
        """Let a value have the variable of another one."""
        self._variables[value] = variable

    def held(self, state: State, operand: Operand) -> Token | None:
        if not isinstance(operand, Value):
            return None
        return state.get(self._variables.get(operand, operand))

    def put(self, state: State, value: Value, token: Token | None) -> None:
        variable = self._variables.get(value, value)
        if token is None:
            state.pop(variable, None)
        else:
            state[variable] = token

    def hold(self, value: Value, size: Sum) -> None:
        """Let a variable hold a new array."""
        token = object()
        self.sizes[token] = size
        for state in self.states:
            self.put(state, value, token)

    def release(self, values: Sequence[Value]) -> None:
        """Release the arrays that variables hold."""
        for state in self.states:
            for value in values:
                self.put(state, value, None)

    def move(self, targets: Sequence[Value], sources: Sequence[Operand]) -> None:
        """Assign all sources to targets at once."""
        for state in self.states:
            tokens = [self.held(state, source) for source in sources]
            for target, token in zip(targets, tokens, strict=True):
                self.put(state, target, token)

    def tokens(self, operands: Sequence[Operand]) -> set[Token]:
        """Return the arrays that operands may be, in any state."""
        found = {self.held(state, each) for state in self.states for each in operands}
        return {token for token in found if token in self.sizes}

    def tokens_of(self, operand: Operand) -> set[Token | None]:
        """Return what an operand may be, in any state; it may be an argument of the function."""
        return {self.held(state, operand) for state in self.states}

    def others(self, tokens: set[Token]) -> set[Token]:
        """Return all other arrays that are held, in any state."""
        return {
            token
            for state in self.states
            for token in state.values()
            if token in self.sizes and token not in tokens
        }

    def resize(self, value: Value, size: Sum, which: Callable[[Sum], bool]) -> None:
        """Give the arrays that a value may be another size if the known one does not suffice."""
        for token in self.tokens([value]):
            if which(self.sizes[token]):
                self.sizes[token] = size

    def bytes(self) -> Sum:
        """Return the bytes of all arrays that are held; a callee does not own its arguments."""
        found = []
        for state in self.states:
            total = Sum()
            for token in dict.fromkeys(state.values()):
                total += self.sizes.get(token, Sum())
            found.append(total)
        return found[0].max(*found[1:])

    def picture(self, state: State) -> tuple[object, ...]:
        """Return which variables hold the same arrays, and of what size."""
        numbers: dict[Token, int] = {}
        found: list[object] = []
        for variable in sorted(state, key=str):
            token = state[variable]
            if token in self.sizes:
                number = numbers.setdefault(token, len(numbers))
                found.append((variable.name, number, self.sizes[token]))
            else:
                found.append((variable.name, token))
        return tuple(found)

    def distinct(self, states: Iterable[State]) -> list[State]:
        """Return states without duplicates, only the first ones if there are many."""
        found: dict[object, State] = {}
        for state in states:
            found.setdefault(self.picture(state), state)
        return list(found.values())[:_MOST]


def copies(states: Iterable[State]) -> list[State]:
    """Return copies of states that may be changed."""
    return [dict(state) for state in states]
