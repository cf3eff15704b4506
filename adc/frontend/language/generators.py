"""Generators that a loop consumes: their statements, with the loop's body at each `yield`.

``for x in f(a): BODY`` becomes a block of the statements of `f`, in which ``yield v`` is replaced
by ``x = v; BODY``. The names of `f` are renamed, so that both are names of one function; `break`
and `return` become jumps (`syntax.jumps`). A context manager made by `contextlib` is a generator
that is consumed once: by the body of `with`.
"""

from __future__ import annotations

import ast
import copy
import inspect
import itertools
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adc.frontend.control import blocks, evaluation, inlining, suspended
from adc.frontend.control.exits import (
    FALLS,
    FIRST_LABEL,
    exit_of,
    exits_of,
    set_exit,
    unbind_partial,
    without_exit,
)
from adc.frontend.control.suspended import Generator, is_generator
from adc.frontend.core import bindings, classes, closures, dispatch, outside
from adc.frontend.core.bindings import (
    NONE,
    UNSET,
    ArrayRef,
    Binding,
    Bound,
    Closure,
    DictRef,
    Growing,
    ListRef,
    Num,
    ObjectRef,
    Static,
    TupleOf,
    static,
)
from adc.frontend.core.dispatch import SplitError, handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.names import is_builtin, read_name
from adc.frontend.core.structure import leaves, shape_of
from adc.frontend.syntax.jumps import Labelled, Leave, leaving
from adc.frontend.syntax.source import Source
from adc.frontend.syntax.yields import Inlined
from adc.frontend.values import contents, elementwise, sequences, views
from adc.ir.core import Literal
from adc.ir.errors import (
    AdcError,
    GeneratorError,
    TypeMismatchError,
    UnboundError,
    UnsupportedError,
)
from adc.library.standard import iteration

# Loops over one generator that lie within each other; more of them are a recursion.
MAX_NESTED = 6

# -- blocks with labels ----------------------------------------------------------------------------


def _code(lo: Lowerer, label: Labelled) -> int:
    codes: dict[int, int] = lo.memo.setdefault("labels", {})
    lo.memo.setdefault(("label", id(label)), label)
    return codes.setdefault(id(label), FIRST_LABEL + len(codes))


@handles(Leave)
def _leave(lo: Lowerer, stmt: Leave) -> None:
    if lo.frame.breaking is not None and stmt.breaks:
        lo.frame.breaking.keep()
    set_exit(lo, _code(lo, stmt.label))


@handles(Labelled)
def _labelled(lo: Lowerer, stmt: Labelled) -> None:
    with lo.copy("block", id(stmt)):
        blocks.lower_stmts(lo, stmt.body)
    code = _code(lo, stmt)
    if code in exits_of(lo, exit_of(lo)):
        partial = set(lo.frame.partial)
        if partial and exits_of(lo, exit_of(lo)) != {code}:
            unbind_partial(lo, "it is not assigned on every path")
        without_exit(lo, code, FALLS)


# -- what is a generator ---------------------------------------------------------------------------


def called(lo: Lowerer, node: ast.expr, *, begins: bool = False) -> Generator | None:
    """Return the generator that an expression calls, or None.

    The expression may also be the name of an object, whose `__iter__` is called, or denote an
    iterator of the library. What finding the function does (a property, say) is undone, unless a
    loop over the generator `begins` with it.
    """
    named = node.func if isinstance(node, ast.Call) else node
    is_method = isinstance(named, ast.Attribute) and isinstance(node, ast.Call)
    if isinstance(node, ast.Attribute | ast.Subscript) and _is_stored(lo, node):
        return of_object(lo, evaluation.lower_expr(lo, node))
    if not isinstance(named, ast.Name) and not is_method:
        return None
    before, saved, mark = lo.snapshot(), lo.save_names(), len(lo.builder.stmts)
    try:
        callee = evaluation.lower_expr(lo, named)
    except (AdcError, SplitError):
        callee = NONE
    if isinstance(node, ast.Call):
        found = found_in(lo, _of_library(lo, callee, node))
    else:
        found = of_object(lo, callee)
    undone = found is None or not begins
    if undone and (is_method or len(lo.builder.stmts) > mark):
        lo.restore(before)
        lo.reset_names(saved)
        del lo.builder.stmts[mark:]
    return found


def of_object(lo: Lowerer, binding: Binding) -> Generator | None:
    """Return the generator that an object, or its `__iter__`, is; None if it has none."""
    if (held := suspended.of(lo, binding)) is not None:
        return held
    method = classes.find(lo, binding, "__iter__")
    if not isinstance(method, types.FunctionType):
        return None
    found = found_in(lo, Static(method), (binding,))
    if found is not None:
        return found
    holder = outside.holder_of(lo, method, None)
    source = outside.source_of(lo, holder)
    key = ("iterated", id(source.node), classes.instance_class(binding))
    if key not in lo.memo:

        def generates(name: str) -> bool:
            fn = classes.find(lo, binding, name)
            is_function = isinstance(fn, types.FunctionType)
            return is_function and bool(fn.__code__.co_flags & inspect.CO_GENERATOR)

        stored = method is iteration.Stored.__iter__
        made = _Iterated(source, generates, stored=stored).function()
        lo.memo[key] = (source.node, made)
    defaults = inlining.function_defaults(holder)
    return Generator(lo.memo[key][1], source, method.__name__, holder, None, defaults, (binding,))


ITERATORS: dict[Any, Any] = {
    getattr(itertools, name): getattr(iteration, name)
    for name in (
        "product", "combinations", "combinations_with_replacement", "permutations", "pairwise",
        "chain", "accumulate", "islice", "count", "repeat", "cycle", "starmap", "takewhile",
        "dropwhile", "filterfalse", "compress", "groupby", "zip_longest",
    )
}  # fmt: skip
# Of the builtins that are iterators, what is lowered if they are given a generator.
_OF_GENERATORS: dict[Any, Any] = {
    enumerate: iteration.numbered, map: iteration.mapped, filter: iteration.kept,
}  # fmt: skip


def _of_library(lo: Lowerer, callee: Binding, node: ast.Call) -> Binding:
    """Return the generator in Python that an iterator of the standard library is."""
    if not isinstance(callee, Static):
        return callee
    value = callee.value
    if value == itertools.chain.from_iterable:
        return Static(iteration.chain_from)
    if isinstance(value, type) and value in ITERATORS:
        return Static(ITERATORS[value])
    if value not in (zip, enumerate, map, filter):
        return callee
    at = [k for k, arg in enumerate(node.args) if called(lo, arg) is not None]
    if not at:
        return callee
    held = [k for k, arg in enumerate(node.args) if is_held(lo, arg)]
    if value is zip and len(held) > 1 and set(at) <= set(held):
        return callee  # of lists of what they yield (`elements`)
    plain = not node.keywords or (len(node.args) == 2 and node.keywords[0].arg == "strict")
    if value is zip and at == [0] and len(node.args) > 1 and plain:
        return Static(iteration.zipped)
    if value is zip and at == [1] and len(node.args) == 2 and plain:
        return Static(iteration.zipped_last)
    objects = not any(isinstance(arg, ast.Call) for arg in node.args)
    if value is zip and at == [0, 1] and len(node.args) == 2 and not node.keywords and objects:
        stored = all(_is_stored(lo, arg) for arg in node.args)
        return Static(iteration.zipped_stored if stored else iteration.zipped_objects)
    first = 0 if value is enumerate else 1
    if value is not zip and at == [first] and len(node.args) <= 2:
        return Static(_OF_GENERATORS[value])
    raise GeneratorError(
        f"`{value.__name__}` of these generators is not supported",
        lo.span(node),
        "store lists of what they yield: `list(…)`",
    )


def of_library(lo: Lowerer, value: Any) -> Generator | None:
    """Return the generator that an iterator of `itertools` is."""
    if value == itertools.chain.from_iterable:
        return found_in(lo, Static(iteration.chain_from))
    if not isinstance(value, type) or value not in ITERATORS:
        return None
    return found_in(lo, Static(ITERATORS[value]))


def taken(lo: Lowerer, value: Any, args: Sequence[Binding], node: ast.Call) -> list[Binding]:
    """Return the arguments of such an iterator; of what it reads when it is made, copies."""
    if all(value is not each for each in _COMBINING):
        return list(args)
    return [copied(lo, elements(lo, arg, node), node) for arg in args]


def copied(lo: Lowerer, found: Binding, node: ast.expr) -> Binding:
    """Return a copy of a list or vector; anything else as it is."""
    if isinstance(found, ListRef):
        return dispatch.apply(lo, Static(list), [found], {}, classes.call_at(node))
    if isinstance(found, ArrayRef) and len(views.dims_of(lo, found)) == 1:
        return elementwise.copy(lo, found, node)
    return found


def found_in(lo: Lowerer, callee: Binding, first: tuple[Binding, ...] = ()) -> Generator | None:
    """Return the generator that a callee is, or None."""
    match callee:
        case Static(value=types.MethodType() as method):
            owner = bindings.static(method.__self__)
            return found_in(lo, Static(method.__func__), (owner, *first))
        case Static(value=types.FunctionType() as fn, place=place):
            if not fn.__code__.co_flags & inspect.CO_GENERATOR:
                return None
            holder = outside.holder_of(lo, fn, place)
            source = outside.source_of(lo, holder)
            lo.shared.sources[id(fn.__code__)] = source
            assert isinstance(source.node, ast.FunctionDef)
            defaults = inlining.function_defaults(holder)
            return Generator(source.node, source, fn.__name__, holder, None, defaults, first)
        case Closure(node=ast.FunctionDef() as inner, scope=frame) if is_generator(inner):
            return Generator(
                inner, callee.source, callee.name, frame.holder, frame, callee.defaults, first
            )
        case Bound(owner=owner, name=name) if classes.is_instance(owner):
            found = classes.find(lo, owner, name)
            if isinstance(found, types.FunctionType):
                return found_in(lo, Static(found), (owner, *first))
    return None


class _Iterated(ast.NodeTransformer):
    """Writes an `__iter__` that returns an iterator as a generator: one that yields from it."""

    # Of the builtins, those that return an iterator.
    _MADE = ("zip", "map", "filter", "enumerate", "reversed")

    def __init__(self, source: Source, generates: Callable[[str], bool], *, stored: bool) -> None:
        self._source, self._generates, self._stored = source, generates, stored
        args = source.node.args
        self._own = [each.arg for each in (*args.posonlyargs, *args.args)][:1]

    def function(self) -> ast.FunctionDef:
        made = copy.deepcopy(self._source.node)
        assert isinstance(made, ast.FunctionDef)
        made.body = [part for stmt in made.body for part in self._parts(stmt)]
        return made

    def _parts(self, stmt: ast.stmt) -> list[ast.stmt]:
        found = self.visit(stmt)
        return found if isinstance(found, list) else [found]

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        match node.value:
            case ast.Call(func=ast.Name(id="iter"), args=[held], keywords=[]):
                value = held
            case ast.GeneratorExp() as value:
                pass
            case ast.Call(func=ast.Name(id=name)) as value if name in self._MADE:
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) as value if (
                name in self._own and self._generates(method)
            ):
                pass
            case ast.Name(id=name) if name in self._own:
                text = _STORED if self._stored else _DRAWN
                return _copied(text.replace("self", name), node)
            case _:
                raise UnsupportedError(
                    "this result of `__iter__` is not supported",
                    self._source.span(node),
                    "write `return iter(...)`, or `yield`",
                )
        assert value is not None
        made: list[ast.stmt] = [ast.Expr(ast.YieldFrom(value)), ast.Return(None)]
        return [_placed(each, node) for each in made]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    visit_Lambda = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]  # they stay


# What an iterator of the library yields, and one of the program, which has `__next__`.
_STORED = """
while self.advance():
    yield self.current()
"""
_DRAWN = """
while True:
    try:
        drawn = self.__next__()
    except StopIteration:
        return
    yield drawn
"""


def _copied(text: str, node: ast.AST) -> list[ast.stmt]:
    return [_placed(stmt, node) for stmt in ast.parse(text).body]


def _placed(stmt: ast.stmt, node: ast.AST) -> ast.stmt:
    for inner in ast.walk(stmt):
        if not hasattr(inner, "lineno") or isinstance(node, ast.Return):
            ast.copy_location(inner, node)
    return stmt


# -- a loop over a generator -----------------------------------------------------------------------


def loop(lo: Lowerer, stmt: ast.For, generator: Generator) -> None:
    """Lower a loop over a generator."""
    call = stmt.iter
    if not isinstance(call, ast.Call):  # an object, whose `__iter__` takes no arguments
        call = ast.copy_location(ast.Call(call, [], []), call)

    def make(prefix: str, names: frozenset[str], given: dict[str, ast.expr]) -> Labelled:
        done, end = Labelled([], stmt), Labelled([], stmt)

        def visit(value: ast.expr, where: ast.AST) -> list[ast.stmt]:
            again = Labelled([], where)
            bound = ast.copy_location(ast.Assign([stmt.target], value), where)
            body = leaving(stmt.body, end, again)
            again.body = [bound, *body]
            return [again]

        done.body = _inlined(lo, generator, call, prefix, names, given, done, visit)
        ended = [] if generator.held is None else [suspended.ends(prefix + _HELD, stmt)]
        end.body = [done, *ended, *stmt.orelse]
        return end

    _run(lo, stmt, call, generator, make)


def context(
    lo: Lowerer, stmt: ast.With, call: ast.Call, generator: Generator, body: Sequence[ast.stmt],
    target: ast.expr | None,
) -> None:  # fmt: skip
    """Lower ``with f(...) as target: body`` for a generator that `contextlib` made a manager of."""

    def make(prefix: str, names: frozenset[str], given: dict[str, ast.expr]) -> Labelled:
        done = Labelled([], stmt)
        seen: list[ast.AST] = []

        def visit(value: ast.expr, where: ast.AST) -> list[ast.stmt]:
            if seen:
                raise _refused(lo, generator, "a context manager with more than one `yield`", where)
            seen.append(where)
            bound: ast.stmt = (
                ast.Expr(value) if target is None else ast.Assign([target], value)
            )  # fmt: skip
            return [ast.copy_location(bound, where), *body]

        done.body = _inlined(lo, generator, call, prefix, names, given, done, visit, manager=True)
        return done

    _run(lo, stmt, call, generator, make)


def listed(lo: Lowerer, node: ast.expr) -> Binding:
    """Return a list of what a generator yields."""
    if (known := combined(lo, node, sequences.UNROLLED)) is not None:
        return lo.new_ref(ListRef, known)
    key = ("listed", id(node))
    made_name, item = (f"${what}{node.lineno}_{node.col_offset}" for what in ("made", "item"))
    if key not in lo.memo:
        append = ast.Attribute(ast.Name(made_name, ast.Load()), "append", ast.Load())
        body = ast.Expr(ast.Call(append, [ast.Name(item, ast.Load())], []))
        made = ast.For(ast.Name(item, ast.Store()), node, [body], [])
        for inner in ast.walk(made):
            if not hasattr(inner, "lineno"):
                ast.copy_location(inner, node)
        lo.memo[key] = made
    lo.frame.env[made_name] = lo.new_ref(ListRef, TupleOf(()))
    blocks.lower_stmts(lo, [lo.memo[key]])
    found = read_name(lo, made_name, node)
    lo.frame.env.pop(made_name)
    lo.frame.env.pop(item, None)
    return found


# What denotes an object that was made before.
HELD = (ast.Name, ast.Attribute, ast.Subscript)


def yields_again(lo: Lowerer, binding: Binding) -> bool:
    """Whether an object yields its elements to every loop over it: it is no iterator itself."""
    is_iterator = classes.find(lo, binding, "__next__") is not None
    return not is_iterator and of_object(lo, binding) is not None


def is_held(lo: Lowerer, node: ast.expr) -> bool:
    """Whether an expression denotes such an object, made before."""
    return _denotes(lo, node, lambda binding: yields_again(lo, binding))


def _is_stored(lo: Lowerer, node: ast.expr) -> bool:
    """Whether an expression denotes an iterator of the library, made before."""
    return _denotes(
        lo, node, lambda each: isinstance(each, ObjectRef) and each.cls in iteration.ITERATORS
    )


def _denotes(lo: Lowerer, node: ast.expr, is_one: Callable[[Binding], bool]) -> bool:
    """Whether an expression denotes an object of a kind; what finding that out does is undone."""
    if not isinstance(node, HELD):
        return False
    before = lo.point()
    try:
        return is_one(evaluation.lower_expr(lo, node))
    except AdcError:
        return False
    finally:
        lo.undo(before)


# Iterators that store what they take before they yield anything.
_COMBINING = (
    itertools.product, itertools.combinations, itertools.combinations_with_replacement,
    itertools.permutations, np.ndindex,
)  # fmt: skip


def combined(lo: Lowerer, node: ast.expr, most: int) -> TupleOf | None:
    """Return what ``itertools.combinations([a, b, c], 2)`` yields: ``((a, b), (a, c), (b, c))``.

    None for another expression, and where the elements are not known or there are more than `most`.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        return None
    before, saved, mark = lo.snapshot(), lo.save_names(), len(lo.builder.stmts)
    try:
        found = _combined(lo, node, most)
    except AdcError:
        found = None
    if found is None:
        lo.restore(before)
        lo.reset_names(saved)
        del lo.builder.stmts[mark:]
    return found


def _combined(lo: Lowerer, node: ast.Call, most: int) -> TupleOf | None:
    callee = evaluation.lower_expr(lo, node.func)
    if not isinstance(callee, Static) or all(callee.value is not each for each in _COMBINING):
        return None
    passed = [*node.args, *(each.value for each in node.keywords)]
    if any(isinstance(arg, ast.Starred) or called(lo, arg) is not None for arg in passed):
        return None
    given: list[Any] = []
    for arg in passed:
        binding = evaluation.lower_expr(lo, arg)
        if isinstance(binding, Num):
            if not isinstance(binding.operand, Literal):
                return None
            given.append(binding.operand.value)
            continue
        items = sequences.static_items(lo, binding) or sequences.static_range(binding)
        if items is None or len(items) > most:
            return None
        given.append(tuple(map(_value, items)) if callee.value is np.ndindex else items)
    names = [each.arg or "" for each in node.keywords]
    count = len(given) - len(names)
    try:
        made = callee.value(*given[:count], **dict(zip(names, given[count:], strict=True)))
    except (TypeError, ValueError):  # which the call raises
        return None
    found = list(itertools.islice(made, most + 1))
    if callee.value is np.ndindex:
        found = [tuple(map(static, each)) for each in found]
    return None if len(found) > most else TupleOf(tuple(TupleOf(each) for each in found))


def _value(size: Binding) -> Any:
    """Return a size if it is known; else what is no size."""
    if isinstance(size, Num) and isinstance(size.operand, Literal):
        return size.operand.value
    return None


def elements(lo: Lowerer, binding: Binding, node: ast.expr) -> Binding:
    """Return a list of what an object yields; of anything else, the binding itself."""
    if of_object(lo, binding) is None:
        return binding
    name = f"$object{node.lineno}_{node.col_offset}"
    key = ("elements", id(node))
    if key not in lo.memo:
        lo.memo[key] = (node, ast.copy_location(ast.Name(name, ast.Load()), node))
    lo.frame.env[name] = binding
    found = listed(lo, lo.memo[key][1])
    lo.frame.env.pop(name, None)
    return found


def starred(lo: Lowerer, node: ast.Starred) -> Binding:
    """Lower what is unpacked: of a generator, and of an object with `__iter__`, a list."""
    if called(lo, node.value) is not None:
        return listed(lo, node.value)
    return elements(lo, evaluation.lower_expr(lo, node.value), node.value)


def _run(
    lo: Lowerer,
    stmt: ast.stmt,
    call: ast.Call,
    generator: Generator,
    make: Callable[[str, frozenset[str], dict[str, ast.expr]], Labelled],
) -> None:
    level = [node for node, _ in lo.generating].count(generator.node)
    if level >= MAX_NESTED:
        raise _refused(lo, generator, "a recursive generator", call, "keep a list of what is to do")
    lazy: list[ast.expr] = []
    if generator.held is None:
        bound, lazy = _bound(lo, call, generator)
    else:
        known = suspended.begun(lo, generator, call)
        if known is None:
            blocks.lower_stmts(lo, stmt.orelse if isinstance(stmt, ast.For) else [])
            return
        bound = known
    given = _parameters(lazy, bound)
    # One that calls itself does so at one place: each call has variables of its own.
    prefix = f"${generator.name}{stmt.lineno}_{stmt.col_offset}_{level}."
    free = _free(lo, generator)
    held = generator.held is not None
    key = ("generator", id(stmt), id(generator.node), prefix, frozenset(free), held)
    if key not in lo.memo:
        names = closures.locals_of(generator.node) | frozenset(free)
        lo.memo[key] = (stmt, generator.node, make(prefix, names, given))
    frame = lo.frame
    for name in closures.locals_of(generator.node):
        if (frame.function, prefix + name) in lo.shared.unset:
            frame.env[prefix + name] = UNSET  # again in every run
    for name, binding in (bound | free).items():
        frame.env[prefix + name] = binding
        frame.partial.discard(prefix + name)
    if generator.held is not None:
        frame.env[prefix + _HELD] = generator.held
    before = _read_first(lo, generator, bound)
    lo.generating.append((generator.node, lo.branches))
    try:
        blocks.lower_stmts(lo, [lo.memo[key][2]])
    finally:
        lo.generating.pop()
    if before != _read_first(lo, generator, bound):
        raise lo.unsupported(
            f"a loop that changes what `itertools.{generator.name}` goes over", call,
            "give it a copy: `list(...)`",
        )  # fmt: skip


# The iterators of Python that take all elements before they yield one, or as they yield it first;
# those that end where what they go over ends then, but here where it ended at first.
_STORING = (
    iteration.product, iteration.combinations, iteration.combinations_with_replacement,
    iteration.permutations, iteration.cycle,
)  # fmt: skip
_COUNTING = (iteration.accumulate, iteration.pairwise, iteration.zip_longest)


def stores(lo: Lowerer, node: ast.Call) -> bool:
    """Whether a call is that of an iterator that takes all elements when it is made."""
    callee = evaluation.lower_expr(lo, node.func)
    return isinstance(callee, Static) and any(callee.value is each for each in _COMBINING)


def _read_first(lo: Lowerer, generator: Generator, bound: dict[str, Binding]) -> list[object]:
    """Return what an iterator of Python goes over that is not to change before it ends."""
    found: list[object] = []
    fn = generator.holder.fn
    if fn not in _STORING and fn not in _COUNTING:
        return found
    for given in bound.values():
        for each in given.items if isinstance(given, TupleOf) else (given,):
            held = lo.held(each) if isinstance(each, ListRef) else None
            arrays = held.buffers if isinstance(held, Growing) else ()
            if isinstance(held, TupleOf):
                found.append(len(held.items))
                if fn in _STORING:
                    found.append(shape_of(held))
                    found += [
                        leaf.operand if isinstance(leaf, Num) else leaf.object
                        for leaf in leaves(held)
                    ]
            elif isinstance(held, Growing):
                found.append(held.length.operand)
            elif isinstance(each, ArrayRef) and len(views.dims_of(lo, each)) == 1:
                arrays = (each,)  # of numbers: rows of a matrix are views
            if fn in _STORING:
                found += [lo.versions.get(array.object) for array in arrays]
    return found


# The name, after the prefix of a loop, of the object that a generator is.
_HELD = "$held"


def _bound(
    lo: Lowerer, call: ast.Call, generator: Generator
) -> tuple[dict[str, Binding], list[ast.expr]]:
    """Return the arguments of the call of a generator, and which of them are generators."""
    args, kwargs, lazy = _given(lo, call, generator)
    spec = generator.node.args
    bound = inlining.bind_arguments(
        lo, generator.name, spec, [*generator.first, *args], kwargs, generator.defaults, call
    )
    if generator.holder.fn.__module__ != iteration.__name__:
        inlining.require_lasting(lo, bound.values(), call)
    return bound, lazy


# What stands for a generator among the arguments of a library's.
_LAZY = Static("a generator")


def _parameters(lazy: list[ast.expr], bound: dict[str, Binding]) -> dict[str, ast.expr]:
    """Return the parameters that are generators, and the calls of these."""
    names = [name for name, binding in bound.items() if binding is _LAZY]
    return dict(zip(names, lazy, strict=True))


def _given(
    lo: Lowerer, node: ast.Call, generator: Generator
) -> tuple[list[Binding], dict[str, Binding], list[ast.expr]]:
    """Return the arguments of a call; those that are generators stand for themselves."""
    args: list[Binding] = []
    lazy: list[ast.expr] = []
    in_library = generator.holder.fn.__module__ == iteration.__name__
    spec = generator.node.args.args
    for k, arg in enumerate(node.args):
        is_own = not (k < len(spec) and spec[k].arg.startswith("iterator"))
        if in_library and is_own and k < len(spec) and called(lo, arg) is not None:
            if spec[k].arg != "iterable":
                args.append(listed(lo, arg))
                continue
            args.append(_LAZY)
            lazy.append(arg)
        elif isinstance(arg, ast.Starred):
            args += sequences.static_sequence(lo, starred(lo, arg), arg)
        else:
            found = evaluation.lower_expr(lo, arg)
            found = contents.indexed(lo, found, arg) if in_library else found
            finite = in_library and contents.is_finite(found)
            args.append(elements(lo, found, arg) if finite else found)
    kwargs: dict[str, Binding] = {}
    for keyword in node.keywords:
        value = evaluation.lower_expr(lo, keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        elif isinstance(value, DictRef):
            record = lo.record(value)
            kwargs.update(zip(record.keys, record.items, strict=True))
        else:
            raise TypeMismatchError(
                f"`**` needs a dict, not {kind_of(value)}", lo.span(keyword.value)
            )
    return args, kwargs, lazy


def _free(lo: Lowerer, generator: Generator) -> dict[str, Binding]:
    """Return the bindings of the variables that a generator reads outside of it.

    Those of the function that consumes it are read there.
    """
    found: dict[str, Binding] = {}
    for name in closures.free_names(generator.node):
        frame = generator.scope
        while frame is not None and name not in frame.env and name not in frame.locals:
            frame = frame.outer
        if frame is lo.frame:
            continue
        if frame is not None:
            if name in frame.env and name not in frame.partial:
                found[name] = frame.env[name]
            continue
        try:
            binding = outside.free(lo, generator.holder, (name,), generator.node)
        except UnboundError:
            continue
        if not is_builtin(lo, name, binding):  # `str(v)` is looked for under this name
            found[name] = binding
    return found


def _refused(
    lo: Lowerer, generator: Generator, what: str, node: ast.AST, hint: str = ""
) -> GeneratorError:
    return GeneratorError(
        f"{what} is not supported",
        generator.source.span(node),
        hint or "return the values in a list instead",
    )


def _inlined(
    lo: Lowerer, generator: Generator, call: ast.Call, prefix: str, names: frozenset[str],
    given: dict[str, ast.expr], done: Labelled,
    visit: Callable[[ast.expr, ast.AST], list[ast.stmt]], *, manager: bool = False,
) -> list[ast.stmt]:  # fmt: skip
    """Return the statements of a generator, renamed, with others at each `yield`."""
    site = getattr(call, "adc_site", lo.frame.source.span(call))

    def mark(node: Any) -> None:
        node.adc_source = generator.source
        if generator.holder.in_library:  # users are shown their own line
            node.adc_site = site

    made = Inlined(
        generator.node,
        lambda name: prefix + name if name in names or name[0] == "$" else name,
        given, done, visit,
        lambda what, node, hint: _refused(lo, generator, what, node, hint),
        held=generator.held is not None, manager=manager,
    )  # fmt: skip
    return made.statements(mark)


__all__ = ["called", "context", "found_in", "is_generator", "listed", "loop"]
