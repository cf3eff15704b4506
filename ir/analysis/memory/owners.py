"""Which arrays that own their memory the variables of emitted code hold.

A variable holds an array until it is assigned again or the function ends. Where control may have
gone several ways there are several states; what is known of one is exact. Loops share the variables
of what they carry with their results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from adc.ir.analysis.sizes.formulas import Sum
from adc.ir.core import Operand, Value

# An array; for a callee, what it is passed is one of its parameters.
Token = object
State = dict[Value, Token]
# So many states are told apart.
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

    def let_go(self, values: Sequence[Value]) -> None:
        """Let variables no longer hold their arrays."""
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
        """Return what an operand may be, in any state; it may be what the function was passed."""
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
        """Give the arrays that a value may be another size, if what is known of it is no good."""
        for token in self.tokens([value]):
            if which(self.sizes[token]):
                self.sizes[token] = size

    def bytes(self) -> Sum:
        """Return the bytes of all arrays that are held; what a callee is passed is not its own."""
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
        """Return states without those that look like others, the first ones if there are many."""
        found: dict[object, State] = {}
        for state in states:
            found.setdefault(self.picture(state), state)
        return list(found.values())[:_MOST]


def copies(states: Iterable[State]) -> list[State]:
    """Return states that can be changed."""
    return [dict(state) for state in states]
