"""Which expressions are texts, and which texts: f-strings, `str.format`, ``%``, `str`, joins."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import enum
import re
import types
from collections.abc import Mapping, Sequence
from string import Formatter

from adc.frontend.control import evaluation
from adc.frontend.core import classes, dispatch, outside
from adc.frontend.core.bindings import (
    ArrayRef,
    Binding,
    DictRef,
    Lazy,
    Num,
    OneOf,
    Static,
    TupleOf,
    Words,
)
from adc.frontend.core.lower import Lowerer
from adc.frontend.core.messages.descriptions import kind_of
from adc.frontend.core.numbers import escaped
from adc.frontend.core.state import TextError
from adc.frontend.inputs.instances import number_of
from adc.frontend.language.texts import templates, written
from adc.frontend.values import constants, elementwise, sequences, views
from adc.frontend.values.growing import wordings
from adc.ir.errors import TypeMismatchError

_RUN_TIME = "a string of run-time values outside `print`, `raise` and `assert`"
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
    return templates.string(dataclasses.replace(found, items=items))


def message(lo: Lowerer, node: ast.expr) -> Words:
    """Lower the text of a `raise`, `assert` or `print`."""
    if isinstance(node, ast.Name) or not is_format(lo, node):
        return written.text_of(lo, value(lo, node), node)
    match node:
        case ast.JoinedStr():
            return templates.joined([_part(lo, part) for part in node.values])
        case ast.Call(func=ast.Attribute(attr="join")):
            return _join(lo, node)
        case ast.Call(func=ast.Attribute()):
            return _format_call(lo, node)
        case ast.Call():
            return _call(lo, node)
        case ast.BinOp(op=ast.Mod()):
            return _percent(lo, node)
        case ast.BinOp():
            return templates.joined([_string(lo, part) for part in (node.left, node.right)])
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
        return written.text_of(lo, found, node)
    raise TypeMismatchError(f"{what} {kind_of(found)}", lo.span(node), "use an f-string")


def _part(lo: Lowerer, part: ast.expr) -> Words:
    if isinstance(part, ast.Constant):
        return wordings.known(str(part.value))
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
        return wordings.known(format(binding.value, spec))
    if not conversion and isinstance(binding, Static) and (
        isinstance(binding.value, enum.Enum) or number_of(binding.value) is not None
    ):  # fmt: skip
        fn = classes.in_class(type(binding.value), "__format__")
        if not isinstance(fn, types.FunctionType):  # of `int` or `str`, for their enumerations
            outside.pin(lo, binding)
            return wordings.known(format(binding.value, spec))
        if fn.__module__ != enum.__name__:
            raise lo.unsupported(f"`__format__` of {kind_of(binding)}", node, "use `!s`, or `str`")
    as_str = written.str_of if conversion == "s" else written.text_of
    if not conversion and classes.find(lo, binding, "__format__") is not None:
        raise lo.unsupported(f"`__format__` of {kind_of(binding)}", node, "use `!s`, or `str`")
    found = (
        written.text_of(lo, binding, node, as_repr=True) if conversion in "ra" and conversion
        else as_str(lo, binding, node)
    )  # fmt: skip
    if conversion == "a" and not isinstance(binding, Num | ArrayRef | Lazy):
        if found.items:
            raise lo.unsupported("this format", node, "use `!r`")
        shown = found.template.format().encode("ascii", "backslashreplace").decode()
        return wordings.known(format(shown, spec))
    if not spec:
        return found
    if not found.items:
        shown = found.template.format()
        if isinstance(binding, Static) and not conversion:
            shown = binding.value  # most objects take no format
        try:
            return wordings.known(format(shown, spec))
        except (TypeError, ValueError) as error:
            constants.failing(lo, error)
            return wordings.known("")
    if not isinstance(binding, Num | ArrayRef | Lazy | OneOf):
        if conversion or isinstance(binding, Words):
            return templates.as_one(found, f"{{:{spec}}}")
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
        parts.append(wordings.known(literal))
        if name is None:
            continue
        if name == "":
            name, position = str(position), position + 1
        if name not in given or "{" in (spec or ""):
            raise refused
        parts.append(_filled(lo, given[name], conversion or "", spec or "", node))
    return templates.joined(parts)


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
    return templates.joined(texts_in(lo, node.args[0]), escaped(str(node.func.value.value)))


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
    return [written.text_of(lo, item, node.of) for item in made.items]


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
        parts.append(wordings.known(pattern[at : match.start()]))
        at = match.end()
        if match[1]:
            parts.append(wordings.known("%"))
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
        binding = outside.number_in(lo, binding)
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
    return templates.joined([*parts, wordings.known(rest)])
