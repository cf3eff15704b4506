"""`map`, `filter` and generators, which are lazy; and `next`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from adc.frontend.control import blocks, evaluation
from adc.frontend.core import closures, dispatch
from adc.frontend.core.bindings import (
    NONE,
    ArrayRef,
    Binding,
    FlatRef,
    ListRef,
    Num,
    Range,
    Static,
    Unstable,
    Zip,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages import refusals
from adc.frontend.core.names import read_name
from adc.frontend.core.structure import leaves
from adc.frontend.language import breaks, generators
from adc.frontend.syntax import scope
from adc.frontend.syntax.steps import yields
from adc.frontend.values import (
    elementwise,
    sequences,
)
from adc.ir.errors import AdcError, TypeMismatchError, UnboundError

_Node = TypeVar("_Node", bound=ast.AST)


def refused(lo: Lowerer, args: Any, kwargs: Any, node: ast.Call) -> Binding:
    """Refuse ``functions[0](f, x)`` where that is `map`: a call by name is a generator."""
    raise lo.unsupported(
        f"`{ast.unparse(node.func)}` here", node, "write `map` or `filter` in the call"
    )


def is_drawn(lo: Lowerer, node: ast.expr) -> bool:
    """Whether an expression is a call of `map` or `filter`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    return evaluation.lower_expr(lo, node.func) in (Static(map), Static(filter))


def require_lasting(lo: Lowerer, node: ast.expr, value: Binding | None = None) -> None:
    """Refuse to store an iterator of any kind: a second use would be empty."""
    refusals.require_lasting(lo, node, value)
    require_undrawn(lo, node)


def require_fresh(lo: Lowerer, node: ast.expr, value: Binding) -> None:
    """Refuse to iterate over the `flat` of an array by a name: a second loop would be empty."""
    if isinstance(value, FlatRef) and isinstance(node, ast.Name) and node.id.isidentifier():
        raise lo.unsupported(
            "iterating over a variable that is the `flat` of an array", node,
            "iterate over `.flat` where it is created, or over `.ravel()`",
        )  # fmt: skip


def require_undrawn(lo: Lowerer, node: ast.expr) -> None:
    """Refuse to store what `map` or `filter` returns: a second use would be empty."""
    if isinstance(node, ast.IfExp):
        require_undrawn(lo, node.body)
        require_undrawn(lo, node.orelse)
    elif is_drawn(lo, node):
        raise lo.unsupported(
            f"storing the iterator of `{ast.unparse(node.func)}`", node,  # type: ignore[attr-defined]
            "iterate over it where it is created, or store a list: `list(…)`",
        )  # fmt: skip


def generator(lo: Lowerer, node: ast.Call) -> ast.GeneratorExp:
    """Return ``(f(a, b) for a, b in …)`` for ``map(f, …)``; the iterables are named."""
    name = f"${node.func.id}{node.lineno}_{node.col_offset}"  # type: ignore[attr-defined]
    given = _arguments(lo, node)
    mapped = evaluation.lower_expr(lo, node.func) == Static(map)
    if len(given) < 2 or (not mapped and len(given) != 2) or node.keywords:
        raise TypeMismatchError(
            f"{ast.unparse(node.func)}() takes a function and at least one iterable", lo.span(node)
        )
    fn, inners = given[0], [elementwise.materialised(lo, inner, node) for inner in given[1:]]
    lo.frame.env[name] = inners[0] if len(inners) == 1 else Zip(tuple(inners))
    lo.frame.env[f"{name}.f"] = fn
    key = ("generator", id(node), len(inners), fn == NONE)
    if key not in lo.memo:
        lo.memo[key] = _made(node, name, len(inners), mapped, fn == NONE)
    return lo.memo[key]  # type: ignore[no-any-return]


def _arguments(lo: Lowerer, node: ast.Call) -> list[Binding]:
    found: list[Binding] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            found += sequences.static_sequence(lo, generators.starred(lo, arg), arg)
        else:
            found.append(dispatch.evaluate(lo, arg))
    return found


def _made(node: ast.Call, name: str, count: int, mapped: bool, truth: bool) -> ast.GeneratorExp:
    items = [f"{name}.{k}" for k in range(count)]
    read: list[ast.expr] = [ast.Name(item, ast.Load()) for item in items]
    targets: list[ast.expr] = [ast.Name(item, ast.Store()) for item in items]
    target = targets[0] if count == 1 else ast.Tuple(targets, ast.Store())
    fn = ast.copy_location(ast.Name(f"{name}.f", ast.Load()), node.args[0])
    applied: ast.expr = read[0] if truth else ast.Call(fn, read, [])
    loop = ast.comprehension(target, ast.Name(name, ast.Load()), [], 0)
    if not mapped:
        loop.ifs.append(applied)
    made = ast.GeneratorExp(applied if mapped else read[0], [loop])
    return _located(made, node)


def loop(lo: Lowerer, stmt: ast.For) -> ast.For:
    """Return the loop over the iterables of ``map`` or ``filter``, with the calls inside."""
    assert isinstance(stmt.iter, ast.Call)
    drawn = generator(lo, stmt.iter)
    key = ("loop", id(stmt), id(drawn))
    if key not in lo.memo:
        (part,) = drawn.generators
        bound: ast.stmt = ast.Assign([stmt.target], drawn.elt)
        body = [ast.copy_location(bound, stmt.iter), *stmt.body]
        if part.ifs:
            body = [ast.copy_location(ast.If(part.ifs[0], body, []), stmt.iter)]
        made = ast.For(part.target, part.iter, body, stmt.orelse)
        lo.memo[key] = ast.copy_location(made, stmt)
    return lo.memo[key]  # type: ignore[no-any-return]


def inlined(lo: Lowerer, stmt: ast.For) -> ast.For | None:
    """Return ``for v in x: w = f(v); …`` for ``for w in (f(v) for v in x): …``.

    So what the loop changes is seen by the elements that follow. Generators may be zipped or
    numbered. None where there is no generator, or it cannot be taken apart: see `Watch`.
    """
    if not lazy_parts(lo, stmt.iter):
        return None
    if not isinstance(stmt.iter, ast.GeneratorExp):
        parts = _taken_apart(lo, stmt.iter)
        if parts is None:
            return None
        target, source, value = parts
        key = ("inlined", id(stmt), ast.dump(source), ast.dump(value))
        if key not in lo.memo:
            body = [ast.Assign([stmt.target], value), *stmt.body]
            lo.memo[key] = stmt, _at_loop(ast.For(target, source, body, stmt.orelse), stmt)
    else:
        key = ("inlined", id(stmt), "", "")
        if key not in lo.memo:
            lo.memo[key] = stmt, _loops(stmt, stmt.iter)
    return lo.memo[key][1]  # type: ignore[no-any-return]


def lazy_parts(lo: Lowerer, node: ast.expr) -> list[ast.expr]:
    """Return the generators, and calls of `map` and `filter`, that a loop draws elements from."""
    if isinstance(node, ast.GeneratorExp) or is_drawn(lo, node):
        return [node]
    if isinstance(node, ast.Call) and _is_one_of(lo, node.func, (zip, enumerate)):
        return [part for arg in node.args for part in lazy_parts(lo, arg)]
    return []


def _objects(lo: Lowerer, node: ast.expr) -> list[ast.expr]:
    """Return the objects whose elements `zip` and `enumerate` take before the loop."""
    if not (isinstance(node, ast.Call) and _is_one_of(lo, node.func, (zip, enumerate))):
        return []
    found = [arg for arg in node.args if generators.is_held(lo, arg)]
    return found + [each for arg in node.args for each in _objects(lo, arg)]


def _is_one_of(lo: Lowerer, node: ast.expr, functions: Sequence[Any]) -> bool:
    if not isinstance(node, ast.Name) or node.id not in {each.__name__ for each in functions}:
        return False
    callee = dispatch.evaluate(lo, node)
    return any(callee == Static(each) for each in functions)


def _taken_apart(lo: Lowerer, node: ast.expr) -> tuple[ast.expr, ast.expr, ast.expr] | None:
    """Return the target of a loop, what it draws from, and what its elements are then."""
    place = f"{node.lineno}_{node.col_offset}"
    if isinstance(node, ast.Call) and is_drawn(lo, node):
        node = generator(lo, node)
    if isinstance(node, ast.GeneratorExp):
        renamed = _own_names(node)
        (first, *rest) = node.generators
        if renamed is None or rest or first.ifs or first.is_async:
            return None
        return renamed(first.target), first.iter, renamed(node.elt)
    if not isinstance(node, ast.Call) or not _is_one_of(lo, node.func, (zip, enumerate)):
        name = f"$item{place}"
        return ast.Name(name, ast.Store()), node, ast.Name(name, ast.Load())
    numbered = isinstance(node.func, ast.Name) and node.func.id == "enumerate"
    given = node.args[:1] if numbered else node.args
    if not given or any(isinstance(arg, ast.Starred) for arg in node.args):
        return None
    parts = [_taken_apart(lo, arg) for arg in given]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    targets, sources, values = map(list, zip(*known, strict=True))
    if numbered:
        name = f"$number{place}"
        targets.insert(0, ast.Name(name, ast.Store()))
        values.insert(0, ast.Name(name, ast.Load()))
    call = ast.Call(node.func, [*sources, *node.args[len(given) :]], node.keywords)
    return ast.Tuple(targets, ast.Store()), call, ast.Tuple(values, ast.Load())


def _own_names(node: ast.GeneratorExp) -> Callable[[ast.expr], ast.expr] | None:
    """Return what gives the variables of a generator other names, if no function has them."""
    bound = scope.assigned_in([part.target for part in node.generators])
    functions = [each for each in ast.walk(node) if isinstance(each, ast.Lambda)]
    inside = [each for function in functions for each in ast.walk(function)]
    names = {each.id for each in inside if isinstance(each, ast.Name)}
    names |= {each.arg for each in inside if isinstance(each, ast.arg)}
    if names.intersection(bound):
        return None
    place = f"$generator{node.lineno}_{node.col_offset}"
    apart = _Renamed({name: f"{place}.{name}" for name in bound})

    def renamed(expr: ast.expr) -> ast.expr:
        found: ast.expr = apart.visit(copy.deepcopy(expr))
        return found

    return renamed


def nested(lo: Lowerer, part: ast.comprehension) -> list[ast.comprehension] | None:
    """Return ``for w in x for v in (f(w),)`` for ``for v in (f(w) for w in x)``, or None.

    So an element is computed when it is drawn.
    """
    if not isinstance(part.iter, ast.GeneratorExp):
        return None
    key = ("nested", id(part))
    if key not in lo.memo:
        lo.memo[key] = part, _nested(part, part.iter)
    return lo.memo[key][1]  # type: ignore[no-any-return]


def _nested(part: ast.comprehension, node: ast.GeneratorExp) -> list[ast.comprehension] | None:
    renamed = _own_names(node)
    if renamed is None or any(each.is_async for each in node.generators):
        return None
    inner = [
        ast.comprehension(
            renamed(each.target), renamed(each.iter) if k else each.iter,
            [renamed(test) for test in each.ifs], 0,
        )
        for k, each in enumerate(node.generators)
    ]  # fmt: skip
    one = ast.copy_location(ast.Tuple([renamed(node.elt)], ast.Load()), node.elt)
    return [*inner, ast.comprehension(part.target, one, part.ifs, 0)]


def _loops(stmt: ast.For, node: ast.GeneratorExp) -> ast.For | None:
    renamed = _own_names(node)
    if renamed is None or any(part.is_async for part in node.generators):
        return None
    breaks = scope.has_break(stmt.body)
    body: list[ast.stmt] = [ast.Assign([stmt.target], renamed(node.elt)), *stmt.body]
    for k, part in reversed([*enumerate(node.generators)]):
        for test in reversed(part.ifs):
            body = [ast.If(renamed(test), body, [])]
        loop = ast.For(renamed(part.target), renamed(part.iter) if k else part.iter, body, [])
        body = [loop]
        if k and breaks:  # which leave the loops around it, too
            loop.orelse = [ast.Continue()]
            body.append(ast.Break())
    loop.orelse = stmt.orelse
    return _at_loop(loop, stmt)


def _at_loop(made: ast.For, stmt: ast.For) -> ast.For:
    """Give a loop the place of another one, and what is new in it that of what this draws from."""
    return ast.copy_location(_located(made, stmt.iter), stmt)


def _located(made: _Node, at: ast.AST) -> _Node:
    """Give the nodes of a tree that have no place that of another node."""
    for each in ast.walk(made):
        if not hasattr(each, "lineno"):
            ast.copy_location(each, at)
    return made


def _read(node: ast.AST) -> set[str]:
    """Return the names that an expression reads from outside of its functions and generators."""
    names = {each for inner in ast.iter_child_nodes(node) for each in _read(inner)}
    match node:
        case ast.Name(id=name):
            return {name}
        case ast.Lambda(args=args):
            return names - {each.arg for each in ast.walk(args) if isinstance(each, ast.arg)}
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            own = scope.assigned_in([part.target for part in node.generators])
            return (names - set(own)) | _read(node.generators[0].iter)
    return names


class Watch:
    """What generators and objects read that are evaluated before the loop that draws from them.

    Python evaluates each element when the loop comes to it. That is the same if the loop changes
    nothing of what they read.
    """

    def __init__(self, lo: Lowerer, node: ast.expr) -> None:
        self._lo, self._node = lo, node
        parts = lazy_parts(lo, node) + _objects(lo, node)
        self._names = set[str]().union(*map(_read, parts))
        self._before = self._state() if parts else None

    def _state(self) -> tuple[Any, ...]:
        env = self._lo.frame.env
        bindings = {name: env[name] for name in sorted(self._names) if name in env}
        held = closures.reachable(self._lo, bindings.values())
        # Those of functions are the variables that they read.
        found = [leaf for each in (*bindings.values(), *held.values()) for leaf in leaves(each)]
        objects = [leaf.object for leaf in found if isinstance(leaf, ArrayRef)]
        return bindings, held, found, [self._lo.versions.get(each) for each in objects]

    def end(self) -> None:
        """Raise an error if the loop has changed something."""
        if self._before is not None and self._before != self._state():
            raise self._lo.unsupported(
                "a loop that changes what a generator reads from which it draws", self._node,
                "write the loop that the generator stands for, or make a list of it first",
            )  # fmt: skip


class _Renamed(ast.NodeTransformer):
    """Gives variables other names."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        made = ast.Name(self._names.get(node.id, node.id), node.ctx)
        return ast.copy_location(made, node)


# -- iterators in variables ------------------------------------------------------------------------

_LAZY = (zip, enumerate, reversed, map, filter, iter)


@dispatch.rewrites
def suspended(lo: Lowerer, stmt: ast.stmt, rest: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    """Lower the assignment of an iterator to a name; return what follows, with it in its place.

    ``g = (f(v) for v in x)`` and later ``sum(g)`` become ``$g = x`` and ``sum(f(v) for v in $g)``,
    as Python evaluates them, if that is the one place where the name is read, and runs once.
    """
    if not isinstance(stmt, ast.Assign) or len(stmt.targets) != 1:
        return None
    (target,) = stmt.targets
    if not isinstance(target, ast.Name) or not isinstance(stmt.value, ast.GeneratorExp | ast.Call):
        return None
    if not _is_iterator(lo, stmt.value) or _is_guarded(lo, stmt.value):
        return None
    if not _is_read_once(rest, target.id):
        return _drawn_from(lo, stmt, stmt.value, target.id, rest)
    if isinstance(stmt.value, ast.Call) and _is_one_of(lo, stmt.value.func, (iter,)):
        if _is_stepped(rest, target.id):
            return None  # an object of its own, where what it goes over can be indexed
    found = _in_place(lo, stmt.value)
    key = ("suspended", id(stmt), *map(id, rest))
    if key not in lo.memo:
        replace_ = _Replace(target.id, found)
        lo.memo[key] = (rest, [replace_.visit(copy.deepcopy(each)) for each in rest])
    lo.frame.env[target.id] = Unstable("is an iterator, which can be consumed once", lo.span(stmt))
    return list(lo.memo[key][1])


def _drawn_from(
    lo: Lowerer, stmt: ast.Assign, value: ast.expr, name: str, rest: Sequence[ast.stmt]
) -> list[ast.stmt] | None:
    """Lower the assignment of a generator that several places draw from; return what follows.

    ``g = (f(v) for v in x)`` becomes ``$g = iter(x)``, and `g` is ``(f(v) for v in $g)`` wherever
    it is read: what is drawn there is gone from `$g`. ``next(g)`` is there
    ``(lambda v: f(v))(next($g))``. An exception that ends the generator would not be noticed, so
    nothing that follows may catch one.
    """
    if not isinstance(value, ast.GeneratorExp) or len(value.generators) != 1:
        return None
    (part,) = value.generators
    nodes = [node for each in rest for node in ast.walk(each)]
    reads = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    if not reads or any(not isinstance(node.ctx, ast.Load) for node in reads):
        return None
    if _is_iterator(lo, part.iter) or any(isinstance(node, _CATCHES) for node in nodes):
        return None
    if len(_draws(nodes, name)) != len(reads) or part.ifs or not isinstance(part.target, ast.Name):
        return None
    builtin = {"iter": iter, "next": next}
    if any(
        dispatch.evaluate(lo, ast.copy_location(ast.Name(each, ast.Load()), stmt)) != Static(fn)
        for each, fn in builtin.items()
    ):
        return None
    over = _named(lo, part.iter)
    if not isinstance(over, ast.Name) or not _has_no_none(lo, lo.frame.env[over.id], part.iter):
        return None
    drawn = f"$drawn{stmt.lineno}_{stmt.col_offset}"
    key = ("drawn", id(stmt), *map(id, rest))
    if key not in lo.memo:
        made = copy.copy(value)
        made.generators = [copy.copy(part)]
        made.generators[0].iter = ast.copy_location(ast.Name(drawn, ast.Load()), part.iter)
        replace_ = _ReplaceDrawn(name, made, drawn)
        begun = ast.Assign(
            [ast.Name(drawn, ast.Store())], ast.Call(ast.Name("iter", ast.Load()), [over], [])
        )
        after = [_located(begun, stmt), *(replace_.visit(copy.deepcopy(each)) for each in rest)]
        lo.memo[key] = rest, after
    lo.frame.env[name] = Unstable("is an iterator, which can be consumed once", lo.span(stmt))
    return list(lo.memo[key][1])


# What may catch an exception, or run later than where it stands.
_CATCHES = (ast.Try, ast.With, ast.FunctionDef, ast.Lambda, ast.ClassDef)


def _draws(nodes: Sequence[ast.AST], name: str) -> list[ast.AST]:
    """Return where an iterator is drawn from: by `next`, by a loop, or by a function of it."""
    found: list[ast.AST | None] = []
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="next" | "sum" | "list" | "tuple"), args=[first, *_]):
                found.append(first)
            case ast.For(iter=first):
                found.append(first)
    return [each for each in found if isinstance(each, ast.Name) and each.id == name]


def _is_stepped(stmts: Sequence[ast.stmt], name: str) -> bool:
    """Whether `next` takes an element of an iterator."""
    calls = (each for stmt in stmts for each in ast.walk(stmt) if isinstance(each, ast.Call))
    return any(
        isinstance(each.func, ast.Name) and each.func.id == "next"
        and any(isinstance(arg, ast.Name) and arg.id == name for arg in each.args)
        for each in calls
    )  # fmt: skip


def _is_iterator(lo: Lowerer, node: ast.expr) -> bool:
    """Whether an expression is an iterator that a name in its place would stand for."""
    if isinstance(node, ast.GeneratorExp):
        return True
    if not isinstance(node, ast.Call) or any(isinstance(arg, ast.Starred) for arg in node.args):
        return False
    if any(keyword.arg is None for keyword in node.keywords):
        return False
    if isinstance(node.func, ast.Name) and node.func.id in {each.__name__ for each in _LAZY}:
        callee = dispatch.evaluate(lo, node.func)
        if any(callee == Static(each) for each in _LAZY):
            return bool(node.args) and (node.func.id != "iter" or len(node.args) == 1)
    return generators.called(lo, node) is not None


def _is_guarded(lo: Lowerer, node: ast.expr) -> bool:
    """Whether an expression is a generator with `finally`, which ends when its name is gone.

    Or has one in it.
    """
    for call in ast.walk(node):
        try:
            found = generators.called(lo, call) if isinstance(call, ast.Call) else None
        except AdcError:
            continue
        inside = [] if found is None else ast.walk(found.node)
        if any(isinstance(each, ast.Try) and yields(each) for each in inside):
            return True
    return False


def _in_place(lo: Lowerer, node: ast.expr) -> ast.expr:
    """Evaluate what Python evaluates where an iterator is made; return the rest."""
    made = copy.copy(node)
    if isinstance(made, ast.GeneratorExp):
        first = copy.copy(made.generators[0])
        first.iter = _in_place(lo, first.iter) if _is_iterator(lo, first.iter) else (
            _named(lo, first.iter)
        )  # fmt: skip
        made.generators = [first, *made.generators[1:]]
        return made
    assert isinstance(made, ast.Call)
    stores = generators.stores(lo, made)
    made.args = [
        _in_place(lo, arg) if _is_iterator(lo, arg) else _named(lo, arg, copies=stores)
        for arg in made.args
    ]
    made.keywords = [
        ast.copy_location(ast.keyword(each.arg, _named(lo, each.value)), each)
        for each in made.keywords
    ]
    is_iter = isinstance(made.func, ast.Name) and made.func.id == "iter"
    return made.args[0] if is_iter else made


def _named(lo: Lowerer, node: ast.expr, *, copies: bool = False) -> ast.expr:
    """Evaluate an expression now; return a name for it, or for a copy of a list or vector."""
    if isinstance(node, ast.Constant | ast.Lambda):
        return node
    name = f"$now{node.lineno}_{node.col_offset}"
    found = evaluation.lower_expr(lo, node)
    lo.frame.env[name] = generators.copied(lo, found, node) if copies else found
    return ast.copy_location(ast.Name(name, ast.Load()), node)


class _Replace(ast.NodeTransformer):
    """Puts an expression in the place of a name."""

    def __init__(self, name: str, found: ast.expr) -> None:
        self._name, self._found = name, found

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._found if node.id == self._name else node


class _ReplaceDrawn(_Replace):
    """Puts a generator in the place of a name, and what it yields in that of `next`."""

    def __init__(self, name: str, found: ast.GeneratorExp, drawn: str) -> None:
        super().__init__(name, found)
        self._drawn, self._yielded = drawn, found

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(
                func=ast.Name(id="next"), args=[ast.Name(id=name), *default], keywords=[]
            ):
                if name != self._name:
                    return self.generic_visit(node)  # type: ignore[return-value]  # an expression
            case _:
                return self.generic_visit(node)  # type: ignore[return-value]
        target = self._yielded.generators[0].target
        assert isinstance(target, ast.Name)
        given = ast.Name(self._drawn, ast.Load())
        elt, names = self._yielded.elt, [ast.arg(target.id)]
        others = [self.visit(each) for each in default]
        if others:
            # What the iterator goes over has no None.
            ended = ast.Compare(ast.Name(target.id, ast.Load()), [ast.Is()], [ast.Constant(None)])
            elt = ast.IfExp(ended, ast.Name("$default", ast.Load()), elt)
            names.insert(0, ast.arg("$default"))
        taken = ast.Call(node.func, [given, *([ast.Constant(None)] if others else [])], [])
        spec = ast.arguments([], names, None, [], [], None, [])
        return _located(ast.Call(ast.Lambda(spec, elt), [*others, taken], []), node)


def _has_no_none(lo: Lowerer, iterable: Binding, node: ast.expr) -> bool:
    """Whether what is iterated over has, and will have, numbers and arrays only."""
    if isinstance(iterable, ArrayRef | Range):
        return True
    if isinstance(iterable, ListRef) and not isinstance(node, ast.List):
        return False
    items = sequences.static_items(lo, iterable)
    return items is not None and all(isinstance(each, Num | ArrayRef) for each in items)


def _is_read_once(rest: Sequence[ast.stmt], name: str) -> bool:
    """Whether statements read a name in one place, which runs at most once, and bind it nowhere."""
    nodes = (node for each in rest for node in ast.walk(each))
    places = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    if len(places) != 1 or not isinstance(places[0].ctx, ast.Load):
        return False
    return any(_runs_once(each, places[0]) for each in rest)


def _runs_once(node: ast.AST, place: ast.AST) -> bool:
    """Whether an expression is inside of a node, where it is evaluated once as the node is."""
    if node is place:
        return True
    inside: Iterable[ast.AST] = ast.iter_child_nodes(node)
    match node:
        case ast.For(iter=first):
            inside = [first, *node.orelse]
        case ast.While(orelse=orelse):
            inside = orelse
        case ast.ListComp() | ast.GeneratorExp() | ast.DictComp() | ast.SetComp():
            inside = [node.generators[0].iter]
        case ast.Lambda() | ast.FunctionDef() | ast.ClassDef():
            inside = []
    return any(_runs_once(each, place) for each in inside)


# -- next ------------------------------------------------------------------------------------------


def first(lo: Lowerer, node: ast.Call) -> Binding | None:
    """Lower ``next(v for v in x if v > 0.0)``: a loop that its first iteration leaves.

    None for an iterator that others may draw from, too.
    """
    if node.keywords or not 1 <= len(node.args) <= 2 or isinstance(node.args[0], generators.HELD):
        return None
    if not _is_iterator(lo, node.args[0]):
        return None
    name = f"{breaks.NEXT}{node.lineno}_{node.col_offset}"
    key = ("next", id(node))
    if key not in lo.memo:
        found, default = ast.Name(name, ast.Store()), ast.Name(f"{name}.default", ast.Load())
        end: ast.stmt = ast.Assign([found], default)
        if len(node.args) == 1:
            end = ast.Raise(ast.Name("StopIteration", ast.Load()))
        source: ast.expr = node.args[0]
        while isinstance(source, ast.Call) and _is_one_of(lo, source.func, (iter,)):
            source = source.args[0]
        lo.memo[key] = node, _located(ast.For(found, source, [ast.Break()], [end]), node)
    env = lo.frame.env
    if len(node.args) == 2:
        env[f"{name}.default"] = evaluation.lower_filled(lo, node.args[1])
    blocks.lower_stmts(lo, [lo.memo[key][1]])
    try:
        made = read_name(lo, name, node)
    except UnboundError:
        raise lo.unsupported(
            "`next` of this iterator", node, "write a loop, with `break`"
        ) from None
    for held in (name, f"{name}.default"):
        env.pop(held, None)
        lo.frame.partial.discard(held)
    return made
