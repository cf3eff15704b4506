"""How much memory a call uses beyond its arguments and results: a formula in sizes and trips.

The function, in its last form, is run on symbols: sizes of arguments are names, loops run once and
count by their trips. What lies in the workspace adds up until an iteration or a call ends; what is
pushed adds up until it is popped. Arrays that a loop hands on from one iteration to the next own
their memory: it is theirs as long as a variable of the emitted code holds them, that is until the
variable is assigned again or the function ends. The formula is the most bytes of the workspace plus
the most of each tape plus the most of such arrays: so much is held, whenever each of them is
fullest. Alignment is left out, and so is that LLVM may hold an array for an iteration longer where
it unrolls a loop.

Where data decides (the iterations of a `while`, how many elements a mask selects), the names of
what decides stay in the formula, and it has no number before a call. Of a branch the arm that needs
more counts: which one is taken is known only at run time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from adc.ir import ops
from adc.ir.analysis.memory.escape import dead_after_yield, dead_values, escaping, holding, stacked
from adc.ir.analysis.memory.owners import Owners, State, Token, copies
from adc.ir.analysis.routines import library_form
from adc.ir.analysis.sizes import formulas
from adc.ir.analysis.sizes.formulas import ONE, ZERO, Sum, dims
from adc.ir.core import (
    Apply,
    Call,
    For,
    Function,
    If,
    Operand,
    Pop,
    Push,
    Stmt,
    Value,
    While,
    walk,
)
from adc.ir.functions import reachable
from adc.ir.ops import arith
from adc.ir.types import Array
from adc.ir.walk import carried_yields, loop_values, use_counts
from adc.passes.memory.peak import counts
from adc.passes.memory.peak.formula import Peak, formula
from adc.passes.memory.peak.needs import (
    Directions,
    Frame,
    Item,
    Machine,
    Need,
    Rounds,
    Sizes,
    added,
    renamed,
    unbounded,
    upto,
    where,
)
from adc.passes.memory.peak.values import Values

# After so many iterations a loop hands on as many arrays as ever.
_ROUNDS = 12
# What is larger after each of so many iterations may grow in all of them.
_GROWS = 5
# What a call to a recursive function needs: its formulas, by what they are of.
_WORK, _OWN = "workspace", "arrays"


@dataclass(frozen=True)
class _Facts:
    """What is known of a function, whatever it is called with."""

    counts: Mapping[Value, int]
    escaping: frozenset[Value]
    # Arrays that are on the stack, and not counted.
    stacked: frozenset[Value]
    # Whose variables may hold arrays.
    held: frozenset[Value]


@dataclass(kw_only=True)
class _Env(Values):
    """What is known of one function, and which variables hold its arrays."""

    fn: Function
    owners: Owners
    facts: _Facts
    # Main results that are the user's from the start.
    results: frozenset[Value] = frozenset()
    # Variables that need not hold their arrays once the next loop has begun.
    entered: tuple[Value, ...] = ()


@dataclass
class _Level:
    """What a function that runs iterations again holds while it calls itself.

    `same` are the results that are cotangents it was passed, changed in place.
    """

    same: frozenset[int]
    work: Sum = ZERO
    own: Sum = ZERO


class _Run:
    """A run of a function on symbols; `need` is what it takes."""

    def __init__(self, fn: Function, align: int, literals: Mapping[int, str]) -> None:
        self._literals = literals
        self._functions = {each.name: each for each in (*fn.callees, fn)}
        self._main = fn.name
        self._align = align
        # What is the same at every call.
        self._facts = {
            name: _Facts(
                use_counts(each),
                escaping(each),
                stacked(each, self._functions.values()),
                holding(each),
            )
            for name, each in self._functions.items()
        }
        self._recursive = {
            name for name in self._functions if name in reachable(self._functions, name)
        }
        self._directions = Directions(self._functions)
        self.need = Need()
        self._owned: dict[Token, Sum] = {}
        self._inside: dict[str, frozenset[str]] = {}
        self._machines: dict[tuple[Sum, ...], Machine] = {}
        self._calls: dict[object, tuple[Need, _Env]] = {}
        # Those of the loops around, None if a loop has none; and the functions that run iterations
        # again, as they are met.
        self._running: list[Machine | None] = []
        self._again: dict[str, _Level] = {}
        self.formulas: dict[str, Sum] = {}
        # What is an offset in a checkpointed loop, and the counters of its parts (`needs.Rounds`).
        self._offsets: dict[Value, Sum] = {}
        self.parts: dict[str, tuple[str, Sum]] = {}
        self.bound = False

    @contextmanager
    def part(self, supply: Sequence[Item] = ()) -> Iterator[Need]:
        """Count what a part of the code needs apart from the rest."""
        outer, self.need = self.need, Need(supply=list(supply))
        yield self.need
        self.need = outer

    def function(self, fn: Function, known: Frame = ()) -> _Env:
        """Run a function; `known` is what is known of its parameters."""
        main = fn.name == self._main
        params = [] if main else [p for p in fn.params if isinstance(p.type, Array)]
        env = _Env(
            prefix="" if main else f"{fn.name}: ",
            literals=self._literals,
            fn=fn,
            owners=Owners(self._owned, params),
            facts=self._facts[fn.name],
        )
        env.receive(fn.params, known)
        running, self._running = self._running, []
        if main:
            made = {v for stmt in fn.body if isinstance(stmt, Apply) for v in stmt.results}
            env.results = frozenset(made.intersection(fn.results))
        self.block(fn.body, env, fn.results)
        self._running = running
        return env

    # -- statements ------------------------------------------------------------------------

    def block(self, stmts: Sequence[Stmt], env: _Env, later: Sequence[Operand]) -> None:
        """Run statements; `later` is read after them."""
        dead = dead_values(stmts, later, env.facts.held)
        for k, (stmt, (entered, after)) in enumerate(zip(stmts, dead, strict=True)):
            env.entered = entered
            match stmt:
                case Apply():
                    self.apply(stmt, env)
                case Push(values=values):
                    sizes = env.sizes(values)
                    self.need.add(None, Item(sizes, env.frame(values)), sizes)
                case Pop(results=results):
                    env.receive(results, self.need.newest.frame)
                    for value in results:
                        if isinstance(value.type, Array):
                            self.made(value, env)
                    self.need.add(env.sizes(results), None, {})
                case If():
                    self.branch(stmt, env)
                case For() | While():
                    self.loop(stmt, env)
                case Call():
                    self.call(stmt, env)
            if stmt is not env.fn.body[-1]:
                env.owners.release(after)
            self.after(stmts, k, env)

    def after(self, stmts: Sequence[Stmt], k: int, env: _Env) -> None:
        """Note what there is after a statement: nothing here, see `course`."""

    def apply(self, stmt: Apply, env: _Env) -> None:
        env.apply(stmt)
        op, result, args = stmt.op, stmt.results[0], stmt.args
        if op is ops.integer.offset:
            self._offsets[result] = env.number(args[1])
        elif op is arith.add and not self._offsets.keys().isdisjoint(args):
            start, count = args if args[0] in self._offsets else args[::-1]
            if isinstance(start, Value) and isinstance(count, Value):
                whole = env.prefix + start.name, self._offsets[start]
                self.parts[env.prefix + count.name] = whole
        if op.aliases == "part":
            env.owners.move([result], [args[0]])
        elif isinstance(result.type, Array):
            given = op.sizes is not None and any(isinstance(arg.type, Array) for arg in args)
            used = env.facts.counts.get(result) and not op.aliases and not given
            if used or op is ops.array.slot:
                self.made(result, env)

    def made(self, array: Value, env: _Env) -> None:
        """Note that an array is made."""
        if array in env.facts.stacked:
            return
        if array not in env.facts.escaping:
            self.need.top = self.need.top + env.bytes(array).rounded(self._align)
            self.need.reach(ZERO)
        elif array not in env.results:
            size = env.bytes(array)
            # The variable holds what it held until this one is there.
            self.need.own = self.need.own.max(env.owners.bytes() + size)
            env.owners.hold(array, size)

    def branch(self, stmt: If, env: _Env) -> None:
        cond = env.condition(stmt.cond)
        before, ends = env.owners.states, list[State]()
        needs: list[Need] = []
        kept = [k for k, result in enumerate(stmt.results) if isinstance(result.type, Array)]
        pops, pushes = moves = self._directions.moves((stmt,))
        supplies = self.need.newest.parts if pops and not pushes else ()
        assumed = env.assumed
        for number, arm in enumerate((stmt.then, stmt.orelse)):
            env.owners.states = copies(before)
            env.assumed = {**assumed, cond: number == 0}
            with self.part(supplies[number] if len(supplies) == 2 else ()) as need:
                self.block(arm.stmts, env, arm.yields)
                env.owners.move([stmt.results[k] for k in kept], [arm.yields[k] for k in kept])
                env.owners.release(dead_after_yield(arm.stmts, arm.yields, env.facts.held))
            needs.append(need)
            ends += env.owners.states
        env.assumed = assumed
        env.choose(cond, stmt)
        env.owners.states = env.owners.distinct(ends)
        self.bound |= len(env.owners.states) > 1
        self.need.add_branch(cond, needs[0], needs[1], moves)

    # -- loops -----------------------------------------------------------------------------

    def loop(self, stmt: For | While, env: _Env) -> None:
        params, yields = stmt.body.params, carried_yields(stmt)
        rounds = self.rounds(stmt, env)
        arrays = [k for k, p in enumerate(params) if isinstance(p.type, Array)]
        for k in arrays:
            env.shapes[params[k]] = env.shape(stmt.init[k])
            env.owners.share(stmt.results[k], params[k])
        machine = self.machine(rounds.trips)
        self._running.append(machine)
        owners = env.owners
        carried, nexts = [params[k] for k in arrays], [yields[k] for k in arrays]
        owners.move(carried, [stmt.init[k] for k in arrays])
        owners.release(env.entered)
        env.entered = ()
        before = copies(owners.states)
        pops, pushes = self._directions.moves(stmt.body.stmts)
        parts = self.need.newest.parts if pops and not pushes else ()
        supply = parts[0] if len(parts) == 1 else ()
        need = self.iteration(stmt, env, supply, 0)
        attempts = itertools.count()
        while self.changes(stmt, rounds, env, grows=next(attempts) >= _GROWS):
            owners.states = copies(before)
            need = self.iteration(stmt, env, supply, 0)
        own, left = need.own, set[Token]()
        seen, ends = [owners.picture(state) for state in before], list[State]()
        for count in range(1, _ROUNDS):
            owners.move(carried, nexts)
            owners.release(dead_after_yield(stmt.body.stmts, stmt.body.yields, env.facts.held))
            for param in carried:
                owners.resize(param, env.bytes(param), lambda size: not rounds.fixed(size))
            for token in owners.others(owners.tokens(carried) | left):
                if not rounds.fixed(owners.sizes[token]):  # that of an iteration before
                    owners.sizes[token] = rounds.most(owners.sizes[token])
                    left.add(token)
            last = rounds.trips.constant == count
            ends = owners.states if last else [*ends, *owners.states]
            pictures = {owners.picture(state): state for state in owners.states}
            new = [state for picture, state in pictures.items() if picture not in seen]
            seen += pictures
            if not new or last:
                break
            owners.states = copies(new)
            need = self.iteration(stmt, env, supply, count)
            self.bound |= not (own - need.own).is_size()
            own = own.max(need.own)
        else:
            own = own.max(env.name(f"{stmt.label}.arrays"))
        self._running.pop()
        owners.states = owners.distinct(ends)
        self.bound |= len(owners.states) > 1 or bool(left)
        for k in arrays:
            result = stmt.results[k]
            env.agree(result, stmt.init[k], params[k], rounds.bound)
            owners.resize(params[k], env.bytes(result), lambda size: not rounds.fixed(size))
        self.need.own = self.need.own.max(rounds.most(own))
        self.bound |= self.need.add_loop(need, rounds, machine)
        for param, result in zip(params, stmt.results, strict=True):
            if param in env.numbers and result not in env.numbers:  # a count: see `counts`
                env.numbers[result] = renamed(env.numbers[param], env.prefix + result.name)

    def iteration(self, stmt: For | While, env: _Env, supply: Sequence[Item], number: int) -> Need:
        """Run an iteration, up to where carried values are assigned, and return what it needs.

        The first ones have the numbers 0, 1, …; later ones are like the last of these.
        """
        with self.part(supply) as need:
            self.block(stmt.body.stmts, env, stmt.body.yields)
        return need

    def changes(self, stmt: For | While, rounds: Rounds, env: _Env, grows: bool) -> bool:
        """Tell carried values apart from what they begin with, where an iteration has changed them.

        Arrays get sizes of their own, and numbers what they are at most. What still `grows` may
        grow in every iteration: nothing is known of it.
        """
        carried = list(zip(stmt.body.params, stmt.init, carried_yields(stmt), strict=True))
        changed = False
        for param, init, after in carried if isinstance(stmt, For) else ():
            if param.type.kind in "iu" and not isinstance(param.type, Array):
                changed |= env.count(param, init, after, rounds, grows=grows)
        if changed:
            return True  # arrays have other sizes in the next round
        for param, _, after in carried:
            if isinstance(param.type, Array):
                known = env.shape(param)
                env.agree(param, param, after, rounds.bound)
                if grows and env.shape(param) != known:
                    env.shapes[param] = known
                    env.agree(param, param, after, unbounded)
                changed |= env.shape(param) != known
        return changed

    def rounds(self, stmt: For | While, env: _Env) -> Rounds:
        label = env.prefix + stmt.label
        if label not in self._inside:
            found: set[str] = set()
            for each in walk(stmt.body.stmts):
                if isinstance(each, For | While | Call):
                    found |= {env.prefix + each.label, f"{env.prefix}{each.label}.n"}
            for value in loop_values(stmt):
                name = env.prefix + value.name
                found.update((name, *dims(name, value.type)))
            self._inside[label] = frozenset(found)
        inside = self._inside[label]
        if isinstance(stmt, While):
            name = env.prefix + f"{stmt.label}.n"
            most = counts.limit(stmt, env.number)
            trips = Sum.atom(name) if most is None else upto(most, name)
            if (counted := counts.counter_of(stmt)) is not None:
                env.numbers[counted] = trips
            return Rounds(label, "", trips, inside, {})
        index, trips = env.prefix + stmt.index.name, env.number(stmt.trips)
        return Rounds(label, index, trips, inside, self.parts)

    def machine(self, trips: Sum) -> Machine | None:
        """Return the schedule that so many iterations belong to, if they do."""
        atom = trips.terms[0][0] if len(trips.terms) == 1 and trips.terms[0][1] == 1 else ()
        if len(atom) == 1 and isinstance(atom[0], formulas.Function):
            if atom[0].kind in ("sweeps", "rest"):
                return self._machines.setdefault(atom[0].args, Machine(atom[0].args))
        return None

    # -- calls -----------------------------------------------------------------------------

    def call(self, stmt: Call, env: _Env) -> None:
        fn = self._functions[stmt.callee]
        schedule = _schedule(fn) if fn.name in self._recursive else None
        if schedule is not None:
            self.again(stmt, fn, schedule, env)
            return
        if fn.name in self._recursive:
            self.recursion(stmt, fn, env)
            return
        pops, pushes, _ = self._directions[fn.name]
        parts = self.need.newest.parts if pops and not pushes else ()
        need, inner = self.callee(fn, env.frame(stmt.args), parts[0] if len(parts) == 1 else ())

        def seen(size: Sum) -> bool:
            return not any(name.startswith(inner.prefix) for name in size.names)

        def outside(size: Sum) -> Sum:
            if seen(size):
                return size
            return Sum.atom(formulas.Function("call", (size,), env.prefix + stmt.label, fn.name))

        def every(sizes: Sizes) -> Sizes:
            return {d: outside(size) for d, size in sizes.items()}

        here = self.need
        here.reach(outside(need.work))
        here.own = here.own.max(env.owners.bytes() + outside(need.own))
        kept = () if need.taken else (tuple(item.where(seen) for item in need.stack),)
        pushed = Item(every(need.pushed()), (), kept)
        here.add(
            every(added(need.taken)) if need.taken else None,
            pushed if need.stack else None,
            every(need.most),
        )
        env.receive(stmt.results, where(inner.frame(fn.results), seen))
        self.received(stmt, fn, inner, env)

    def callee(self, fn: Function, known: Frame, supply: Sequence[Item]) -> tuple[Need, _Env]:
        """Run a function that is called, unless the same call was run before."""
        key = fn.name, known, tuple(item.key for item in supply)
        if key not in self._calls:
            with self.part(supply) as need:
                self._calls[key] = need, self.function(fn, known)
        return self._calls[key]

    def again(self, stmt: Call, fn: Function, schedule: Apply, env: _Env) -> None:
        """Count the call of a function that runs iterations of a checkpointed loop again.

        What it puts on the tapes, its schedule tells, and how often it calls itself.
        """
        here = self.need
        own = env.owners.bytes()
        # Cotangents come last among the parameters, and go out as they came in.
        cts = len(stmt.args) - len(stmt.results)
        if fn.name not in self._again:
            same = {k for k, v in enumerate(stmt.results) if isinstance(v.type, Array)}
            before: set[int] | None = None
            while before != same:
                before, level = set(same), _Level(frozenset(same))
                self._again[fn.name] = level
                with self.part() as need:
                    inner = self.function(fn, env.frame(stmt.args))
                same = {
                    k
                    for k in same
                    for found in [inner.owners.tokens_of(fn.results[k])]
                    if found == {fn.params[cts + k]}
                }
            del self._again[fn.name]
            args = tuple(inner.number(arg) for arg in schedule.args)
            running = self._running[-1] if self._running else None
            if running is not None:
                # The function may keep more of an iteration than the loop that it runs again.
                if (later := self._machines.get(args)) not in (None, running):
                    assert later is not None
                    running.join(later)
                waiting = (Sum.function("depth", *running.args) - ONE).count()
            else:  # how many iterations are reversed is known only at run time
                waiting = Sum.function("levels", *args[1:])
                here.add(None, None, self._machines[args].fullest())
                self.bound = True
            here.reach(need.work + waiting * level.work)
            here.own = here.own.max(own + need.own + waiting * level.own)
        else:
            level = self._again[fn.name]
            level.work, level.own = level.work.max(here.top), level.own.max(own)
        for k, result in enumerate(stmt.results):
            if not isinstance(result.type, Array):
                continue
            ct = stmt.args[cts + k]
            env.shapes[result] = env.shape(ct)
            if k in level.same:
                env.owners.move([result], [ct])
            else:
                env.owners.hold(result, env.bytes(result))

    def received(self, stmt: Call, fn: Function, inner: _Env, env: _Env) -> None:
        """Let variables hold what a call returns: what it was passed, or arrays of its own."""
        pairs = [
            (result, own)
            for result, own in zip(stmt.results, fn.results, strict=True)
            if isinstance(result.type, Array)
        ]
        found: list[State] = []
        for end in inner.owners.states:
            for state in copies(env.owners.states):
                for result, own in pairs:
                    token = inner.owners.held(end, own)
                    if token in fn.params:
                        assert isinstance(token, Value)
                        token = env.owners.held(state, stmt.args[fn.params.index(token)])
                    elif token is not None:
                        self._owned[token] = env.bytes(result)
                    env.owners.put(state, result, token)
                found.append(state)
        env.owners.states = env.owners.distinct(found)

    def recursion(self, stmt: Call, fn: Function, env: _Env) -> None:
        """Count the call of a function that may call itself: how deep, only the run knows."""
        self.summarize(fn)
        label = env.prefix + stmt.label

        def formula(of: str) -> Sum:
            return Sum.atom(formulas.Function("recursion", (), label, fn.name, of))

        here = self.need
        here.reach(formula(_WORK))
        here.own = here.own.max(env.owners.bytes() + formula(_OWN))
        pops, pushes, used = self._directions[fn.name]
        here.add(
            {d: formula(f"popped {d}") for d in sorted(used)} if pops else None,
            Item({d: formula(f"pushed {d}") for d in sorted(used)}) if pushes else None,
            {d: formula(f"most {d}") for d in sorted(used)},
        )
        for result in stmt.results:
            if isinstance(result.type, Array):
                env.owners.hold(result, env.bytes(result))
                self.bound = True  # it may be one that it was passed

    def summarize(self, fn: Function) -> None:
        """Find the formulas of a recursive function, in names of its own."""
        if f"{fn.name} {_WORK}" in self.formulas:
            return
        self.formulas[f"{fn.name} {_WORK}"] = ZERO  # is being found
        with self.part() as need:
            self.function(fn)
        found = {_WORK: need.work, _OWN: need.own}
        for dtype in sorted(self._directions[fn.name][2]):
            found[f"most {dtype}"] = need.most.get(dtype, ZERO)
            found[f"pushed {dtype}"] = need.pushed().get(dtype, ZERO)
            found[f"popped {dtype}"] = added(need.taken).get(dtype, ZERO)
        for of, size in found.items():
            self.formulas[f"{fn.name} {of}"] = size


def _schedule(fn: Function) -> Apply | None:
    """Return the schedule of a function that runs iterations again, None if it is no such."""
    for stmt in fn.body:
        # The room is handed down, where a loop of a recursive function has one of its own.
        if isinstance(stmt, Apply) and stmt.op is ops.integer.sweeps and stmt.args[1] in fn.params:
            return stmt
    return None


def _known(size: int | Sequence[int] | None) -> Sum | tuple[Sum, ...] | None:
    if size is None or isinstance(size, int):
        return None if size is None else Sum.number(size)
    return tuple(map(Sum.number, size))


def peak(
    fn: Function,
    align: int = 1,
    sizes: Mapping[str, int | Sequence[int]] | None = None,
    numbers: Mapping[int, str] | None = None,
    offload: bool = False,
) -> Peak:
    """Return how much memory a call of `fn`, which is in its last form, uses.

    Arrays in the workspace take multiples of `align` bytes. If the `sizes` of the arguments are
    given, by parameter, the formula is one for these alone: more of it is known. In it, `numbers`
    of the code have names. With `offload`, tapes are in files and take no memory.
    """
    fn = library_form(fn)
    run = _Run(fn, align, numbers or {})
    given = [(sizes or {}).get(param.name) for param in fn.params]
    env = run.function(fn, tuple(map(_known, given)))
    need = run.need
    size, own = need.work, need.own
    state = env.owners.states[0]
    for token in {env.owners.held(state, result): result for result in fn.results}:
        own = own - env.owners.sizes.get(token, ZERO)  # the user's
    taped = sum(need.most.values(), start=ZERO)
    if not offload:
        size, taped = size + taped, ZERO
    tapes = tuple((dtype, size) for dtype, size in sorted(need.most.items()))
    parts = {name for name, _ in run.parts.values()}
    whole = size + own
    bound = run.bound or "upto" in whole.kinds or not parts.isdisjoint(whole.names)
    return formula(fn, size, own, bound, tuple(run.formulas.items()), tapes, taped)
