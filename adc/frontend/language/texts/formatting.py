"""Text: f-strings, `str.format`, ``%``, `str`, `repr` and `format`, and what `print` prints.

A text is a template for `str.format` and what fills it in. Compiled code passes on the numbers and
the elements of the arrays, and Python formats them. What Python writes for a list, a dict or a
dataclass is part of the template.
"""

from __future__ import annotations

import ast
import builtins
import collections
import dataclasses
import enum
import json
import re
import types
from collections.abc import Mapping, Sequence
from string import Formatter

import numpy as np

from adc.frontend.control import evaluation
from adc.frontend.core import classes, dispatch, outside
from adc.frontend.core.bindings import (
    Among,
    ArrayRef,
    Binding,
    Cell,
    DictRef,
    Growing,
    Lazy,
    ListRef,
    NamedTuple,
    Num,
    ObjectRef,
    OneOf,
    Range,
    RecordOf,
    SetRef,
    Static,
    TupleOf,
    Words,
    kind_of,
    texts_of,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.numbers import escaped, scalar_type
from adc.frontend.core.state import TextError
from adc.frontend.core.structure import cells_of
from adc.frontend.inputs import instances
from adc.frontend.values import constants, elementwise, list_buffers, sequences, views
from adc.ir.core import ELEMENT, SHAPE, Literal, Operand, Print
from adc.ir.errors import TypeMismatchError
from adc.ir.types import Scalar

# In the record of an exception: its message, a format string; the other items are its numbers.
TEXT = "$text"
_BUILTINS = (str, repr, format)
_RUN_TIME = "a string of run-time values outside `print`, `raise` and `assert`"
# The form of the number of one of several texts, before these.
_TEXTS = "texts "
# Those of the arrays with the numbers of many texts; the last one says how many arrays there are.
_COLUMN, _ROWS = "column", "rows "
_KEYS = "strings are keys: they must be known when the program is compiled"


# -- which expressions are texts -------------------------------------------------------------------


def is_format(lo: Lowerer, node: ast.expr) -> bool:
    """Whether an expression formats: an f-string, `str.format`, ``%``, `str`, a sum or a join."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        if is_format(lo, node.right):
            return True
        node = node.left
    match node:
        case ast.Name(id=name):
            return _named(lo, name) is not None
        case ast.JoinedStr():
            return True
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="format")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="join"), args=[arg]):
            # Where strings may be anywhere, they are joined as those of a list are.
            of_any_length = lo.shared.texts and isinstance(arg, ast.ListComp | ast.GeneratorExp)
            return are_formats(lo, arg) and not of_any_length
        case ast.Call(func=ast.Name(id="str" | "repr" | "format" as name), args=[_, *_]):
            wanted = getattr(builtins, name)
            return dispatch.evaluate(lo, node.func) == Static(wanted) and not node.keywords
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod()):
            return True
    return False


class Texts(ast.expr):
    """The texts that a comprehension makes, of numbers known only at run time."""

    _fields = ("of",)
    of: ast.ListComp | ast.GeneratorExp

    def __init__(self, of: ast.ListComp | ast.GeneratorExp) -> None:
        super().__init__()
        self.of = of
        ast.copy_location(self, of)


def are_formats(lo: Lowerer, node: ast.expr) -> bool:
    """Whether what is joined, or printed, are texts that are formatted there."""
    match node:
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
            # A name may be that of what the comprehension loops over.
            return not isinstance(element, ast.Name) and is_format(lo, element)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return any(is_format(lo, each) for each in elements)
        case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="str" | "repr" as name), _]):
            found = [dispatch.evaluate(lo, each) for each in (node.func, node.args[0])]
            return found == [Static(map), Static(getattr(builtins, name))]
    return False


def formatted(lo: Lowerer, node: ast.expr) -> Static | Words:
    """Return the string that values are formatted to: a constant, unless all may be strings."""
    return admitted(lo, words(lo, node), node)


def admitted(lo: Lowerer, found: Static | Words, node: ast.AST) -> Static | Words:
    """Return a string that is more than printed, if there may be such ones."""
    if isinstance(found, Static) or lo.shared.texts:
        return found
    what = {
        ast.JoinedStr: "an f-string of run-time values outside `print`, `raise` and `assert`",
        ast.Call: "formatting a run-time value outside `print`, `raise` and `assert`",
    }.get(type(node), _RUN_TIME)
    raise TextError(f"{what} is not supported", lo.span(node), _KEYS)


def words(lo: Lowerer, node: ast.expr) -> Static | Words:
    """Lower an expression that formats; arrays are formatted as they are now."""
    return kept(lo, message(lo, node), node)


def kept(lo: Lowerer, found: Words, node: ast.AST) -> Static | Words:
    """Return a text with copies of its arrays, which may change."""
    items = tuple(
        elementwise.copy(lo, item, node) if isinstance(item, ArrayRef) else item
        for item in found.items
    )
    return string(dataclasses.replace(found, items=items))


def string(found: Words) -> Static | Words:
    """Return a text as a constant, if it is one."""
    constants: list[object] = []
    for item, form in zip(found.items, found.forms, strict=True):
        operand = item.operand if isinstance(item, Num) and not _is_passed_on(form) else None
        if not (isinstance(operand, Literal) and isinstance(operand.type, Scalar)):
            return found
        ty = operand.type
        constants.append(operand.value if ty.weak else ty.numpy.type(operand.value))
    return Static(found.template.format(*constants))


def _is_texts(form: str) -> bool:
    return form.startswith(_TEXTS)


def rows(columns: Sequence[ArrayRef], element: Words, between: str) -> Words:
    """Return texts like `element` one after the other, whose numbers are in arrays."""
    plain = ("python" if cell.type.weak else "number" for cell in cells_of(element))
    forms = [form or own for form, own in zip(element.forms, plain, strict=True)]
    said = json.dumps([between, element.template, forms])
    passed = (*[_COLUMN] * (len(columns) - 1), f"{_ROWS}{len(columns)} {said}")
    return Words("{}", tuple(columns), passed)


def _is_passed_on(form: str) -> bool:
    """Whether Python makes something of an operand of this form before it is formatted."""
    return form == "array" or _is_texts(form)


# -- texts -----------------------------------------------------------------------------------------


def joined(parts: Sequence[Words], between: str = "") -> Words:
    """Return texts one after the other, with a template between them."""
    return Words(
        between.join(part.template for part in parts),
        tuple(item for part in parts for item in part.items),
        tuple(form for part in parts for form in part.forms),
    )


def _known(text: str) -> Words:
    return Words(escaped(text), (), ())


def message(lo: Lowerer, node: ast.expr) -> Words:
    """Lower the text of a `raise`, `assert` or `print`."""
    if isinstance(node, ast.Name) or not is_format(lo, node):
        return text_of(lo, value(lo, node), node)
    match node:
        case ast.JoinedStr():
            return joined([_part(lo, part) for part in node.values])
        case ast.Call(func=ast.Attribute(attr="join")):
            return _join(lo, node)
        case ast.Call(func=ast.Attribute()):
            return _format_call(lo, node)
        case ast.Call():
            return _call(lo, node)
        case ast.BinOp(op=ast.Mod()):
            return _percent(lo, node)
        case ast.BinOp():
            return joined([_string(lo, part) for part in (node.left, node.right)])
    raise AssertionError(node)


def value(lo: Lowerer, node: ast.expr) -> Binding:
    """Lower an expression that may be the name of a text, or one of several texts."""
    if isinstance(node, ast.Name) and (named := _named(lo, node.id)) is not None:
        return named
    if not isinstance(node, ast.Name) and is_format(lo, node):
        return message(lo, node)
    found = dispatch.filled(lo, node, texts=lo.telling is lo.frame)
    with lo.at(node):
        return elementwise.materialised(lo, found, node)


def given(lo: Lowerer, node: ast.expr) -> Static | Words | None:
    """Return the text that an argument of a function of the program is; None for other values."""
    if isinstance(node, ast.Name):
        return _named(lo, node.id)
    return words(lo, node) if is_format(lo, node) else None


def _named(lo: Lowerer, name: str) -> Words | None:
    """Return the text that a variable has, if it is one of numbers known only at run time."""
    found = None if name in lo.frame.partial else lo.frame.env.get(name)
    return found if isinstance(found, Words) else None


def string_of(lo: Lowerer, node: ast.expr) -> Words:
    """Lower an expression whose value is joined to texts."""
    return _string(lo, node, "a join of")


def _string(lo: Lowerer, node: ast.expr, what: str = "a string plus") -> Words:
    """Lower a part of a sum or a join of strings."""
    found = value(lo, node)
    if isinstance(found, Words) or (isinstance(found, Static) and isinstance(found.value, str)):
        return text_of(lo, found, node)
    raise TypeMismatchError(f"{what} {kind_of(found)}", lo.span(node), "use an f-string")


def _part(lo: Lowerer, part: ast.expr) -> Words:
    if isinstance(part, ast.Constant):
        return _known(str(part.value))
    assert isinstance(part, ast.FormattedValue)
    spec = ""
    if part.format_spec is not None:
        found = words(lo, part.format_spec)
        if isinstance(found, Words):
            raise lo.unsupported("a computed format", part)
        spec = found.value
    conversion = "" if part.conversion == -1 else chr(part.conversion)
    return _filled(lo, value(lo, part.value), conversion, spec, part)


def _filled(lo: Lowerer, binding: Binding, conversion: str, spec: str, node: ast.AST) -> Words:
    """Return the text of ``{binding!conversion:spec}``."""
    if constants.is_constant(binding) and not conversion:
        assert isinstance(binding, Static)
        outside.pin(lo, binding)
        return _known(format(binding.value, spec))
    if not conversion and isinstance(binding, Static) and isinstance(binding.value, enum.Enum):
        fn = classes.in_class(type(binding.value), "__format__")
        if not isinstance(fn, types.FunctionType):  # of `int` or `str`, for their enumerations
            outside.pin(lo, binding)
            return _known(format(binding.value, spec))
        if fn.__module__ != enum.__name__:
            raise lo.unsupported(f"`__format__` of {kind_of(binding)}", node, "use `!s`, or `str`")
    as_str = str_of if conversion == "s" else text_of
    if not conversion and classes.find(lo, binding, "__format__") is not None:
        raise lo.unsupported(f"`__format__` of {kind_of(binding)}", node, "use `!s`, or `str`")
    found = (
        text_of(lo, binding, node, as_repr=True) if conversion in "ra" and conversion
        else as_str(lo, binding, node)
    )  # fmt: skip
    if conversion == "a" and not isinstance(binding, Num | ArrayRef | Lazy):
        if found.items:
            raise lo.unsupported("this format", node, "use `!r`")
        shown = found.template.format().encode("ascii", "backslashreplace").decode()
        return _known(format(shown, spec))
    if not spec:
        return found
    if not found.items:
        return _known(format(found.template.format(), spec))
    if not isinstance(binding, Num | ArrayRef | Lazy | OneOf):
        raise lo.unsupported(f"a format of {kind_of(binding)}", node, "format its elements")
    if isinstance(binding, ArrayRef | Lazy) and not (conversion or _is_number(lo, binding)):
        raise TypeMismatchError(
            "unsupported format string passed to numpy.ndarray.__format__", lo.span(node),
            "format the elements, or use `np.printoptions` around the call",
        )  # fmt: skip
    shown = f"!{conversion}" if conversion else ""
    return dataclasses.replace(found, template=f"{{{shown}:{spec}}}")


def _is_number(lo: Lowerer, binding: Binding) -> bool:
    return isinstance(binding, ArrayRef | Lazy) and not views.dims_of(lo, binding)


def _call(lo: Lowerer, node: ast.Call) -> Words:
    """Lower `str`, `repr` and `format`."""
    callee = dispatch.evaluate(lo, node.func)
    assert isinstance(callee, Static)
    first, *rest = [value(lo, arg) for arg in node.args]
    spec = ""
    if callee.value is format and len(rest) == 1:
        found = rest.pop()
        if not (isinstance(found, Static) and isinstance(found.value, str)):
            raise lo.unsupported("a computed format", node)
        spec = found.value
    if rest:
        raise lo.unsupported(f"`{callee.value.__name__}` with these arguments", node)
    conversion = {str: "s", repr: "r", format: ""}[callee.value]
    return _filled(lo, first, conversion, spec, node)


def _format_call(lo: Lowerer, node: ast.Call) -> Words:
    """Lower ``"...".format(...)``."""
    assert isinstance(node.func, ast.Attribute)
    assert isinstance(node.func.value, ast.Constant)
    items = [item for arg in node.args for item in _items(lo, arg)]
    named: dict[str, Binding] = {}
    for keyword in node.keywords:
        if keyword.arg is not None:
            named[keyword.arg] = value(lo, keyword.value)
            continue
        held = evaluation.lower_filled(lo, keyword.value)
        if not isinstance(held, DictRef):
            raise lo.unsupported("this format", node, "use an f-string")
        record = lo.record(held)
        named |= zip(map(str, record.keys), record.items, strict=True)
    return with_values(lo, str(node.func.value.value), items, named, node)


def with_values(
    lo: Lowerer, pattern: str, items: Sequence[Binding], named: Mapping[str, Binding], node: ast.AST
) -> Words:
    """Return what ``pattern.format(*items, **named)`` returns."""
    refused = lo.unsupported("this format", node, "use an f-string")
    given = {**{str(k): item for k, item in enumerate(items)}, **named}
    parts: list[Words] = []
    position = 0
    fields = list(Formatter().parse(pattern))
    names = {name for _, name, _, _ in fields if name is not None}
    if "" in names and any(map(str.isdecimal, names)):
        raise refused  # Python numbers all of them, or none
    for literal, name, spec, conversion in fields:
        parts.append(_known(literal))
        if name is None:
            continue
        if name == "":
            name, position = str(position), position + 1
        if name not in given or "{" in (spec or ""):
            raise refused
        parts.append(_filled(lo, given[name], conversion or "", spec or "", node))
    return joined(parts)


def _items(lo: Lowerer, arg: ast.expr) -> Sequence[Binding]:
    """Lower an argument of `format`, which may be starred."""
    if not isinstance(arg, ast.Starred):
        return [value(lo, arg)]
    found = elementwise.materialised(lo, evaluation.lower_filled(lo, arg.value), arg)
    return sequences.static_sequence(lo, found, arg)


def _join(lo: Lowerer, node: ast.Call) -> Words:
    """Lower ``", ".join(...)`` of texts of numbers known only at run time."""
    assert isinstance(node.func, ast.Attribute)
    assert isinstance(node.func.value, ast.Constant)
    return joined(texts_in(lo, node.args[0]), escaped(str(node.func.value.value)))


def texts_in(lo: Lowerer, given: ast.expr) -> list[Words]:
    """Lower an expression of which `are_formats` holds."""
    match given:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [string_of(lo, each) for each in elements]
        case ast.Call(args=[function, iterable]):
            key = ("joined", id(given))
            if key not in lo.memo:
                item = f"$item{given.lineno}_{given.col_offset}"
                text = ast.Call(function, [ast.Name(item, ast.Load())], [])
                part = ast.comprehension(ast.Name(item, ast.Store()), iterable, [], 0)
                made = ast.copy_location(ast.GeneratorExp(text, [part]), given)
                for inner in ast.walk(made):
                    if not hasattr(inner, "lineno"):
                        ast.copy_location(inner, given)
                lo.memo[key] = (given, Texts(made))
            return _texts(lo, lo.memo[key][1])
        case ast.ListComp() | ast.GeneratorExp():
            return _texts(lo, Texts(given))
    raise AssertionError(given)


def _texts(lo: Lowerer, node: Texts) -> list[Words]:
    made = dispatch.evaluate(lo, node)
    assert isinstance(made, TupleOf)
    return [text_of(lo, item, node.of) for item in made.items]


_PERCENT = re.compile(r"%(?:(%)|([-+ 0#]*)(\d*)(\.\d+)?([diouxXeEfFgGsr]))")


def _percent(lo: Lowerer, node: ast.BinOp) -> Words:
    """Lower ``"..." % (...)``."""
    assert isinstance(node.left, ast.Constant)
    if isinstance(node.right, ast.Tuple):
        given = TupleOf(tuple(value(lo, part) for part in node.right.elts))
        return percent(lo, str(node.left.value), given, node)
    return percent(lo, str(node.left.value), value(lo, node.right), node)


def percent(lo: Lowerer, pattern: str, right: Binding, node: ast.AST) -> Words:
    """Return what ``pattern % right`` returns."""
    given = list(right.items) if isinstance(right, TupleOf) else [right]
    at, parts = 0, list[Words]()
    refused = lo.unsupported("this format", node, "use an f-string")
    for match in _PERCENT.finditer(pattern):
        parts.append(_known(pattern[at : match.start()]))
        at = match.end()
        if match[1]:
            parts.append(_known("%"))
            continue
        flags, width, digits, kind = match[2], match[3], match[4] or "", match[5]
        if not given or set(flags) - set("+- 0"):
            raise refused
        binding = given.pop(0)
        side = "" if not width else "<" if "-" in flags else ">"
        if kind in "sr":
            parts.append(_filled(lo, binding, kind, f"{side}{width}{digits}", node))
            continue
        whole = kind in "diuoxX"
        wanted = "i" if whole else "if"
        if not isinstance(binding, Num) or binding.operand.type.kind not in wanted:
            raise refused
        if whole and digits:  # `format` does not have it
            raise refused
        sign = "+" if "+" in flags else " " if " " in flags else ""
        fill = "0" if "0" in flags and side == ">" else ""
        spec = f"{'' if fill else side}{sign}{fill}{width}{digits}{'d' if kind in 'diu' else kind}"
        parts.append(_filled(lo, binding, "", spec, node))
    rest = pattern[at:]
    if given or "%" in rest:
        raise refused
    return joined([*parts, _known(rest)])


# -- what Python writes for a value ----------------------------------------------------------------


def text_of(lo: Lowerer, binding: Binding, node: ast.AST, as_repr: bool = False) -> Words:
    """Return the text that `format`, or `repr`, makes of a binding."""
    field = "{!r}" if as_repr else "{}"
    if isinstance(binding, OneOf) and lo.telling is lo.frame:
        known = texts_of(binding)
        if known is not None:  # Python takes the one with that number
            return Words(field, (Num(binding.which),), (f"{_TEXTS}{json.dumps(known)}",))
    dispatch.require_one([binding], node)
    match binding:
        case Words():
            if as_repr and binding.items:
                raise lo.unsupported(f"`repr` of {kind_of(binding)}", node)
            return _known(repr(binding.template.format())) if as_repr else binding
        case Num(operand=operand, array=array):
            weak = isinstance(operand.type, Scalar) and scalar_type(operand).weak
            form = "array" if array else ("python" if weak else "number")
            plain = not array and operand.type.kind != "c"
            return Words(field, (Num(operand),), ("" if plain else form,))
        case ArrayRef() | Lazy():
            if not views.dims_of(lo, binding):
                found = elementwise.value_of(lo, binding, node)
                assert isinstance(found, Num)
                is_array = isinstance(binding, ArrayRef)
                return text_of(lo, Num(found.operand, is_array), node, as_repr)
            if lo.printing:
                raise lo.unsupported(
                    "formatting an array inside `with np.printoptions`", node,
                    "use `np.printoptions` around the call of the differentiated function",
                )  # fmt: skip
            made = elementwise.materialised(lo, binding, node)
            assert isinstance(made, ArrayRef)
            return Words(field, (made,), ("array",))
        case Static(value=known) if isinstance(
            known, str | int | float | complex | bytes | None
        ) and not isinstance(known, enum.Enum):
            return _known(repr(known) if as_repr else str(known))
        case Static(value=known) if isinstance(known, type | np.dtype) or instances.is_value(known):
            outside.pin(lo, binding)
            return _known(repr(known) if as_repr else str(known))
        case Static(value=enum.Enum()):
            return _member(lo, binding, node, as_repr)
        case TupleOf(items=items):
            return _sequence(lo, "(", items, ",)" if len(items) == 1 else ")", node)
        case ListRef():
            return _list(lo, binding, node)
        case DictRef() if not isinstance(binding, SetRef):
            record = lo.record(binding)
            pairs = zip(record.keys, record.items, strict=True)
            return _entries(lo, "{", [(f"{key!r}: ", item) for key, item in pairs], "}", node)
        case Range(start=start, stop=stop, step=step) if isinstance(step.operand, Literal):
            last = (step,) if step.operand.value != 1 else ()
            return _sequence(lo, "range(", (start, stop, *last), ")", node)
        case NamedTuple(cls=cls, record=record) if issubclass(cls, BaseException):
            template = record.get(TEXT)
            assert isinstance(template, Static)
            if as_repr or issubclass(cls, KeyError):  # it shows what is missing as code does
                what = "formatting a `KeyError`" if issubclass(cls, KeyError) else "this format"
                raise lo.unsupported(what, node, "write the key")
            items = tuple(item for item in record.items if isinstance(item, Num))
            return Words(template.value, items, ("",) * len(items))
        case NamedTuple() | ObjectRef() if classes.is_instance(binding):
            return _instance(lo, binding, node, as_repr)
    raise lo.unsupported(f"formatting {kind_of(binding)}", node, "format its elements")


def str_of(lo: Lowerer, binding: Binding, node: ast.AST) -> Words:
    """Return the text that `str` makes of a binding; `text_of` returns what `format` makes of it.

    They differ for float32: the latter makes a Python float first.
    """
    found = text_of(lo, binding, node)
    if isinstance(binding, Words) or found.template != "{}":
        return found
    return dataclasses.replace(found, template="{!s}")


def _entries(
    lo: Lowerer, start: str, entries: Sequence[tuple[str, Binding]], end: str, node: ast.AST
) -> Words:
    """Return the text of items with what stands before each, separated by commas."""
    parts = [_known(start)]
    for k, (before, item) in enumerate(entries):
        inside = text_of(lo, outside.opened(lo, item), node, as_repr=True)
        parts += [_known(", " * bool(k) + before), inside]
    return joined([*parts, _known(end)])


def _sequence(
    lo: Lowerer, start: str, items: Sequence[Binding], end: str, node: ast.AST
) -> Words:  # fmt: skip
    return _entries(lo, start, [("", item) for item in items], end, node)


def _list(lo: Lowerer, binding: ListRef, node: ast.AST) -> Words:
    held = lo.held(binding)
    if isinstance(held, Growing):
        element = held.element
        known = texts_of(element) if isinstance(element, Among) else None
        if known is None and not isinstance(element, Cell):
            raise lo.unsupported(f"formatting {kind_of(held)}", node, "format its elements")
        array = (
            list_buffers.array_of(lo, held, node) if known is None else list_buffers.view(lo, held)
        )
        made = elementwise.materialised(lo, array, node)
        assert isinstance(made, ArrayRef)
        if known is not None:
            return Words("{}", (made,), (f"{_TEXTS}{json.dumps(known)}",))
        assert isinstance(element, Cell)
        plain = element.sizes is None and element.type.weak
        return Words("{}", (made,), ("python" if plain else "list",))
    return _sequence(lo, "[", sequences.static_sequence(lo, binding, node), "]", node)


def _instance(lo: Lowerer, binding: NamedTuple | ObjectRef, node: ast.AST, as_repr: bool) -> Words:
    """Return the text of an instance: by its methods, or those that Python generates."""
    cls = binding.cls
    names = ("__repr__",) if as_repr else ("__str__", "__repr__")
    for name in names:
        fn = classes.find(lo, binding, name)
        if fn is not None and not _is_of_named_tuples(fn):
            made = dispatch.apply(lo, Static(fn), [binding], {}, classes.call_at(node))
            return text_of(lo, made, node)
    record = binding.record if isinstance(binding, NamedTuple) else lo.record(binding)
    if instances.is_named_tuple(cls):
        return _fields(lo, cls.__name__, record, record.keys, node)
    if classes.is_generated(cls, classes.in_class(cls, "__repr__")):
        shown = [each.name for each in dataclasses.fields(cls) if each.repr]
        return _fields(lo, cls.__qualname__, record, shown, node)
    raise lo.unsupported(f"formatting {kind_of(binding)}", node, "give its class a `__repr__`")


def _member(lo: Lowerer, binding: Static, node: ast.AST, as_repr: bool) -> Words:
    """Return the text of a member of an enumeration."""
    value = binding.value
    name = "__repr__" if as_repr else "__str__"
    fn = classes.in_class(type(value), name)
    if isinstance(fn, types.FunctionType) and fn.__module__ != enum.__name__:
        method = outside.attribute(lo, binding, name)
        made = dispatch.apply(lo, method, [], {}, classes.call_at(node))
        return text_of(lo, made, node)
    outside.pin(lo, binding)
    return _known(repr(value) if as_repr else str(value))


def _is_of_named_tuples(fn: object) -> bool:
    """Whether a method is the one that `collections.namedtuple` makes."""
    code = getattr(fn, "__code__", None)
    return code is not None and code.co_filename == collections.__file__


def _fields(
    lo: Lowerer, name: str, record: RecordOf, keys: Sequence[str], node: ast.AST
) -> Words:  # fmt: skip
    entries: list[tuple[str, Binding]] = []
    for key in keys:
        item = record.get(key)
        if item is None:
            raise lo.unsupported(f"formatting an object without `{key}`", node)
        entries.append((f"{key}=", item))
    return _entries(lo, f"{name}(", entries, ")", node)


# -- what is done with texts -----------------------------------------------------------------------


def operands(found: Words) -> tuple[Operand, ...] | None:
    """Return the numbers in a text; None if it has arrays, which `filled` passes on."""
    numbers: list[Operand] = []
    if _COLUMN in found.forms:
        return None
    ends = [end for _, field, _, end in Formatter().parse(found.template) if field is not None]
    for item, form, end in zip(found.items, found.forms, ends, strict=True):
        if not isinstance(item, Num) or (form == "array" and end == "r") or _is_texts(form):
            return None
        numbers.append(item.operand)
    return tuple(numbers)


def emit(lo: Lowerer, found: Words, node: ast.AST, to: str = "") -> None:
    """Pass a text on to Python, with the arrays in it."""
    text, numbers = filled(lo, found, node)
    lo.builder.emit(Print(text, numbers, lo.builder.loc, to))


def filled(
    lo: Lowerer, found: Words, node: ast.AST, before: int = 0
) -> tuple[str, tuple[Operand, ...]]:
    """Pass on the arrays in a text, after so many others; return its template and the numbers."""
    text, numbers = "", list[Operand]()
    items = iter(zip(found.items, found.forms, strict=True))
    for literal, field, spec, conversion in Formatter().parse(found.template):
        text += escaped(literal)
        if field is None:
            continue
        item, form = next(items)
        while form == _COLUMN:
            _pass(lo, item, form, node)
            before += 1
            item, form = next(items)
        end = (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
        if form == "":
            assert isinstance(item, Num)
            numbers.append(item.operand)
            text += f"{{{end}}}"
            continue
        _pass(lo, item, form, node)
        text += f"{{a[{before}]{end}}}"
        before += 1
    return text, tuple(numbers)


def _pass(lo: Lowerer, item: Binding, form: str, node: ast.AST) -> None:
    """Pass an array on: its shape, and then each element."""
    build, loc = lo.builder, lo.builder.loc
    assert isinstance(item, Num | ArrayRef)
    if isinstance(item, Num):
        ty = item.operand.type
        build.emit(Print(f"{form} {ty.dtype}", (), loc, SHAPE))
        build.emit(Print("", (item.operand,), loc, ELEMENT))
        return
    source = elementwise.lazy(lo, item, node)
    build.emit(Print(f"{form} {source.type.dtype}", tuple(source.dims), loc, SHAPE))

    def element(index: list[Operand], carried: object) -> Sequence[Operand]:
        lo.builder.emit(Print("", (source.element(index),), loc, ELEMENT))
        return []

    elementwise.nest(lo, source.dims, [], [], element)


__all__ = ["TEXT", "emit", "filled", "formatted", "is_format", "message", "operands"]
