"""Calls: of known functions, methods, instances and inner functions."""

from __future__ import annotations

import ast
import collections
import enum
import functools
import inspect
import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from adc.frontend.calls import (
    builtin,
    communication,
    custom,
    effects,
    reflection,
    sets,
    standard,
)
from adc.frontend.control import evaluation, program, suspended
from adc.frontend.core import bindings, classes, closures, dispatch, numbers, outside
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    Bound,
    Closure,
    DictRef,
    Growing,
    Lazy,
    ListRef,
    Maybe,
    NamedTuple,
    Num,
    ObjectRef,
    Ruled,
    SetRef,
    Static,
    Super,
    TupleOf,
    Unbound,
    static,
)
from adc.frontend.core.dispatch import called, handles
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages import advice
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.state import ConstantNeededError, PickedError
from adc.frontend.inputs import bases
from adc.frontend.language import (
    attributes,
    containers,
    dicts,
    dynamic_lists,
    generators,
    iterators,
    stored,
)
from adc.frontend.language.texts import formatting
from adc.frontend.language.texts import values as texts
from adc.frontend.numpy import library
from adc.frontend.numpy.random import generators as random
from adc.frontend.syntax.source import Source
from adc.frontend.transforms import derivatives, nested
from adc.frontend.values import (
    constants,
    contents,
    elementwise,
    objects,
    sequences,
    special,
    views,
)
from adc.ir.builder import integer
from adc.ir.core import Literal
from adc.ir.errors import AdcError, LimitError, TypeMismatchError, TypeUnstableError
from adc.ir.foreign import peculiarity, stand_in
from adc.library.transforms import is_checkpointed, transform_name

# Functions that take iterables, but no generators here.
_TAKING = (functools.reduce, collections.deque, collections.Counter)
# Iterators that pass on the elements of what they are given.
_PASSING = (zip, enumerate, reversed)
_CONSUMERS = (list, tuple, sum, max, min, any, all, sorted, dict)


@handles(ast.Call)
def call(lo: Lowerer, node: ast.Call) -> Binding:
    """Lower a call expression."""
    if formatting.is_format(lo, node):
        return formatting.formatted(lo, node)
    callee = dispatch.evaluate(lo, node.func)
    found = builtin.of_generator(lo, callee, node)
    if found is not None:
        return found
    match node:
        case ast.Call(args=[ast.Call() as argument], keywords=[]) if callee == Static(np.real):
            found = attributes.real_part(lo, argument)
            if found is not None:
                return found
    if iterators.is_drawn(lo, node):
        return evaluation.lower_expr(lo, iterators.generator(lo, node))
    args: list[Binding] = []
    asks = reflection.asks_kind(callee)
    lower = dispatch.optional if asks or _takes_none(callee) else dispatch.evaluate
    # None as an option of a function, such as `axis`, is the default value.
    lower_option = dispatch.filled if lower is dispatch.evaluate else lower
    lower_named = dispatch.optional if callee == Static(dict) else lower_option
    options = _first_option(callee)
    written = _is_written(callee)
    if written:
        for given in (*node.args, *(keyword.value for keyword in node.keywords)):
            if isinstance(given, ast.IfExp):
                iterators.require_undrawn(lo, given)
    keeps, keeps_named = _keeps(callee)
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            if callee == Static(print) and (several := effects.several(lo, arg.value)):
                args.extend(several)
                continue
            inner = generators.starred(lo, arg)
            if callee == Static(print) and (whole := texts.spread(lo, inner, arg)):
                args.append(whole)
                continue
            strict = all(keyword.arg == "strict" for keyword in node.keywords)  # rows are alike
            if callee == Static(zip) and len(node.args) == 1 and strict:
                held = lo.held(inner) if isinstance(inner, ListRef) else inner
                if isinstance(held, Growing):
                    columns = dynamic_lists.transposed(lo, held, node)
                    if columns is not None:
                        return columns
            args.extend(_unpacked(lo, inner, arg, callee, node))
        elif callee == Static(dict) and (mapping := _as_dict(lo, arg)) is not None:
            args.append(mapping)
        elif _consumes(callee) and generators.called(lo, arg) is not None:
            args.append(generators.listed(lo, arg))
        elif effects.takes_text(callee):
            args.append(effects.argument(lo, arg))
        elif (written or _makes_iterator(lo, callee)) and (text := _given(lo, arg)) is not None:
            args.append(text)
        elif _is_of_rows(callee, arg):
            assert isinstance(arg, ast.ListComp)
            args.append(_rows(lo, arg))
        else:
            found = (lower if len(args) < options else lower_option)(lo, arg)
            if keeps:
                iterators.require_lasting(lo, arg, found)
            if _consumes(callee):
                iterators.require_fresh(lo, arg, found)
            elif _is_numeric(callee) or _is_one_of(callee, _TAKING):
                suspended.require_none(lo, found, arg)
            if callee == Static(dict):
                found = contents.as_plain_dict(lo, found, arg)
            consumed = _consumes(callee) or (
                _is_one_of(callee, _PASSING) and contents.is_finite(found)
            )
            args.append(generators.elements(lo, found, arg) if consumed else found)
    kwargs: dict[str, Binding] = {}
    for keyword in node.keywords:
        if keyword.arg in ("msg", "message") and effects.takes_text(callee):
            kwargs[keyword.arg] = effects.argument(lo, keyword.value)
            continue
        text = _given(lo, keyword.value) if written else None
        value = lower_named(lo, keyword.value) if text is None else text
        if keeps_named:
            iterators.require_lasting(lo, keyword.value, value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
            continue
        value = contents.as_plain_dict(lo, value, keyword.value)
        if not isinstance(value, DictRef):
            raise TypeMismatchError(
                f"`**` needs a dict, not {kind_of(value)}", lo.span(keyword.value)
            )
        record = lo.record(value)
        kwargs.update(zip(record.keys, record.items, strict=True))
    if _is_numeric(callee):
        args = [_of_values(lo, arg, node) for arg in args]
    opening = lo.opening
    if opening is not None and opening.call is node and opening.frame is lo.frame:
        is_class = isinstance(callee, Static) and isinstance(callee.value, type)
        steps = callee == Static(next) and len(args) == 1 and classes.is_instance(args[0])
        opening.ready = steps or (written and not is_class)
    with lo.at(node):
        if asks and args and isinstance(found := args[0], Maybe):
            return evaluation.either(
                lo, found.some,
                lambda: dispatch.apply(lo, callee, [found.inner, *args[1:]], kwargs, node),
                lambda: dispatch.apply(lo, callee, [found.absent, *args[1:]], kwargs, node),
                node,
            )  # fmt: skip
        return dispatch.apply(lo, callee, args, kwargs, node)


def _as_dict(lo: Lowerer, arg: ast.expr) -> Binding | None:
    """Return what `dict` makes of an object with `keys`; None of anything else."""
    held = evaluation.lower_expr(lo, arg) if isinstance(arg, generators.HELD) else None
    made = held if held is None else contents.as_plain_dict(lo, held, arg)
    return None if made is held else made


def _given(lo: Lowerer, arg: ast.expr) -> Binding | None:
    """Return a text or an iterator that is passed to a function of the program; else None."""
    return stored.iterator(lo, arg) or formatting.given(lo, arg)


def _makes_iterator(lo: Lowerer, callee: Binding) -> bool:
    """Whether a function is one of `itertools`."""
    return isinstance(callee, Static) and generators.of_library(lo, callee.value) is not None


def _is_numeric(callee: Binding) -> bool:
    """Whether a function makes an array of a list: of None, NumPy makes one of objects."""
    name = getattr(callee.value, "__module__", None) if isinstance(callee, Static) else None
    return isinstance(name, str) and name.partition(".")[0] in ("numpy", "scipy", "math")


def _of_values(lo: Lowerer, given: Binding, node: ast.Call) -> Binding:
    """Return a list or tuple with the values of elements that may be None, but are not."""
    held = lo.held(given) if isinstance(given, ListRef) else given
    if not (isinstance(held, TupleOf) and any(isinstance(item, Maybe) for item in held.items)):
        return given
    items = TupleOf(dispatch.each_required(lo, held.items, node, LimitError.__name__))
    return lo.new_ref(ListRef, items) if isinstance(given, ListRef) else items


def _first_option(callee: Binding) -> int:
    """Return how many arguments of a function are values, of which none can be None."""
    match callee:
        case Bound():
            return 0
        case Static(value=np.ufunc() as ufunc):
            return int(ufunc.nin)
        case Static(value=types.BuiltinFunctionType() as fn):
            if fn is next or fn is round:
                return 1
            # A method of a text has options only.
            return sys.maxsize if isinstance(fn.__self__, types.ModuleType) else 0
        case _ if _is_numeric(callee):
            return 0 if callee == Static(np.random.default_rng) else 1
    return sys.maxsize


def _is_written(callee: Binding) -> bool:
    """Whether a function or class is of the program, not of Python or a known library."""
    match callee:
        case Closure():
            return True
        case Bound(owner=owner):
            return classes.is_instance(owner)
        case Static(value=types.FunctionType() as fn):
            return not (classes.is_of_library(fn) or _is_of_scipy(fn))
        case Static(value=type() as cls):
            return classes.is_written(cls)
    return False


def _keeps(callee: Binding) -> tuple[bool, bool]:
    """Whether a function stores its arguments themselves, and those with names."""
    match callee:
        case Bound(owner=ListRef() | DictRef(), name=name):
            return name not in _DRAWING, True
        case Static(value=value):
            return value is setattr or value is getattr, value is dict
    return False, False


# Methods of lists and dicts that store the elements of an argument.
_DRAWING = ("extend", "extendleft", "update")


def _takes_none(callee: Binding) -> bool:
    """Whether a function is the program's, or keeps what it is given: an argument may be None."""
    match callee:
        case Closure() | ObjectRef() | NamedTuple() | Super():
            return True
        case Bound(owner=ListRef() | DictRef() | ObjectRef() | NamedTuple() | Super()):
            return True
        case Static(value=type() as cls):
            return classes.is_record_class(cls)
        case Static(value=types.BuiltinFunctionType() as value) if value in _KEEPING:
            return True
        case Static(value=value) if (
            not custom.has_rule(value) and custom.external_of(value) is None
        ):
            fn = getattr(value, "py_func", value)
            fn = getattr(fn, "__func__", fn)
            return isinstance(fn, types.FunctionType) and not advice.is_unread(fn)
    return False


_KEEPING = (setattr, dict.fromkeys)


def _is_of_rows(callee: Binding, arg: ast.expr) -> bool:
    """Whether an argument is a list of lists, of which the function makes an array."""
    rows = isinstance(arg, ast.ListComp) and isinstance(
        arg.elt, ast.ListComp | ast.List | ast.Tuple
    )
    return rows and isinstance(callee, Static) and any(callee.value is fn for fn in _OF_ROWS)


def _rows(lo: Lowerer, arg: ast.ListComp) -> Binding:
    """Lower a list of lists that only becomes an array: of arrays, where it grows in a loop."""
    before, mark, frame = lo.snapshot(), len(lo.builder.stmts), lo.frame
    refused: AdcError | None = None
    try:
        found = dispatch.evaluate(lo, arg)
    except (TypeUnstableError, ConstantNeededError) as error:
        refused = error
    else:
        held = lo.held(found) if isinstance(found, ListRef) else None
        if not (isinstance(held, Growing) and isinstance(held.element, TupleOf)):
            return found
    del lo.builder.stmts[mark:]
    lo.frame = frame
    lo.restore(before)
    key = ("rows", id(arg))
    if key not in lo.memo:
        row = ast.Call(ast.Name(_ARRAY, ast.Load()), [arg.elt], [])
        made = ast.ListComp(ast.copy_location(row, arg.elt), arg.generators)
        lo.memo[key] = arg, ast.fix_missing_locations(ast.copy_location(made, arg))
    outer = frame.env.get(_ARRAY, Unbound())
    frame.env[_ARRAY] = Static(np.array)
    try:
        return dispatch.evaluate(lo, lo.memo[key][1])
    except AdcError as error:
        raise (refused or error) from None
    finally:
        frame.env[_ARRAY] = outer


_ARRAY = "$array"
_OF_ROWS = (
    np.array, np.asarray, np.stack, np.vstack, np.sum, np.mean, np.max, np.min, np.prod, np.std,
    np.var, np.median, np.linalg.norm, np.linalg.det, np.linalg.inv, np.linalg.eigvalsh,
)  # fmt: skip


def _unpacked(
    lo: Lowerer, given: Binding, arg: ast.Starred, callee: Binding, node: ast.Call
) -> Sequence[Binding]:
    """Return the elements of `*given`: as many as the function needs, if only that says it."""
    count = _needed(callee)
    others = [each for each in node.args if each is not arg]
    only = not any(isinstance(each, ast.Starred) for each in others) and not node.keywords
    if (
        count is None or not only or not isinstance(given, ArrayRef | Lazy)
        or not views.dims_of(lo, given) or sequences.known_elements(lo, given, arg) is not None
    ):  # fmt: skip
        return sequences.static_sequence(lo, given, arg)
    size = views.dims_of(lo, given)[0]
    fits = numbers.apply(lo, "eq", size, integer(count - len(others)))
    name = ast.unparse(node.func)
    text = f"{name}() takes {count} arguments but {len(others)} and {{}} were given"
    numbers.check(lo, fits, "TypeError", text, size)
    wanted = range(count - len(others))
    return [elementwise.load(lo, given, [integer(k)], node) for k in wanted]


def _needed(callee: Binding) -> int | None:
    """Return how many arguments a function takes, or None if it takes more or fewer too."""
    match callee:
        case Static(value=np.ufunc() as ufunc):
            return int(ufunc.nin)
        case Static(value=value) if callable(value):
            try:
                parameters = inspect.signature(value).parameters.values()
            except (TypeError, ValueError):
                return None
            if all(p.kind in _BY_POSITION and p.default is p.empty for p in parameters):
                return len(parameters)
        case Closure(node=made):
            spec = made.args
            if not (spec.vararg or spec.kwonlyargs or spec.kwarg or spec.defaults):
                return len(spec.posonlyargs) + len(spec.args)
    return None


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _consumes(callee: Binding) -> bool:
    """Whether a function consumes an iterable that it is given, and does nothing else."""
    return _is_one_of(callee, _CONSUMERS)


def _is_one_of(callee: Binding, functions: Sequence[Any]) -> bool:
    return isinstance(callee, Static) and any(callee.value is each for each in functions)


@called(Static)
def _call_known(
    lo: Lowerer, callee: Static, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    """Lower a call of a compile-time constant: a function, a class, a bound method."""
    value = callee.value
    if value is None or isinstance(value, str):
        dispatch.not_callable(lo, callee, node)
    if args and isinstance(args[0], ObjectRef) and (own := bases.meaning(value)) is not value:
        return dispatch.apply(lo, Static(own), args, kwargs, node)  # ``dict.get(self, key)``
    if not _takes_none(callee):
        # `print` takes one of several texts as it is.
        dispatch.require_one((*(() if value is print else args), *kwargs.values()), node)
    made = derivatives.of_object(value)
    if made is not None:
        return dispatch.apply(lo, made, args, kwargs, node)
    if (outside_ := custom.external_of(value)) is not None:
        owner_ = [static(value.__self__)] if outside_ is not value else []
        return custom.call_external(lo, outside_, [*owner_, *args], kwargs, node)
    if custom.has_rule(value):
        return custom.call(lo, value, args, kwargs, node)
    name = transform_name(value)
    if name is not None:
        return nested.transform(lo, name, args, kwargs, node)
    handled = constants.call(lo, callee, args, kwargs, node)
    if handled is None:
        handled = special.builtin(lo, value, args, kwargs, node)
    if handled is None:
        handled = library.call(lo, value, args, kwargs, node)
    if handled is None:
        handled = library.of_object(lo, callee, args, kwargs, node)
    if handled is None:
        handled = effects.of_logger(lo, value, args, kwargs, node)
    if handled is None:
        handled = effects.of_stream(lo, value, args, kwargs, node)
    if handled is None:
        handled = standard.of_object(lo, value, args, kwargs, node)
    if handled is None:
        try:
            handled = constants.method(lo, value, args, kwargs, node)
        except PickedError:
            handled = texts.method(lo, value, args, kwargs, node)
            if handled is None:
                raise
    if handled is None:
        handled = communication.of_functions(lo, value, args, kwargs, node)
    if handled is not None:
        return handled
    args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
    if isinstance(value, type) and issubclass(value, enum.Enum) and len(args) == 1 and not kwargs:
        return _member(lo, value, args[0], node)
    # Of a class that another one stands for, a handler makes the instances, if any are made.
    if classes.is_record_class(value) and stand_in(value) is None:
        return objects.construct(lo, value, args, kwargs, node)
    fn = getattr(value, "py_func", value)
    if isinstance(fn, types.FunctionType) and not advice.is_unread(fn):
        if (generator := generators.found_in(lo, Static(fn, callee.place))) is not None:
            return suspended.made(lo, generator, args, kwargs, node)
        if (new := objects.new_tuple(lo, fn, args, kwargs, node)) is not None:
            return new
        if (chosen := standard.of_class(lo, fn, args, node)) is not None:
            return dispatch.apply(lo, chosen, args, kwargs, node)
        return program.call_function(lo, fn, args, kwargs, node, callee.place)
    if isinstance(fn, types.MethodType) and is_checkpointed(fn):
        return dispatch.apply(lo, Static(fn.__func__), [static(fn.__self__), *args], kwargs, node)
    if isinstance(fn, types.MethodType) and (
        isinstance(fn.__func__, types.FunctionType) and not advice.is_unread(fn.__func__)
    ):
        return dispatch.apply(lo, Static(fn.__func__), [static(fn.__self__), *args], kwargs, node)
    if isinstance(value, enum.Enum) and isinstance(
        classes.in_class(type(value), "__call__"), types.FunctionType
    ):
        method = outside.attribute(lo, callee, "__call__")
        return dispatch.apply(lo, method, args, kwargs, node)
    if (generator := generators.of_library(lo, value)) is not None:
        args = generators.taken(lo, value, args, node)
        return suspended.made(lo, generator, args, kwargs, node)
    if isinstance(value, type) and classes.is_written(value) and not _is_of_scipy(value):
        why = f"an object of class `{value.__name__}`, {peculiarity(value)},"
        raise lo.unsupported(
            why, node,
            "use a dict, or `types.SimpleNamespace` for names with a dot"
            if issubclass(value, dict)
            else "use a plain class, or create the object outside the function",
        )  # fmt: skip
    raise lo.unsupported(f"`{advice.name_of(value)}`", node, advice.hint(value))


def _member(lo: Lowerer, cls: type[enum.Enum], key: Binding, node: ast.Call) -> Binding:
    """Return the member of an enumeration that has a value."""
    value: Any
    match key:
        case Static(value=value):
            pass
        case Num(operand=Literal(value=value)):
            pass
        case _:
            raise lo.constant_needed(key, f"the value of a {cls.__name__}", node)
    try:
        return Static(cls(value))
    except ValueError as error:
        numbers.refuse(lo, str(error), node, "ValueError", str(error))


def _is_of_scipy(value: type | types.FunctionType) -> bool:
    return advice.module_of(value).startswith("scipy.")


@called(Bound)
def _call_method(
    lo: Lowerer, callee: Bound, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    if not _takes_none(callee):
        dispatch.require_one((*args, *kwargs.values()), node)
    if isinstance(callee.owner, ArrayRef | Lazy | Num):
        return library.method(lo, callee, args, kwargs, node)
    if bindings.is_generator(callee.owner):
        return random.method(lo, callee, args, kwargs, node)
    if bindings.is_communicator(callee.owner):
        return communication.method(lo, callee, args, kwargs, node)
    args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
    match callee:
        case Bound(owner=Static() as table, name="to_numpy") if not (args or kwargs):
            return outside.values(lo, table, node)
        case Bound(owner=Ruled()):
            return custom.define(lo, callee, args, kwargs, node)
        case Bound(owner=Static()):
            raise lo.unsupported("`to_numpy` with arguments", node, "leave them out")
        case Bound(owner=SetRef() as owner, name=name):
            return sets.method(lo, owner, name, args, kwargs, node)
        case Bound(owner=DictRef() as owner, name=name):
            return dicts.method(lo, owner, name, args, kwargs, node)
        case Bound(owner=ListRef() | TupleOf()):
            return containers.method(lo, callee, args, kwargs, node)
        case Bound(owner=NamedTuple(cls=cls) as owner, name="_replace") if contents.replaces(cls):
            return contents.replaced(lo, owner, args, kwargs, node)
        case Bound(owner=(NamedTuple(cls=cls) | ObjectRef(cls=cls)) as owner, name=name):
            if callee.after is not None and name == "__init__":
                done = objects.initialised(lo, owner, callee.after, args, kwargs, node)
                if done is not None:
                    return done
            if name == "__setattr__" and not isinstance(
                classes.inherited(cls, name, callee.after)[1], types.FunctionType
            ):
                return reflection.set_own(lo, [owner, *args], kwargs, node)
            if name == "__getattribute__":
                return reflection.get_own(lo, [owner, *args], kwargs, node)
            if name == "__delattr__" and not isinstance(
                classes.inherited(cls, name, callee.after)[1], types.FunctionType
            ):
                return reflection.delete_own(lo, [owner, *args], kwargs, node)
            fn = classes.find_method(lo, cls, name, callee.after)
            return dispatch.apply(lo, Static(fn), [owner, *args], kwargs, node)
    dispatch.not_callable(lo, callee, node)


@called(ObjectRef, NamedTuple)
def _call_instance(
    lo: Lowerer,
    callee: ObjectRef | NamedTuple,
    args: list[Binding],
    kwargs: dict[str, Binding],
    node: ast.Call,
) -> Binding:
    args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
    fn = classes.find(lo, callee, "__call__")
    if fn is None:
        dispatch.not_callable(lo, callee, node)
    return dispatch.apply(lo, Static(fn), [callee, *args], kwargs, node)


@handles(ast.Lambda)
def closure(lo: Lowerer, node: ast.FunctionDef | ast.Lambda) -> Closure:
    """Return the function that a `def` or `lambda` inside the lowered code denotes."""
    defaults: dict[str, Binding] = {}
    for each in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
        iterators.require_undrawn(lo, each)
    called_name = getattr(getattr(node.body, "func", None), "id", None)
    if isinstance(node, ast.Lambda) and called_name not in closures.locals_of(node):
        iterators.require_undrawn(lo, node.body)
    positional = [*node.args.posonlyargs, *node.args.args]
    given = node.args.defaults
    for arg, default in zip(positional[len(positional) - len(given) :], given, strict=True):
        defaults[arg.arg] = evaluation.lower_expr(lo, default)
    for arg, kw_default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if kw_default is not None:
            defaults[arg.arg] = evaluation.lower_expr(lo, kw_default)
    source = Source(node, lo.frame.source.file, getattr(node, "name", "<lambda>"))
    lo.closures += 1
    return Closure(node, source, lo.frame, defaults, path=lo.path, number=lo.closures)


@called(Closure)
def _call_closure(
    lo: Lowerer, callee: Closure, args: list[Binding], kwargs: dict[str, Binding], node: ast.Call
) -> Binding:
    args, kwargs = elementwise.all_materialised(lo, args, kwargs, node)
    if (generator := generators.found_in(lo, callee)) is not None:
        return suspended.made(lo, generator, args, kwargs, node)
    return program.call_closure(lo, callee, args, kwargs, node)


@handles(ast.FunctionDef)
def _function(lo: Lowerer, stmt: ast.FunctionDef) -> None:
    found: Binding = closure(lo, stmt)
    for decorator in reversed(stmt.decorator_list):
        with lo.at(decorator):
            made = evaluation.lower_expr(lo, decorator)
            call = ast.copy_location(ast.Call(decorator, [], []), decorator)
            found = dispatch.apply(lo, made, [found], {}, call)
    lo.frame.env[stmt.name] = found
    lo.frame.partial.discard(stmt.name)
