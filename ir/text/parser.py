"""Read the text form: ``parse(print(fn)) == fn``. Types are inferred, not written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

from adc.ir.core import (
    Apply,
    Block,
    Call,
    Check,
    CustomRule,
    Derived,
    For,
    Function,
    Gemm,
    If,
    Literal,
    Load,
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
    found_by,
)
from adc.ir.errors import IRError, Span
from adc.ir.opdef import OPS, Static
from adc.ir.types import BOOL, COMPLEX, FLOAT, INT, Array, Type, parse_type

_REAL = r"(?:inf|nan|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)"
_TOKEN = re.compile(
    r"""
    (?P<space>[ \t]+|\#[^\n]*) | (?P<newline>\n)
  | (?P<value>%(?:[^\W\d]|\$)[\w.$]*)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<complex>-?{real}[+-]{real}j)
  | (?P<number>-?{real}(?!\w))
  | (?P<arrow>->) | (?P<word>(?:[^\W\d]|\$)[\w.$]*) | (?P<punct>[\[\](){}=,:])
    """.replace("{real}", _REAL),
    re.VERBOSE,
)


class _Tokens:
    def __init__(self, text: str) -> None:
        self.items: list[tuple[str, str, int]] = []
        line, at = 1, 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise IRError(f"unexpected character {text[at]!r}", Span("<ir>", line))
            kind = str(match.lastgroup)
            if kind != "space" and not (kind == "newline" and self._ended()):
                self.items.append((kind, match.group(), line))
            line += kind == "newline"
            at = match.end()
        self.items.append(("end", "", line))
        self.at = 0

    def _ended(self) -> bool:
        return not self.items or self.items[-1][0] == "newline"

    @property
    def kind(self) -> str:
        return self.items[self.at][0]

    @property
    def text(self) -> str:
        return self.items[self.at][1]

    @property
    def line(self) -> int:
        return self.items[self.at][2]

    def error(self, message: str, line: int = 0) -> IRError:
        return IRError(message, Span("<ir>", line or self.line))

    def next(self) -> str:
        self.at += 1
        return self.items[self.at - 1][1]

    def accept(self, text: str) -> bool:
        if self.text == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.error(f"expected {text!r}, found {self.text!r}")

    def want(self, kind: str) -> str:
        if self.kind != kind:
            raise self.error(f"expected a {kind}, found {self.text!r}")
        return self.next()

    def skip_lines(self) -> None:
        while self.kind == "newline":
            self.at += 1


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = _Tokens(text)
        self.functions: dict[str, Function] = {}
        self.values: dict[str, Value] = {}

    # -- pieces ----------------------------------------------------------------------------

    def type(self) -> Type:
        text = self.tokens.want("word")
        if self.tokens.accept("["):
            inside = ""
            while not self.tokens.accept("]"):
                inside += self.tokens.next()
            text = f"{text}[{inside}]"
            if self.tokens.kind == "word" and self.tokens.text in ("A", "F"):
                text += self.tokens.next()
        try:
            return parse_type(text)
        except ValueError as error:
            raise self.tokens.error(str(error)) from None

    def define(self, name: str, ty: Type, line: int = 0) -> Value:
        if name in self.values:
            raise self.tokens.error(f"%{name} is defined twice", line)
        value = Value(name, ty)
        self.values[name] = value
        return value

    def name(self) -> str:
        return self.tokens.want("value")[1:]

    def read(self) -> Value:
        name = self.name()
        if name not in self.values:
            raise self.tokens.error(f"%{name} is not defined")
        return self.values[name]

    def is_operand(self) -> bool:
        return self.tokens.kind in ("value", "number", "complex") or (
            self.tokens.text in ("true", "false")
        )

    def operand(self) -> Operand:
        if self.tokens.kind == "value":
            return self.read()
        if self.tokens.text in ("true", "false"):
            value: bool | int | float | complex = self.tokens.next() == "true"
            ty: Type = BOOL
        elif self.tokens.kind == "complex":
            value, ty = complex(self.tokens.next()), COMPLEX
        else:
            text = self.tokens.want("number")
            integral = re.fullmatch(r"-?\d+", text) is not None
            value = int(text) if integral else float(text)
            ty = INT if integral else FLOAT
        if self.tokens.accept(":"):
            ty = self.type()
        return Literal(value, ty)

    def operands(self) -> tuple[Operand, ...]:
        found: list[Operand] = []
        while self.is_operand():
            found.append(self.operand())
        return tuple(found)

    def listed(self, close: str) -> tuple[Operand, ...]:
        found: list[Operand] = []
        while not self.tokens.accept(close):
            if found:
                self.tokens.expect(",")
            found.append(self.operand())
        return tuple(found)

    def static(self) -> tuple[Static, ...]:
        if not self.tokens.accept("["):
            return ()
        found: list[Static] = []
        text = ""
        while True:
            if self.tokens.text in (",", "]") and text.count("[") == text.count("]"):
                found.append(int(text) if re.fullmatch(r"-?\d+", text) else text)
                text = ""
                if self.tokens.next() == "]":
                    return tuple(found)
            else:
                # The comma of an array type is printed with a space.
                text += self.tokens.next().replace(",", ", ")

    def carrying(self) -> tuple[list[str], list[Type], tuple[Operand, ...]]:
        names: list[str] = []
        types: list[Type] = []
        init: list[Operand] = []
        if self.tokens.accept("carrying"):
            self.tokens.expect("(")
            while not self.tokens.accept(")"):
                if names:
                    self.tokens.expect(",")
                names.append(self.name())
                known = self.type() if self.tokens.accept(":") else None
                self.tokens.expect("=")
                init.append(self.operand())
                types.append(known or init[-1].type)
        return names, types, tuple(init)

    def block(self, params: tuple[Value, ...]) -> Block:
        self.tokens.expect("{")
        self.tokens.skip_lines()
        stmts: list[Stmt] = []
        yields: tuple[Operand, ...] = ()
        while not self.tokens.accept("}"):
            if self.tokens.accept("yield") or self.tokens.accept("again"):
                yields = self.operands()
            else:
                stmts.append(self.stmt())
            self.tokens.skip_lines()
        return Block(params, tuple(stmts), yields)

    def loop(self, names: list[str], types: list[Type]) -> Block:
        return self.block(tuple(map(self.define, names, types)))

    # -- statements ------------------------------------------------------------------------

    def stmt(self) -> Stmt:
        names: list[str] = []
        types: list[Type | None] = []
        while self.tokens.kind == "value":
            names.append(self.name())
            types.append(self.type() if self.tokens.accept(":") else None)
            if not self.tokens.accept(","):
                self.tokens.expect("=")
                break
        line = self.tokens.line
        verb = self.tokens.want("word")

        def results(found: tuple[Type, ...]) -> tuple[Value, ...]:
            # The statement may have blocks: what is wrong is its first line.
            if len(found) != len(names):
                raise self.tokens.error(f"{verb} has {len(found)} results, not {len(names)}", line)
            each = zip(names, types, found, strict=True)
            return tuple(self.define(name, own or ty, line) for name, own, ty in each)

        if verb == "gemm":
            return self.gemm(results if names else None)
        if verb in _FORMS:
            return _FORMS[verb](self, results)
        if verb == "pop":
            if None in types:
                raise self.tokens.error("pop without the types of its results", line)
            return Pop(results(tuple(t for t in types if t is not None)))
        if verb not in OPS:
            raise self.tokens.error(f"no operation named {verb!r}")
        params = self.static()
        args = self.operands()
        if OPS[verb].arity not in (-1, len(args)):
            raise self.tokens.error(f"{verb} takes {OPS[verb].arity} operands, not {len(args)}")
        try:
            found = OPS[verb].types([arg.type for arg in args], params)
        except (IRError, IndexError, ValueError) as error:
            message = error.message if isinstance(error, IRError) else f"{verb}: {error}"
            raise self.tokens.error(message) from None
        return Apply(results(found), OPS[verb], args, params)

    def gemm(self, results: _Results | None) -> Stmt:
        flags = self.static()
        more = ((), ("add",), ("rowwise",), ("add", "rowwise"))
        if flags[:1] not in (("nn",), ("nt",), ("tn",), ("tt",)) or flags[1:] not in more:
            raise self.tokens.error(
                "gemm[nn], with t for a transposed operand, and `add`, `rowwise`, as in "
                "gemm[nt, add, rowwise]"
            )
        array, a, b = self.read(), self.read(), self.read()
        first, second = (flag == "t" for flag in str(flags[0]))
        result = None if results is None else results((array.type,))[0]
        rest = flags[1:]
        return Gemm(result, array, a, b, (first, second), "add" in rest, "rowwise" in rest)

    def function(self) -> Function:
        self.values = {}
        self.tokens.expect("fn")
        name = self.tokens.want("word")
        self.tokens.expect("(")
        params: list[Value] = []
        while not self.tokens.accept(")"):
            if params:
                self.tokens.expect(",")
            param = self.name()
            self.tokens.expect(":")
            params.append(self.define(param, self.type()))
        self.tokens.expect("->")
        declared: list[Type] = []
        if not self.tokens.accept("none"):
            declared.append(self.type())
            while self.tokens.accept(","):
                declared.append(self.type())
        mirror = self.tokens.want("word") if self.tokens.accept("mirrors") else ""
        routine = self.tokens.want("word") if self.tokens.accept("routine") else ""
        rule = self.rule() if self.tokens.accept("rule") else None
        if mirror in self.functions:
            for value in _defined(self.functions[mirror]):
                self.values.setdefault(value.name, value)
        # A function may call itself and its fellows: their result types must be known.
        self.declared[name] = tuple(declared)
        self.tokens.expect("{")
        self.tokens.skip_lines()
        body: list[Stmt] = []
        while not self.tokens.accept("return"):
            body.append(self.stmt())
            self.tokens.skip_lines()
        line = self.tokens.line
        returned = self.operands()
        self.tokens.skip_lines()
        self.tokens.expect("}")
        self.tokens.skip_lines()
        if tuple(operand.type for operand in returned) != tuple(declared):
            raise self.tokens.error(f"{name} does not return what it declares", line)
        return Function(
            name,
            tuple(params),
            tuple(body),
            returned,
            mirror=mirror,
            rule=rule,
            routine=routine,
        )

    def rule(self) -> CustomRule:
        exact, always = self.tokens.accept("exact"), self.tokens.accept("always")
        kind = self.tokens.want("word")
        self.tokens.expect("(")
        functions: list[str] = []
        positions: list[int] = []
        while not self.tokens.accept(")"):
            if functions or positions:
                self.tokens.expect(",")
            if self.tokens.kind == "number":
                positions.append(int(self.tokens.next()))
            else:
                functions.append(self.tokens.want("word"))
        return CustomRule(kind, tuple(functions), tuple(positions), exact, always)

    def derived(self) -> Derived:
        self.tokens.expect("derived")
        name, mode = self.tokens.want("word"), self.tokens.want("word")
        wrt = self.positions()
        along: list[tuple[int, ...]] = []
        if self.tokens.accept("along"):
            while self.tokens.text == "(":
                along.append(self.positions())
        self.tokens.expect("{")
        first, depth = self.tokens.at, 1
        while depth:
            if self.tokens.kind == "end":
                raise self.tokens.error(f"derived {name} has no end")
            depth += {"{": 1, "}": -1}.get(self.tokens.next(), 0)
        inside = _Parser("")
        end = ("end", "", self.tokens.line)
        inside.tokens.items = [*self.tokens.items[first : self.tokens.at - 1], end]
        self.tokens.skip_lines()
        return Derived(name, mode, inside.program(), wrt, tuple(along))

    def positions(self) -> tuple[int, ...]:
        self.tokens.expect("(")
        return tuple(int(str(operand.value)) for operand in self.listed(")")
                     if isinstance(operand, Literal))  # fmt: skip

    declared: dict[str, tuple[Type, ...]]

    def program(self) -> Function:
        self.tokens.skip_lines()
        derived: list[Derived] = []
        while self.tokens.text == "derived":
            derived.append(self.derived())
        start = self.tokens.at
        self.declared = _declared(self.tokens)
        self.tokens.at = start
        self.declared.update((each.name, each.result_types()) for each in derived)
        while self.tokens.kind != "end":
            line = self.tokens.line
            fn = self.function()
            if fn.name in self.functions:
                raise self.tokens.error(f"two functions named {fn.name}", line)
            self.functions[fn.name] = fn
        if not self.functions:
            raise self.tokens.error("no function")
        *callees, main = self.functions.values()
        return replace(main, callees=tuple(callees), derived=tuple(derived))


def _declared(tokens: _Tokens) -> dict[str, tuple[Type, ...]]:
    """Read every function's result types ahead, so that calls may precede definitions."""
    reader = _Parser("")
    reader.tokens = tokens
    found: dict[str, tuple[Type, ...]] = {}
    for at, (kind, text, _) in enumerate(tokens.items[tokens.at :], tokens.at):
        if kind == "word" and text == "fn":
            tokens.at = at + 1
            name = tokens.want("word")
            while tokens.kind != "arrow":
                tokens.at += 1
            tokens.at += 1
            types: list[Type] = []
            if not tokens.accept("none"):
                types.append(reader.type())
                while tokens.accept(","):
                    types.append(reader.type())
            found[name] = tuple(types)
    return found


def _defined(fn: Function) -> list[Value]:
    from adc.ir.walk import defined

    return defined(fn)


_Results = Callable[[tuple[Type, ...]], tuple[Value, ...]]


def _load(p: _Parser, results: _Results) -> Stmt:
    array = p.read()
    p.tokens.expect("[")
    index = p.listed("]")
    if not isinstance(array.type, Array):
        raise p.tokens.error(f"{array} is not an array")
    return Load(results((array.type.element,))[0], array, index)


def _store(accumulate: bool) -> Callable[[_Parser, _Results], Stmt]:
    def parse(p: _Parser, results: _Results) -> Stmt:
        array = p.read()
        p.tokens.expect("[")
        index = p.listed("]")
        return Store(results((array.type,))[0], array, index, p.operand(), accumulate)

    return parse


def _write(accumulate: bool) -> Callable[[_Parser, _Results], Stmt]:
    def parse(p: _Parser, results: _Results) -> Stmt:
        array = p.read()
        p.tokens.expect("[")
        index = p.listed("]")
        return Write(array, index, p.operand(), accumulate)

    return parse


def _if(p: _Parser, results: _Results) -> Stmt:
    cond = p.operand()
    then = p.block(())
    orelse = p.block(()) if p.tokens.accept("else") else Block((), (), ())
    return If(results(tuple(v.type for v in then.yields)), cond, then, orelse)


def _for(p: _Parser, results: _Results) -> Stmt:
    label = p.tokens.want("word")
    index = p.define(p.name(), INT)
    down = p.tokens.accept("down")
    if down:
        p.tokens.expect("from")
    else:
        for text in ("in", "0", "to"):
            p.tokens.expect(text)
    trips = p.operand()
    names, types, init = p.carrying()
    body = p.loop(names, types)
    return For(results(tuple(types)), label, index, trips, init, body, down)


def _parallel(p: _Parser, results: _Results) -> Stmt:
    vectorizable = p.tokens.accept("vectorizable")
    p.tokens.expect("for")
    loop = _for(p, results)
    assert isinstance(loop, For)
    return replace(loop, parallel=True, vectorizable=vectorizable)


def _vectorizable(p: _Parser, results: _Results) -> Stmt:
    p.tokens.expect("for")
    loop = _for(p, results)
    assert isinstance(loop, For)
    return replace(loop, vectorizable=True)


def _while(p: _Parser, results: _Results) -> Stmt:
    label = p.tokens.want("word")
    names, types, init = p.carrying()
    body = p.loop(names, types)
    return While(results(tuple(types)), label, init, body)


def _reverse(p: _Parser, results: _Results) -> Stmt:
    loop = p.tokens.want("word")
    index = p.define(p.name(), INT)
    names, types, init = p.carrying()
    body = p.loop(names, types)
    return Reverse(results(tuple(types)), loop, index, init, body)


def _call(p: _Parser, results: _Results) -> Stmt:
    label = p.tokens.want("word")
    callee = p.tokens.want("word")
    p.tokens.expect("(")
    args = p.listed(")")
    mirror = p.tokens.want("word") if p.tokens.accept("mirrors") else ""
    if callee not in p.declared:
        raise p.tokens.error(f"no function named {callee}")
    return Call(results(p.declared[callee]), label, callee, args, mirror)


def _check(p: _Parser, results: _Results) -> Stmt:
    cond = p.operand()
    named = p.tokens.kind == "string"  # a class of the program's
    error = json.loads(p.tokens.want("string")) if named else p.tokens.want("word")
    return Check(cond, error, json.loads(p.tokens.want("string")), p.operands())


def _print(p: _Parser, results: _Results) -> Stmt:
    to = json.loads(p.tokens.want("string")) if p.tokens.accept("to") else ""
    message, args = json.loads(p.tokens.want("string")), p.operands()
    found = found_by(to)
    return Print(message, args, to=to, result=None if found is None else results((found,))[0])


def _recall(p: _Parser, results: _Results) -> Stmt:
    value = p.read()
    return Recall(results((value.type,))[0], value)


def _push(p: _Parser, results: _Results) -> Stmt:
    return Push(p.operands())


_FORMS: dict[str, Callable[[_Parser, _Results], Stmt]] = {
    "load": _load,
    "store": _store(False),
    "accumulate": _store(True),
    "write": _write(False),
    "increase": _write(True),
    "if": _if,
    "for": _for,
    "parallel": _parallel,
    "vectorizable": _vectorizable,
    "while": _while,
    "reverse": _reverse,
    "call": _call,
    "check": _check,
    "print": _print,
    "recall": _recall,
    "push": _push,
}


def parse(text: str) -> Function:
    """Return the function that `text` describes; the last one is the main one.

    Raises
    ------
    IRError
        With the line of the text that is wrong.
    """
    return _Parser(text).program()
