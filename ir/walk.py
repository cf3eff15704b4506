"""Walk and rebuild statements: the one `env` skeleton that passes share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import Generic, Protocol

from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    For,
    Found,
    Function,
    Gemm,
    If,
    Load,
    Loop,
    Mark,
    Operand,
    Pop,
    Print,
    Push,
    Recall,
    Reverse,
    Stmt,
    Store,
    Value,
    While,
    Write,
    blocks,
    operands,
    remembered,
    walk,
)

Env = Mapping[Value, Operand]


class Names:
    """Unique names within a function: ``fresh("x")`` gives ``x``, ``x.1``, ``x.2``, …"""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        # In the order in which they were taken, so that the last ones can be released.
        self._taken = dict.fromkeys(taken)
        self._next: dict[str, int] = {}
        # What the numbers in `_next` were before, first to last.
        self._before: list[tuple[str, int | None]] = []

    def __contains__(self, name: str) -> bool:
        return name in self._taken

    @classmethod
    def of(cls, fn: Function) -> Names:
        """Return a supply of names that are not used in `fn`."""
        names = cls(value.name for value in defined(fn))
        names._taken.update((label, None) for s in walk(fn.body) if (label := label_of(s)))
        return names

    def add(self, other: Names) -> None:
        """Reserve the names that `other` has reserved."""
        self._taken |= other._taken

    def save(self) -> tuple[int, int]:
        """Return the state, for `load`: a failed speculation returns its names."""
        return len(self._taken), len(self._before)

    def load(self, state: tuple[int, int]) -> None:
        """Return to an earlier state; those saved since then are no longer valid."""
        taken, changes = state
        while len(self._taken) > taken:
            self._taken.popitem()
        while len(self._before) > changes:
            base, number = self._before.pop()
            if number is None:
                del self._next[base]
            else:
                self._next[base] = number

    def reserve(self, name: str) -> None:
        self._taken[name] = None

    def fresh(self, hint: str) -> str:
        if hint not in self._taken:
            self._taken[hint] = None
            return hint
        base, _, tail = hint.rpartition(".")
        if not (base and tail.isdigit()):
            base = hint
        before = self._next.get(base)
        self._before.append((base, before))
        k = before or 1
        while (name := f"{base}.{k}") in self._taken:
            k += 1
        self._next[base] = k + 1
        self._taken[name] = None
        return name

    def value(self, like: Value, hint: str = "") -> Value:
        """Return a fresh value of the type of `like`."""
        return Value(self.fresh(hint or like.name), like.type)


def label_of(stmt: Stmt) -> str:
    """Return the label of a loop or call, or ""."""
    return stmt.label if isinstance(stmt, For | While | Call) else ""


def inner_values(stmt: Stmt) -> tuple[Value, ...]:
    """Return the values that `stmt` binds for its blocks: parameters and loop index."""
    match stmt:
        case For(index=index, body=body) | Reverse(index=index, body=body):
            return (index, *body.params)
        case While(body=body):
            return body.params
        case If(then=then, orelse=orelse):
            return (*then.params, *orelse.params)
    return ()


def bound(stmts: tuple[Stmt, ...]) -> Iterator[Value]:
    """Yield every value that statements bind, in their blocks too."""
    for stmt in walk(stmts):
        yield from stmt.results
        yield from inner_values(stmt)


def loop_values(loop: For | While | Reverse) -> set[Value]:
    """Return the values that an iteration of a loop binds: they may differ between iterations."""
    return {*inner_values(loop), *bound(loop.body.stmts)}


def carried_yields(loop: Loop) -> tuple[Operand, ...]:
    """Return the next values of the carried values: the yields, without a `while`'s condition."""
    return loop.body.yields[1:] if isinstance(loop, While) else loop.body.yields


def defined(fn: Function) -> list[Value]:
    """Return every value defined in `fn`, parameters first."""
    return [*fn.params, *bound(fn.body)]


@remembered
def block_reads(block: Block) -> frozenset[Value]:
    """Return the values from outside `block` that it reads (Recalls do not count)."""
    return frozenset(stmts_reads(block.stmts, block.yields).difference(block.params))


def stmt_reads(stmt: Stmt) -> set[Value]:
    """Return the values from outside `stmt` that it and its blocks read."""
    reads = {v for v in operands(stmt) if isinstance(v, Value)}
    inner = blocks(stmt)
    if inner:
        reads.update(*map(block_reads, inner))
        reads.difference_update(inner_values(stmt))
    return reads


def stmts_reads(stmts: Iterable[Stmt], yields: Iterable[Operand] = ()) -> set[Value]:
    """Return the values read by `stmts` and `yields` that `stmts` do not define."""
    reads: set[Value] = set()
    bound: set[Value] = set()
    for stmt in stmts:
        found = stmt_reads(stmt)
        reads |= found if bound.isdisjoint(found) else found - bound
        bound.update(stmt.results)
    reads.update(v for v in yields if isinstance(v, Value) and v not in bound)
    return reads


class StatementCache(Generic[Found]):
    """A function of statements that is cached for each while this object lives."""

    def __init__(self, function: Callable[[Stmt], Found]) -> None:
        self._function = function
        # With the statement: its id is unique as long as it is held.
        self._known: dict[int, tuple[Stmt, Found]] = {}

    def __call__(self, stmt: Stmt) -> Found:
        known = self._known.get(id(stmt))
        if known is None:
            known = self._known[id(stmt)] = (stmt, self._function(stmt))
        return known[1]


@remembered
def block_size(block: Block) -> int:
    """Return the number of statements in a block, nested ones included."""
    return size(block.stmts)


def size(stmts: Iterable[Stmt]) -> int:
    """Return the number of statements, nested ones included."""
    return sum(1 + sum(map(block_size, blocks(stmt))) for stmt in stmts)


def statements(fn: Function) -> int:
    """Return how many statements a function and its callees have."""
    return sum(size(each.body) for each in (fn, *fn.callees))


@remembered
def _block_acts(block: Block) -> bool:
    return any(map(acts, block.stmts))


def acts(stmt: Stmt) -> bool:
    """Whether a statement does more than compute its results: stop, print, use the tape."""
    return isinstance(stmt, Check | Print | Call | Push | Pop) or any(
        map(_block_acts, blocks(stmt))
    )


def finds(stmts: tuple[Stmt, ...]) -> bool:
    """Whether a statement finds something outside, such as the time, which later is another one."""
    return any(isinstance(stmt, Print) and stmt.result is not None for stmt in walk(stmts))


def use_counts(fn: Function) -> dict[Value, int]:
    """Return how often each value is read, Recalls included."""
    counts: dict[Value, int] = {}

    def read(operand: Operand) -> None:
        if isinstance(operand, Value):
            counts[operand] = counts.get(operand, 0) + 1

    for stmt in walk(fn.body):
        for operand in operands(stmt):
            read(operand)
        if isinstance(stmt, Recall):
            read(stmt.value)
        for block in blocks(stmt):
            for operand in block.yields:
                read(operand)
    for operand in fn.results:
        read(operand)
    return counts


def all_use_counts(fn: Function) -> dict[Value, int]:
    """Return how often each value is read, in `fn` or in what it calls."""
    counts: dict[Value, int] = {}
    for each in (*fn.callees, fn):
        for value, count in use_counts(each).items():
            counts[value] = counts.get(value, 0) + count
    return counts


def substitute(operand: Operand, env: Env) -> Operand:
    while isinstance(operand, Value) and operand in env:
        operand = env[operand]
    return operand


def _array(operand: Operand) -> Value:
    assert isinstance(operand, Value)
    return operand


def map_operands(stmt: Stmt, read: Callable[[Operand], Operand]) -> Stmt:
    """Return `stmt` with `read` applied to its own operands (blocks and results untouched)."""
    old = operands(stmt)
    new = tuple([read(operand) for operand in old])
    if all(map(is_, old, new)):
        return stmt
    match stmt:
        case Apply() | Call() | Print():
            return replace(stmt, args=new)
        case Load():
            return replace(stmt, array=_array(new[0]), index=new[1:])
        case Store() | Write():
            return replace(stmt, array=_array(new[0]), index=new[1:-1], value=new[-1])
        case Gemm():
            return replace(stmt, array=_array(new[0]), a=_array(new[1]), b=_array(new[2]))
        case If():
            return replace(stmt, cond=new[0])
        case For():
            return replace(stmt, trips=new[0], init=new[1:])
        case While() | Reverse():
            return replace(stmt, init=new)
        case Check():
            return replace(stmt, cond=new[0], args=new[1:])
        case Push():
            return replace(stmt, values=new)
    raise AssertionError(stmt)


def map_blocks(stmt: Stmt, rebuild: Callable[[Block], Block]) -> Stmt:
    """Return `stmt` with `rebuild` applied to its blocks."""
    match stmt:
        case If(then=then, orelse=orelse):
            new = rebuild(then), rebuild(orelse)
            if new[0] is then and new[1] is orelse:
                return stmt
            return replace(stmt, then=new[0], orelse=new[1])
        case For(body=body) | While(body=body) | Reverse(body=body):
            one = rebuild(body)
            return stmt if one is body else replace(stmt, body=one)
    return stmt


def map_stmts(stmt: Stmt, rewrite: Callable[[tuple[Stmt, ...]], Iterable[Stmt]]) -> Stmt:
    """Return `stmt` with `rewrite` applied to the statements of its blocks."""
    return map_blocks(stmt, lambda b: with_stmts(b, tuple(rewrite(b.stmts)), b.yields))


def filtered(stmts: Iterable[Stmt], keep: Callable[[Stmt], bool]) -> tuple[Stmt, ...]:
    """Return the statements to `keep`, also in their blocks."""
    return tuple(map_stmts(s, lambda inner: filtered(inner, keep)) for s in stmts if keep(s))


def marked(stmts: Iterable[Stmt], mark: Callable[[Value], Mark | None]) -> tuple[Stmt, ...]:
    """Return statements whose values have the marks that `mark` gives them."""

    def value(old: Value) -> Value:
        new = mark(old)
        return old if new == old.mark else replace(old, mark=new)

    def block(found: Block) -> Block:
        return Block(tuple(map(value, found.params)), marked(found.stmts, mark), found.yields)

    def one(stmt: Stmt) -> Stmt:
        stmt = map_blocks(stmt, block)
        if isinstance(stmt, For):
            stmt = replace(stmt, index=value(stmt.index))
        return with_results(stmt, tuple(map(value, stmt.results)))

    return tuple(map(one, stmts))


def with_results(stmt: Stmt, results: tuple[Value, ...]) -> Stmt:
    """Return `stmt` with other values as its results."""
    match stmt:
        case Load() | Store() | Recall():
            return replace(stmt, result=results[0])
        case Gemm() | Print():
            return replace(stmt, result=results[0] if results else None)
        case Apply() | If() | For() | While() | Reverse() | Call() | Pop():
            return replace(stmt, results=results)
    return replace(stmt)  # every statement is a distinct object: passes identify it by its id


def are_same(some: Sequence[object], others: Sequence[object]) -> bool:
    """Whether two sequences hold the same objects."""
    return len(some) == len(others) and all(map(is_, some, others))


def with_stmts(block: Block, stmts: Sequence[Stmt], yields: Sequence[Operand]) -> Block:
    """Return `block` with other statements and yields: itself if they are the same."""
    if are_same(stmts, block.stmts) and are_same(yields, block.yields):
        return block
    return Block(block.params, tuple(stmts), tuple(yields))


def substitute_stmt(stmt: Stmt, env: Env) -> Stmt:
    """Return `stmt` with operands replaced by `env`, in its blocks too (Recalls included)."""
    if not env:
        return stmt
    stmt = map_operands(stmt, lambda operand: substitute(operand, env))
    if isinstance(stmt, Recall):
        target = substitute(stmt.value, env)
        if isinstance(target, Value):
            stmt = replace(stmt, value=target)
    return map_blocks(stmt, lambda block: substitute_block(block, env))


def substitute_block(block: Block, env: Env) -> Block:
    return with_stmts(
        block,
        [substitute_stmt(stmt, env) for stmt in block.stmts],
        [substitute(operand, env) for operand in block.yields],
    )


def clone(
    stmts: Iterable[Stmt], env: dict[Value, Operand], names: Names, suffix: str = ""
) -> list[Stmt]:
    """Copy `stmts` under fresh names; `env` maps old values to new operands and is extended.

    Reverse code among `stmts` refers to the copies of what is copied with it.
    """
    copied: dict[Value, Value] = {}
    labels: dict[str, str] = {}

    def fresh(value: Value) -> Value:
        new = replace(value, name=names.fresh(value.name + suffix))
        env[value] = copied[value] = new
        return new

    def read(operand: Operand) -> Operand:
        return env.get(operand, operand) if isinstance(operand, Value) else operand

    def copy_block(block: Block) -> Block:
        params = tuple(fresh(param) for param in block.params)
        stmts = tuple(copy(stmt) for stmt in block.stmts)
        return Block(params, stmts, tuple(read(operand) for operand in block.yields))

    def copy(stmt: Stmt) -> Stmt:
        stmt = map_operands(stmt, read)
        if isinstance(stmt, For | Reverse):
            stmt = replace(stmt, index=fresh(stmt.index))
        if isinstance(stmt, For | While | Call):
            labels[stmt.label] = label = names.fresh(stmt.label)
            stmt = replace(stmt, label=label)
        stmt = map_blocks(stmt, copy_block)
        match stmt:
            case Reverse(loop=loop):
                stmt = replace(stmt, loop=labels.get(loop, loop))
            case Call(mirror=mirror):
                stmt = replace(stmt, mirror=labels.get(mirror, mirror))
            case Recall(value=value):
                stmt = replace(stmt, value=copied.get(value, value))
        return with_results(stmt, tuple(fresh(value) for value in stmt.results))

    return [copy(stmt) for stmt in stmts]


def recalling(stmt: Stmt, env: Env) -> Stmt:
    """Return reverse code that recalls other values."""
    if isinstance(stmt, Recall) and isinstance(target := env.get(stmt.value), Value):
        return replace(stmt, value=target)

    def block(found: Block) -> Block:
        return replace(found, stmts=tuple(recalling(s, env) for s in found.stmts))

    return map_blocks(stmt, block)


def map_functions(fn: Function, rewrite: Callable[[Function], Function]) -> Function:
    """Rewrite `fn` and its callees, each by itself."""
    callees = tuple(map(rewrite, fn.callees))
    return replace(rewrite(fn), callees=callees)


class Substituting(Protocol):
    """A rewriting of statements that replaces values as it goes."""

    env: dict[Value, Operand]

    def stmts(self, stmts: Sequence[Stmt]) -> tuple[Stmt, ...]: ...


def rebuilt(fn: Function, make: Callable[[Env | None], Substituting]) -> Function:
    """Rewrite `fn` and its callees, each with a rewriting of its own.

    A function that mirrors another one gets the replacements of the values it recalls; any other
    one gets None.
    """
    envs: dict[str, Env] = {}
    done: dict[str, Function] = {}
    order = sorted((*fn.callees, fn), key=lambda each: bool(each.mirror))
    for each in order:
        rewriting = make(envs[each.mirror] if each.mirror else None)
        body = rewriting.stmts(each.body)
        results = tuple(substitute(operand, rewriting.env) for operand in each.results)
        envs[each.name] = rewriting.env
        done[each.name] = replace(each, body=body, results=results)
    callees = tuple(done[callee.name] for callee in fn.callees)
    return replace(done[fn.name], callees=callees)
