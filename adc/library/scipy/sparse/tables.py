"""Entries that are put at positions one by one: what `lil` and `dok` arrays are made of.

Each row has a chain of its entries. So reading or writing an element takes a step for each entry
of its row, and the memory is that of the entries: a stiffness matrix of a million rows is fine, a
full row of a million entries is slow to assemble (as in SciPy's `lil_array`).

An entry stays where a number that may depend on the input is put, even if it happens to be zero:
its derivative need not be. SciPy has no such entry. What counts the entries knows (`COUNTED`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

# The states of an entry: it was removed; its value was put, and if it is zero, SciPy has no entry
# there; SciPy has an entry there even if it is zero.
REMOVED, PUT, COUNTED = 0, 1, 2


class Table:
    """Entries by position.

    The entry with number 0 ends the chains, and says of which type the entries are.
    """

    def __init__(self, m: Any, zero: Any) -> None:
        self.first = np.zeros(m, np.int64)
        self.after, self.row, self.col, self.state = [0], [0], [0], [REMOVED]
        self.data = [zero]

    def at(self, i: Any, j: Any) -> Any:
        """Return the number of the entry at a position; 0 if there is none."""
        k = self.first[i]
        while k != 0 and (self.col[k] != j or self.state[k] == REMOVED):
            k = np.int64(self.after[k])
        return k

    def get(self, i: Any, j: Any) -> Any:
        """Return the value at a position."""
        return self.data[self.at(i, j)]

    def add(self, i: Any, j: Any, x: Any, state: Any) -> None:
        """Add an entry at a position that has none."""
        self.after.append(int(self.first[i]))
        self.first[i] = len(self.row)
        self.row.append(int(i))
        self.col.append(int(j))
        self.state.append(state)
        self.data.append(x)

    def put(self, i: Any, j: Any, x: Any, state: Any) -> None:
        """Put a value at a position, or remove the entry there.

        The order of entries is that in which SciPy's `dict` gets them: not where a zero is put.
        """
        k = self.at(i, j)
        if state == PUT and k != 0 and not self.counts(k) and x != 0:
            self.state[k] = REMOVED
            k = np.int64(0)
        if k != 0:
            self.state[k] = state
            if state != REMOVED:
                self.data[k] = x
        elif state != REMOVED:
            self.add(i, j, x, state)

    def counts(self, k: Any) -> Any:
        """Whether SciPy has this entry."""
        return self.state[k] == COUNTED or (self.state[k] == PUT and self.data[k] != 0)

    def count(self) -> Any:
        """Return how many entries SciPy has."""
        found = 0
        for k in range(1, len(self.row)):
            if self.counts(k):
                found += 1
        return found

    def present(self) -> Any:
        """Return the numbers of the entries, in the order in which they were added."""
        found = np.empty(len(self.row), np.int64)
        count = 0
        for k in range(1, len(self.row)):
            if self.state[k] != REMOVED:
                found[count] = k
                count += 1
        return found[:count].copy()

    def places(self, at: Any) -> Any:
        """Return the rows and the columns of entries."""
        row, col = np.empty(len(at), np.int32), np.empty(len(at), np.int32)
        for k in range(len(at)):
            row[k], col[k] = self.row[at[k]], self.col[at[k]]
        return row, col

    def values(self, at: Any, dtype: Any) -> Any:
        """Return the values of entries."""
        out = np.empty(len(at), dtype)
        for k in range(len(at)):
            out[k] = self.data[at[k]]
        return out


__all__ = ["COUNTED", "PUT", "REMOVED", "Table"]
