"""The entry point: a Python function and the types of its arguments to value form."""

from __future__ import annotations

import ast
import time
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adc.frontend import scipy
from adc.frontend.attempts import ENDS, Attempts
from adc.frontend.calls import builtin, calls, communication, definitions, fields, fourier
from adc.frontend.control import blocks, marks, program
from adc.frontend.control.exits import EXIT, FALLS
from adc.frontend.core import closures, dispatch, outside
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    DictRef,
    Num,
    Static,
    Transformed,
    TupleOf,
    Unstable,
    static,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.parameters import arrays_of, bind_value, is_stack, leaf_operand, param_of
from adc.frontend.core.state import (
    BOTH,
    NEITHER,
    Dead,
    Frame,
    Generated,
    Holder,
    Lowered,
    Shared,
)
from adc.frontend.core.structure import leaves
from adc.frontend.inputs.places import Place
from adc.frontend.language import (
    attributes,
    containers,
    contexts,
    expressions,
    statements,
    subscripts,
)
from adc.frontend.loops import for_loops, while_loops
from adc.frontend.numpy import products
from adc.frontend.syntax.source import Source
from adc.frontend.transforms import changes, derivatives, jacobians, nested, outline, results
from adc.frontend.values.growing import pools
from adc.ir.builder import integer
from adc.ir.core import Call, Derived, Function, Literal, Mark, Operand, Value, walk
from adc.ir.errors import (
    LimitError,
    RecursionDepthError,
    TypeUnstableError,
    UnsupportedError,
)
from adc.ir.functions import reached
from adc.ir.types import BOOL, FLOAT
from adc.library.transforms import KEYWORDS, Level, has_rule, is_checkpointed

# The modules with handlers: these register when they are imported (`core.dispatch`).
HANDLERS = (
    attributes, blocks, builtin, calls, containers, definitions, expressions, fields, for_loops,
    fourier, jacobians, nested, products, contexts, scipy, statements, subscripts, while_loops,
)  # fmt: skip


def nodes() -> frozenset[type[ast.AST]]:
    """Return the types of nodes that are lowered."""
    return dispatch.nodes()


def _with_functions(shared: Shared, fn: Function) -> Function:
    """Return `fn` with the functions that it calls, and those with theirs."""
    callees = tuple(callee.function for callee in shared.callees.values())
    callees += tuple(each for made in shared.rules.values() for each in made.functions)
    derived: list[Derived] = []
    for each in shared.derived.values():  # what one calls was declared before
        of = reached(replace(each.of, callees=callees, derived=tuple(derived)))
        known = {callee.name for callee in of.callees} | {other.name for other in of.derived}
        for other in (of, *of.callees):
            for stmt in walk(other.body):
                if isinstance(stmt, Call) and stmt.callee not in known:
                    raise UnsupportedError(
                        f"a derivative of {each.of.name}() within {stmt.callee}(), which it calls, "
                        "is not supported",
                        stmt.loc,
                    )
        derived.append(replace(each, of=_renamed(of)))
    return _renamed(reached(replace(fn, callees=callees, derived=tuple(derived))))


def _renamed(fn: Function) -> Function:
    """Return `fn` under a name that none of its callees has: a user may have chosen theirs."""
    taken = {each.name for each in fn.callees} | {each.name for each in fn.derived}
    name = fn.name
    while name in taken:
        name += "_"
    return replace(fn, name=name)


def lower(
    fn: Callable[..., Any],
    arguments: dict[str, Any],
    constants: Mapping[Place, Any] = MappingProxyType({}),
    *,
    bound: int = 0,
    inline: bool = True,
    shares: bool = True,
    on_device: bool = False,
    shared: bool = False,
    general: bool = False,
    applied: tuple[Level, ...] = (),
    stackable: frozenset[Place] = frozenset(),
    modes: frozenset[str] = BOTH,
    auxiliary: bool = False,
    numbers: set[Place] | None = None,
    passed: set[tuple[str, int, int]] | None = None,
    lasting: bool = False,
    picks: bool = False,
    texts: bool = False,
    rolls: bool = True,
    pools: bool = False,
) -> Lowered:
    """Lower `fn` for arguments of the given types.

    Parameters
    ----------
    fn : callable
        A Python function with source.
    arguments : dict
        By parameter name, in order, the type tree of an argument (`trees`).
    constants : mapping
        Integers among arguments and captured variables that are part of the program, by place.
    bound : int
        How many of the first arguments are what a method is bound to.
    inline : bool
        Whether the functions that it calls become part of it, as far as that is reasonable.
    shares : bool
        Whether a large function that it calls repeatedly may be lowered once and called.
    on_device : bool
        Whether it is for a GPU, whose threads have little memory.
    shared : bool
        Whether any function with the same code and globals may be called instead of this one.
    general : bool
        Whether axes may turn out to have size 1 and be broadcast while the code runs. Else it
        raises an `AssumptionError` then.
    applied : tuple of Level
        What is lowered instead of the function: what was applied to it, first to last.
    stackable : frozenset of Place
        Lists among the arguments that could be passed as stacks, and are not.
    modes : frozenset of str
        Which derivatives of the result are taken: in "reverse" mode, or also "tangent".
    auxiliary : bool
        Whether they are taken of the first of a pair that is the result.
    numbers : set of Place, optional
        Gets the places of those integers, and sizes, that the program has, or had where it was
        refused.
    passed : set, optional
        Gets the files and lines of the statements that were lowered.
    lasting : bool
        Whether what the function changes outside is to be done by who calls the code.
    picks : bool
        Whether an index known only at run time may pick an element of any kind out of a list, and
        lists of any length may hold texts and objects. What uses one is lowered once for each.
    texts : bool
        Whether strings of run-time values may be anywhere, and not only what is printed.
    rolls : bool
        Whether lists may become buffers where loops would be many copies of their bodies. Nothing
        is known of the bytes that these take.
    pools : bool
        Whether objects and dicts of which there is one for each iteration are in pools rather than
        the number of iterations a constant.

    Raises
    ------
    StackError
        If some of them should be.
    ConstantNeededError
        If another such integer must be one.
    AdcError
        If the function, or anything it calls, is not in the supported subset.
    """
    start = time.perf_counter()
    attempts = Attempts(modes, shares, picks, texts, rolls=None if rolls else False, pooled=pools)
    while True:
        made = Shared(
            constants=constants, on_device=on_device, bound=bound, general=general,
            stackable=stackable, lasting=lasting and not applied, auxiliary=auxiliary,
            **attempts.state(),
        )  # fmt: skip
        if not inline:
            made.inlined = 0
        try:
            lowered = _lowered(fn, arguments, made, shared, applied, attempts.shares)
        except ENDS as error:
            attempts.note(error)
            continue
        finally:
            if numbers is not None:
                numbers.update(made.numbers.values())
            if passed is not None:
                passed.clear()
                passed.update(made.passed)
        return replace(lowered, seconds=time.perf_counter() - start)


def _lowered(
    fn: Callable[..., Any], arguments: dict[str, Any], state: Shared, shared: bool,
    applied: tuple[Level, ...], shares: bool,
) -> Lowered:  # fmt: skip
    """Lower `fn` in one attempt, for `lower`."""
    bound = state.bound
    own = fn if has_rule(fn) else None
    inside = is_checkpointed(fn)
    fn = _with_source(fn)
    lo = Lowerer(state)
    lo.inlines = 0 if shares else 1
    lo.compared = set()
    if state.lasting and own is None and not inside:
        lo.lasting = {}
    lo.builder.names.fresh("loss")
    pools.start(lo)
    holder = outside.holder_of(lo, fn, Place(None) if shared else None)
    source = outside.source_of(lo, holder)
    made: list[Num | ArrayRef] = []
    bindings = {
        name: bind_value(lo, name, tree, Place(k), made)
        for k, (name, tree) in enumerate(arguments.items())
    }
    for k, name in enumerate(list(bindings)[:bound]):
        lo.outside |= arrays_of(leaves(bindings[name]), Place(k))
    params = [param_of(lo, leaf) for leaf in made]
    result = _run(lo, own, inside, applied, holder, source, bindings)
    lo.frame = Frame(source, lo.heap, holder)
    heap: dict[str, Binding] = {}
    with lo.at(source.node):
        result = _finished(lo, result, source, heap)
        changed, more = changes.found(lo)
    operands = tuple(leaf_operand(lo, leaf) for leaf in results.leaves_of(result, heap)) + more
    captures = tuple(capture for capture, _ in lo.captured.values())
    params += [param for capture in captures for param in capture.params]
    communicators = communication.used(lo)
    if communicators:
        operands = communication.finished(lo, communicators, operands, source)
    generators, states = _generated(lo, params, source.node)
    operands += states
    written = frozenset(
        params.index(lo.boxes.get(origin, origin))
        for obj, origin in lo.origin.items()
        if not obj.words and (lo.versions.get(obj, origin) is not origin or obj in lo.stale)
    )
    body = marks.with_marks((*lo.prologue, *lo.builder.stmts), lo.builder.marks)
    if communicators:
        body = communication.begun(lo, communicators, body, source)
    name = fn.__name__ if fn.__name__.isidentifier() else "lambda"
    lowered = _with_functions(lo.shared, Function(name, tuple(params), body, operands))
    return Lowered(
        lowered,
        result,
        captures,
        tuple(lo.shared.guards.values()),
        tuple(lo.shared.sources.values()),
        written,
        heap,
        tuple(lo.changed),
        generators,
        tuple(place for _, place in lo.communicators.values()),
        applied,
        frozenset(k for k, leaf in enumerate(made) if is_stack(leaf)),
        frozenset(frozenset(map(params.index, pair)) for pair in lo.compared),
        changed,
    )


def _with_source(fn: Callable[..., Any]) -> types.FunctionType:
    """Return the Python function that a method, or a function of Numba, is made of."""
    if isinstance(fn, types.FunctionType):
        return fn
    inner = getattr(fn, "__func__", fn)
    inner = getattr(inner, "py_func", inner)
    if not isinstance(inner, types.FunctionType):
        raise UnsupportedError(
            f"{getattr(fn, '__name__', fn)!r} is not a Python function",
            None,
            "adc reads Python source; builtins and callable objects have none",
        )
    return inner


def _run(
    lo: Lowerer, own: Any, inside: bool, applied: tuple[Level, ...], holder: Holder,
    source: Source, bound: dict[str, Binding],
) -> Binding:  # fmt: skip
    """Return the result of the main function, or of what is `applied` to it.

    `own` is the function if it has a derivative rule; it is checkpointed if it is `inside`.
    """
    fn = holder.fn
    try:
        if applied:
            result = _run_derivative(lo, own or fn, inside, applied, holder, source, bound)
        elif own is not None:
            result = _run_custom(lo, own, holder, source, bound)
        else:
            mark = Mark("checkpoint", source.span(source.node)) if inside else None
            with lo.builder.marking(mark):
                result = program.run_main(lo, holder, source, bound)
    except Dead:
        # Every path raises. If one does not, this does.
        what = "adc: a path that was taken to raise an exception has not"
        lo.builder.check(Literal(False, BOOL), LimitError.__name__, what)
        return Num(Literal(0.0, FLOAT))
    except RecursionError:
        raise RecursionDepthError(
            f"{fn.__name__!r} needs code that is nested too deeply",
            lo.builder.loc or source.span(source.node),
            "where the run decides what lists, dicts and objects hold, each step is code inside "
            "that of the one before: keep numbers in arrays, or take fewer steps",
        ) from None
    if isinstance(result, Unstable):
        raise TypeUnstableError(f"the result {result.why}", source.span(source.node))
    return result


def _finished(
    lo: Lowerer, result: Binding, source: Source, heap: dict[str, Binding]
) -> Binding:  # fmt: skip
    """Return the result without views and lowering state; contents of containers are in `heap`."""
    if lo.shared.modes == NEITHER:
        return results.finished(lo, result, heap)
    if lo.shared.auxiliary and isinstance(result, TupleOf) and len(result.items) == 2:
        first, more = result.items
        first = outline.without_none(lo, first, source.name, source.node)
        first = results.finished(lo, first, heap)
        return TupleOf((first, results.finished(lo, more, heap, varied=True)))
    result = outline.without_none(lo, result, source.name, source.node)
    return results.finished(lo, result, heap)


def _generated(
    lo: Lowerer, params: list[Value], node: ast.AST
) -> tuple[tuple[Generated, ...], tuple[Operand, ...]]:
    """Return the generators among the arguments, and the new states of those that were used."""
    found: list[Generated] = []
    states: list[Operand] = []
    for obj, place in lo.generators.items():
        if obj in lo.stale:
            lo.version(obj, node)  # raises
        drawn = lo.versions.get(obj, lo.origin[obj]) is not lo.origin[obj]
        found.append(Generated(params.index(lo.origin[obj]), place, drawn))
        if drawn:
            states.append(lo.version(obj, None))
    return tuple(found), tuple(states)


def _run_custom(
    lo: Lowerer, value: Any, holder: Holder, source: Source, bound: dict[str, Binding]
) -> Binding:
    """Lower the main function where it has a custom derivative, for `lower`."""
    lo.shared.sources[id(holder.fn.__code__)] = source
    spec = source.node.args
    args: list[Binding] = []
    for name, binding in bound.items():
        if spec.vararg is not None and name == spec.vararg.arg and isinstance(binding, TupleOf):
            args += binding.items
        else:
            args.append(binding)
    lo.frame = Frame(source, {EXIT: Num(integer(FALLS))}, holder)
    lo.builder.loc = source.span(source.node)
    node = ast.copy_location(ast.Call(ast.Name("f", ast.Load()), [], []), source.node)
    result = dispatch.apply(lo, static(value), args, {}, node)
    lo.heap = closures.heap_of(lo.frame)
    return result


def _run_derivative(
    lo: Lowerer, value: Any, checkpointed: bool, levels: Sequence[Level], holder: Holder,
    source: Source, bound: dict[str, Binding],
) -> Binding:  # fmt: skip
    """Lower a call of a derivative of the main function, for `lower`."""
    fn: Binding = Static(value, holder.place if value is holder.fn else None)
    if checkpointed:
        fn = Transformed(fn, Level("checkpoint"))
    lo.shared.sources[id(holder.fn.__code__)] = source
    lo.frame = Frame(source, {**lo.initial, EXIT: Num(integer(FALLS))}, holder)
    lo.builder.loc = source.span(source.node)
    args, kwargs = _passed(lo, source.node.args, bound)
    node = ast.copy_location(ast.Call(ast.Name("f", ast.Load()), [], []), source.node)
    # What a method is bound to is not counted.
    skip = lo.shared.bound
    shifted = [replace(level, argnums=_shifted(level.argnums, skip)) for level in levels]
    result = dispatch.apply(lo, derivatives.transformed(fn, shifted), args, kwargs, node)
    lo.heap = closures.heap_of(lo.frame)
    return result


def _passed(
    lo: Lowerer, spec: ast.arguments, bound: dict[str, Binding]
) -> tuple[list[Binding], dict[str, Binding]]:
    """Return the arguments of a call that binds parameters so, by position and by name."""
    args = [bound[arg.arg] for arg in (*spec.posonlyargs, *spec.args)]
    if spec.vararg is not None:
        rest = bound[spec.vararg.arg]
        assert isinstance(rest, TupleOf)
        args += rest.items
    kwargs = {arg.arg: bound[arg.arg] for arg in spec.kwonlyargs}
    if spec.kwarg is not None:
        others = bound[spec.kwarg.arg]
        assert isinstance(others, DictRef)
        record = lo.record(others)
        kwargs.update(zip(record.keys, record.items, strict=True))
    return args, kwargs


def _shifted(argnums: int | tuple[int, ...], by: int) -> int | tuple[int, ...]:
    if isinstance(argnums, int):
        return argnums + by if 0 <= argnums < KEYWORDS else argnums
    return tuple([number + by if 0 <= number < KEYWORDS else number for number in argnums])
