"""The IR: its verifier, its types and its errors."""

from __future__ import annotations

import itertools
import operator
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adc.ir.builder import integer
from adc.ir.core import (
    Apply,
    Call,
    Function,
    Literal,
    Load,
    Recall,
    Stmt,
    Store,
    Value,
)
from adc.ir.errors import CODES, AdcError, IRError, Span
from adc.ir.opdef import OPS
from adc.ir.text.parser import parse
from adc.ir.types import (
    BOOL,
    DTYPES,
    F32,
    F64,
    FLOAT,
    INT,
    NAMES,
    Array,
    Scalar,
    join,
    parse_type,
    promote,
)
from adc.ir.verifier import problems, verify
from tests.corpus.ir_cases import CASES

BAD = Path(__file__).parents[2] / "golden" / "verifier"


# --- verifier -------------------------------------------------------------------------------------


def expected_errors(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        _, found, message = line.partition("# error: ")
        if found:
            yield number, message


def found_errors(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and message of what the parser or the verifier finds."""
    try:
        fn = parse(text)
    except IRError as error:
        yield (error.span.line if error.span else 0), error.message
        return
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    for problem in problems(fn):
        message, _, where = problem.partition("\n    in: ")
        assert lines.count(where) == 1, where
        yield lines.index(where) + 1, message.partition(": ")[2]


@pytest.mark.parametrize("path", sorted(BAD.glob("*.ir")), ids=lambda path: path.stem)
def test_malformed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected, found = list(expected_errors(text)), list(found_errors(text))
    assert expected
    assert [line for line, _ in found] == [line for line, _ in expected], found
    for (_, message), (_, part) in zip(found, expected, strict=True):
        assert part in message


def test_every_rule_has_a_malformed_case() -> None:
    # The messages of the verifier, up to the first thing that it fills in.
    source = (Path(__file__).parents[3] / "ir" / "verifier.py").read_text(encoding="utf-8")
    messages = re.findall(r'self\.error\(\s*\w+,\s*f?"([^"]*)"', source)
    texts = [error for path in BAD.glob("*.ir") for _, error in expected_errors(path.read_text())]
    # What the text form cannot say, because it leaves types and arities to inference.
    unreachable = {
        "{value} is defined twice",
        "{op.name} takes {op.arity} operands",
        "{result} is {result.type}",
        "{result} is {result.type}, {array} is {array.type}",
        "{result} is {result.type}, {value} is {value.type}",
        "no function named {name}",
        "the results of {name} are {', '.join(map(str, types))}",
    }
    assert len(messages) > 20
    for message in set(messages) - unreachable:
        pattern = re.sub(r"\\\{.*?\\\}", ".*", re.escape(message))
        assert any(re.fullmatch(pattern, text) for text in texts), message


X, Y = Value("x", F64), Value("y", F64)

A = Value("a", Array("f64", 1))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ((Apply((X,), OPS["sin"], (X,)),), "%x is defined twice"),
        ((Apply((Y,), OPS["mul"], (X,)),), "mul takes 2 operands"),
        ((Apply((Y,), OPS["lt"], (X, X)),), "results: %y is f64, wanted b1"),
        ((Apply((Y,), OPS["mul"], (X, Literal(1, INT))),), "operands of different types"),
        ((Load(Value("y", F32), A, (integer(0),)),), "%y is f32"),
        ((Load(Y, X, (integer(0),)),), "%x is not an array"),
        ((Store(Value("b", Array("f64", 2)), A, (integer(0),), X),), "%b is f64[:, :], %a is"),
        ((Recall(Value("y", F32), X),), "%y is f32, %x is f64"),
        ((Call((Y,), "C", "g", (X,)),), "no function named g"),
        ((Apply((Value("y", F32),), OPS["sin"], (Value("x", F32),)),), "%x is not available here"),
    ],
)
def test_malformed_beyond_text(body: tuple[Stmt, ...], message: str) -> None:
    fn = Function("f", (X, A), body, (X,))
    with pytest.raises(IRError, match=re.escape(message)) as caught:
        verify(fn)
    # The whole function is shown.
    assert str(fn) in str(caught.value)


def test_all_problems_are_reported() -> None:
    fn = parse("fn f(%x: f64) -> f64 {\n  %y = mul %x 1:f64\n  push\n  return %y\n}")
    assert [text.split("\n")[0] for text in problems(fn)] == [
        "f: 1:f64 is not a constant of type f64",
        "f: an empty frame",
    ]


def test_weak_marks_may_differ_where_paths_join() -> None:
    verify(parse("fn f(%c: bool, %x: f64) -> f64 {\n  %y = if %c {\n    yield %x\n"
                 "  } else {\n    yield 1.0\n  }\n  return %y\n}"))  # fmt: skip


def test_mirrors_and_recursion_are_well_formed() -> None:
    for case in CASES:
        assert problems(case.function()) == []


# --- types ----------------------------------------------------------------------------------------

PYTHON: dict[Scalar, Callable[[], Any]] = {BOOL: lambda: True, INT: lambda: 1, FLOAT: lambda: 0.5}


@pytest.mark.parametrize(("a", "b"), list(itertools.product(DTYPES, DTYPES)))
def test_promotion_of_dtypes(a: str, b: str) -> None:
    expected = np.result_type(DTYPES[a], DTYPES[b])
    assert promote(Scalar(a), Scalar(b)) == Scalar(NAMES[expected])
    # The result of an addition (of bitwise "or", for truth values alone).
    value = operator.or_ if a == b == "b1" else operator.add
    assert value(DTYPES[a].type(1), DTYPES[b].type(1)).dtype == expected


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weak", PYTHON, ids=str)
def test_promotion_of_python_numbers(weak: Scalar, dtype: str) -> None:
    strong = Scalar(dtype)
    found = promote(weak, strong)
    assert found == promote(strong, weak)
    assert not found.weak
    value = DTYPES[dtype].type(1)
    both_bools = weak == BOOL and dtype == "b1"
    combine: Callable[[Any, Any], Any] = operator.or_ if both_bools else operator.add
    assert combine(value, PYTHON[weak]()).dtype == found.numpy
    assert combine(PYTHON[weak](), value).dtype == found.numpy
    assert combine(np.full(1, value), PYTHON[weak]()).dtype == found.numpy


@pytest.mark.parametrize(("a", "b"), list(itertools.product(PYTHON, PYTHON)), ids=str)
def test_promotion_among_python_numbers(a: Scalar, b: Scalar) -> None:
    found = promote(a, b)
    assert found.weak
    value = PYTHON[a]() | PYTHON[b]() if a == b == BOOL else PYTHON[a]() + PYTHON[b]()
    assert {bool: BOOL, int: INT, float: FLOAT}[type(value)] == found


def test_join() -> None:
    assert join(INT, INT) == INT
    assert join(INT, FLOAT) == FLOAT
    assert join(F32, FLOAT) == F32
    assert join(F64, FLOAT) == F64


@pytest.mark.parametrize(
    "text",
    [
        "bool",
        "int",
        "float",
        *DTYPES,
        "f16",
        "h16[:]",
        "f64[:]",
        "f32[:, :]",
        "b1[:, :, :]A",
        "i8[]",
    ],
)
def test_types_as_text(text: str) -> None:
    assert str(parse_type(text)) == text
    assert str(parse_type(f" {text} ")) == text


@pytest.mark.parametrize("text", ["", "f8", "c256", "f64[", "f64[:", "f64[:]X", "int[:]", "f64[1]"])
def test_text_that_is_no_type(text: str) -> None:
    with pytest.raises(ValueError, match="not a type"):
        parse_type(text)


def test_kinds_of_types() -> None:
    for name, dtype in DTYPES.items():
        for ty in (Scalar(name), Array(name, 2)):
            assert ty.numpy == dtype
            assert ty.kind == dtype.kind
        assert Array(name, 1).element == Scalar(name)
    assert FLOAT.weak


# --- errors ---------------------------------------------------------------------------------------


def test_codes_of_errors_are_distinct() -> None:
    def classes(cls: type[AdcError]) -> Iterator[type[AdcError]]:
        yield cls
        for sub in cls.__subclasses__():
            yield from classes(sub)

    # A class without a code of its own is a kind of its parent that only the front end tells apart.
    found = [cls for cls in classes(AdcError) if "code" in vars(cls)]
    assert len({cls.code for cls in found}) == len(found)
    assert {cls.code: cls for cls in found} == CODES
    assert all(re.fullmatch(r"ADC\d{3}", code) for code in CODES)


def test_errors_show_the_place(tmp_path: Path) -> None:
    path = tmp_path / "user.py"
    path.write_text("def f(x):\n    été = x + wrong(x)\n    return été\n", encoding="utf-8")
    line = path.read_text(encoding="utf-8").splitlines()[1]
    # Columns count bytes of UTF-8, as those of `ast` do.
    start, end = (len(line[: line.index(part)].encode()) for part in ("wrong", "(x)"))
    error = AdcError("no such thing", Span(str(path), 2, start, 2, end, "f"), "do it otherwise")
    assert str(error) == (
        "[ADC000] no such thing\n"
        f'  File "{path}", line 2 in "f"\n'
        "    été = x + wrong(x)\n"
        "              ^^^^^\n"
        "  Hint: do it otherwise"
    )
    assert pickle.loads(pickle.dumps(error)).message == error.message
    assert str(AdcError("short")) == "[ADC000] short"
    assert Span("gone.py", 3).caret() == ""
