"""What adc refuses, and how it says so: code, message, line, caret and hint.

Each file in ``golden/errors`` is a bad program. The offending line ends in a comment
``# ADC010: part of the message``; the whole text of the error stands in the ``.txt`` beside it.
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import inspect
import itertools
import linecache
import math
import pickle
import random
import re
import runpy
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

import adc
from adc.frontend.entry import lower
from adc.functions import span_of
from adc.ir.errors import CODES, AdcError, SourceError, Span, UnsupportedError
from adc.ir.verifier import problems
from tests.corpus.programs import PROGRAMS
from tests.oracle import chain

ERRORS = Path(__file__).parents[3] / "golden" / "errors"
EXPECTED = re.compile(r"# (ADC\d+): (.+)$")
_serial = itertools.count()


def _expected(path: Path) -> tuple[str, str, int]:
    found = [
        (match[1], match[2], number)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := EXPECTED.search(line))
    ]
    assert len(found) == 1, f"{path.name} needs one expected error"
    return found[0]


@pytest.mark.parametrize("path", sorted(ERRORS.glob("*.py")), ids=lambda path: str(path.stem))
def test_refusals(path: Path, golden: Callable[[str, str], None]) -> None:
    code, message, line = _expected(path)
    linecache.checkcache(str(path))
    module = runpy.run_path(str(path))
    with pytest.raises(AdcError) as caught:
        adc.grad(module["program"], module.get("ARGNUMS", 0), cache=False)(*module["ARGS"])
    error = caught.value
    assert message in error.message
    assert error.code == code
    assert error.span is not None
    assert (Path(error.span.file), error.span.line) == (path, line)
    text = str(error).replace(str(path), path.name)
    assert "^" in text
    golden(f"errors/{path.stem}.txt", text + "\n")


def test_every_error_class_has_a_test() -> None:
    shown = {_expected(path)[0] for path in ERRORS.glob("*.py")}
    # Shown below, where there is no source to point at; ADC000 is abstract, ADC900 a defect.
    # ADC002 to ADC006 are not about a program; of ADC026 is the page of `adc explain`, ADC028 and
    # ADC029 depend on the machine (`test_cuda`, `test_cuda_memory`), ADC035 is in `test_nonfinite`,
    # ADC036 in `test_digits`, ADC037 in `test_shards`, ADC038 in `test_mpi`.
    numbers = (0, 1, 2, 3, 4, 5, 6, 20, 22, 26, 28, 29, 35, 36, 37, 38, 900)
    elsewhere = {f"ADC{number:03}" for number in numbers}
    assert set(CODES) - elsewhere <= shown


# --- errors without a line ------------------------------------------------------------------------


def _executed(text: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = {}
    exec(compile(text, f"<diagnostics-{next(_serial)}>", "exec"), namespace)
    fn: Callable[..., Any] = namespace["program"]
    return fn


def test_function_without_source() -> None:
    with pytest.raises(SourceError, match="source of 'program' cannot be found"):
        adc.grad(_executed("def program(x):\n    return x * x\n"))(1.0)


def test_the_program_of_dash_c_is_not_mistaken(monkeypatch: pytest.MonkeyPatch) -> None:
    other = "def program(x):\n    return x * x * x\n"
    cached = (len(other), None, other.splitlines(keepends=True), "<string>")
    monkeypatch.setitem(linecache.cache, "<string>", cached)  # as Python 3.13 has it
    namespace: dict[str, Any] = {}
    exec("def program(x):\n    return x * x\n", namespace)
    with pytest.raises(SourceError, match="source of 'program' cannot be found"):
        adc.grad(namespace["program"])(3.0)


@pytest.mark.parametrize("fn", [math.sin, np.sin, functools.partial(max, 1.0)], ids=repr)
def test_callables_without_python_code(fn: Callable[..., Any]) -> None:
    with pytest.raises(AdcError) as caught:
        lower(fn, {"x": chain.type_tree(1.0)})
    assert "is not a Python function" in str(caught.value)


def test_the_last_result_of_a_session_is_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "_", np.ones(3), raising=False)  # as the interpreter sets it
    with pytest.raises(AdcError, match=r"`itertools.tee` is not supported"):
        adc.grad(lambda x: itertools.tee(x))(1.0)


# --- the text of an error -------------------------------------------------------------------------


def _loaded(text: str) -> Callable[..., Any]:
    file = f"<diagnostics-{next(_serial)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"math": math, "np": np}
    exec(compile(text, file, "exec"), namespace)
    fn: Callable[..., Any] = namespace["program"]
    return fn


def _refusal(text: str, *args: Any) -> AdcError:
    fn = _loaded(text)
    names = inspect.signature(fn).parameters
    arguments = {n: chain.type_tree(a) for n, a in zip(names, args, strict=True)}
    with pytest.raises(AdcError) as caught:
        lower(fn, arguments)
    return caught.value


def _marked(error: AdcError) -> str:
    """Return what the carets stand under."""
    lines = str(error).splitlines()
    k = next(k for k, line in enumerate(lines) if set(line.strip()) == {"^"})
    start = lines[k].index("^")
    return lines[k - 1][start : len(lines[k])]


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ("return x + {x}", "{x}"),
        ("\treturn x + {x}".strip("\t"), "{x}"),
        ("ä = 'ü'; return {x, ä}", "{x, ä}"),
        ("return max(x, {'é', x})  # ñ", "{'é', x}"),
        ("return (x +\n        {x,\n        2.0})", "{x,"),
    ],
)
def test_carets(line: str, marked: str) -> None:
    assert _marked(_refusal(f"def program(x):\n    {line}\n", 1.0)) == marked


def test_carets_after_tabs() -> None:
    error = _refusal("def program(x):\n\tif x > 0.0:\n\t\treturn x + {x}\n\treturn x\n", 1.0)
    assert _marked(error) == "{x}"


def test_errors_survive_pickling() -> None:
    error = _refusal("def program(x):\n    return x + {x}\n", 1.0)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is UnsupportedError
    assert str(again) == str(error)
    assert (again.code, again.span, again.hint) == (error.code, error.span, error.hint)


def test_a_decorated_function_is_where_its_name_is() -> None:
    @pytest.mark.usefixtures(
        "tmp_path",
    )
    def decorated(x: Any) -> Any:
        return x

    span = span_of(decorated)
    assert span is not None
    assert linecache.getline(__file__, span.line).strip() == "def decorated(x: Any) -> Any:"


def test_span_of_a_file_that_is_gone() -> None:
    assert "^" not in str(UnsupportedError("gone", Span("no such file", 3), "hint"))


# --- nothing but AdcError escapes -----------------------------------------------------------------

SNIPPETS = r"""try: pass\nexcept ValueError: pass
with x: pass
global q
import math
del x
class A: pass
x = [1, 2]
x = {1: 2}
x = [i for i in x]
x = lambda a=1: a
x = x[1:]
x = x * x
x = x.T
x = np.sum(x)
x = foo(x)
x = x.foo
x = 1j
x = 2 ** 70
x = f'{x}'
x += 'a'
x = (yield)
x = (y := 3)
a, *b = x
x = print
x = x[0][0]
x[0] = x
x[None] = 1
x = None
x = x @ x
raise x
raise
raise KeyError(x)
return x, x
x.y = 1
x = x in x
x = x is x
x = math.nosuch
x = x if x else None
for x in x: pass
while x: break
def x(): return x()
x = x[x]
x = range(x)
x = np.zeros(x)
x = np.zeros(3, dtype=np.float16)
x = np.zeros(2 ** 62)
x = np.full(3, 'a')
x = max()
x = range(1, 2, 0)
for i, j in range(3): pass
x = (lambda: x)()
x = (lambda **k: 1)()
x = (lambda a, /: a)(a=1)
x = 'a' * 3
x = 1 << -1
x = int(math.nan)
x = float('a')
x = 1 // 0
x = (1, 2)[5]
x = -(-9223372036854775807 - 1)
assert x > 0, f'{x:{x}}'
raise ValueError('a') from None
x = np.int8(300)
x = getattr(x, 'a')
x = ...
print(*x)
print(np)
x = (1, 2)['a']
x = x.fill('a')
x = (1,) * 1000000000
""".splitlines()


def _report(text: str, args: tuple[Any, ...]) -> str:
    """Return what is wrong with the way that adc takes a program; "" if nothing."""
    fn = _loaded(text)
    names = inspect.signature(fn).parameters
    arguments = {n: chain.type_tree(a) for n, a in zip(names, args, strict=False)}
    try:
        lowered = lower(fn, arguments)
    except AdcError as error:
        shown = str(error)
        if error.code in ("ADC000", "ADC900"):
            return f"{shown}\n{text}"
        if error.span is None or not 1 <= error.span.line or "^" not in shown:
            return f"no position: {shown}\n{text}"
        # Users get it without the frames of adc, which Dask pickles as well once it is loaded.
        error.__traceback__ = error.__context__ = None
        return "" if str(pickle.loads(pickle.dumps(error))) == shown else f"pickle: {shown}"
    except Exception as error:
        return f"{type(error).__name__}: {error}\n{text}"
    finally:
        linecache.cache.pop(fn.__code__.co_filename, None)
    return "\n".join(problems(lowered.fn))


ARGUMENTS: tuple[Any, ...] = (
    1.5, 2, True, np.array([1.0, 2.0]), np.ones((2, 2)), (1.0, 2), None, "ab", np.int8(3),
)  # fmt: skip
FRAMES = (
    "{}",
    "if c:\n        {}",
    "for _ in range(2):\n        {}",
    "while c < 2:\n        c += 1\n        {}",
)


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("snippet", SNIPPETS)
def test_snippets(snippet: str) -> None:
    found = []
    for frame, x in itertools.product(FRAMES, ARGUMENTS):
        pad = "    " if frame == "{}" else "        "
        body = frame.format(snippet.replace("\\n", "\n" + pad))
        text = f"def program(x, c):\n    {body}\n    return x\n"
        try:
            ast.parse(text)
            compile(text, "snippet", "exec")
        except SyntaxError:
            continue
        found.append(_report(text, (x, 1)))
    assert not [problem for problem in found if problem]


def _blocks(node: ast.AST) -> list[tuple[list[ast.stmt], int]]:
    return [
        (block, k)
        for inner in ast.walk(node)
        for field in ("body", "orelse")
        if isinstance(block := getattr(inner, field, None), list)
        for k in range(len(block))
    ]


def _mutated(node: ast.FunctionDef, rng: random.Random) -> str | None:
    """Return a program with one thing wrong: most of them make no sense."""
    node = copy.deepcopy(node)
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    block, k = rng.choice(_blocks(node))
    match rng.randrange(5):
        case 0:
            block[k] = ast.Pass()
        case 1 if names:
            rng.choice(names).id = rng.choice(names).id
        case 2 if calls:
            other = rng.choice(("np.sum", "foo", "sorted", "math.sin", "x", "range", "len"))
            rng.choice(calls).func = ast.parse(other, mode="eval").body
        case 3:
            other_block, j = rng.choice(_blocks(node))
            block[k], other_block[j] = other_block[j], block[k]
        case 4 if names:
            snippet = rng.choice(SNIPPETS).replace("\\n", "\n")
            if "yield" not in snippet:
                inserted = ast.parse("def f():\n    " + snippet.replace("\n", "\n    ")).body
                assert isinstance(inserted[0], ast.FunctionDef)
                for inner in ast.walk(inserted[0]):
                    if isinstance(inner, ast.Name) and inner.id == "x":
                        inner.id = rng.choice(names).id
                block[k:k] = inserted[0].body
    node.name = "program"
    text = ast.unparse(ast.fix_missing_locations(node))
    try:
        compile(text, "mutation", "exec")
    except (SyntaxError, ValueError):
        return None
    return text


def test_ranges_with_very_many_callers_are_pickled() -> None:
    span = None
    for line in range(2000):
        span = Span("f.py", line, 1, line, 2, "f", line % 2 == 0, span)
    assert span is not None
    found = pickle.loads(pickle.dumps(span))
    parts = [[(each, each.reverse) for each in s.chain()] for s in (found, span)]
    assert parts[0] == parts[1]


@pytest.mark.sampled(9)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("seed", range(4))
def test_mutations_of_the_corpus(seed: int) -> None:
    rng = random.Random(seed)
    found = []
    for program in PROGRAMS:
        tree = ast.parse(inspect.getsource(program.fn).strip())
        node = tree.body[0]
        if not isinstance(node, ast.FunctionDef):
            continue
        node.decorator_list = []
        node.returns = None
        for arg in node.args.args:
            arg.annotation = None
        text = _mutated(node, rng)
        if text is not None:
            with np.errstate(all="ignore"):
                found.append(_report(text, program.make_args()))
    assert not [problem for problem in found if problem]


# --- errors inside a library ----------------------------------------------------------------------


def _pair(a: Any, b: Any) -> Any:
    return a, b


def _of_inspect(x: Any) -> Any:
    return x[0] * len(inspect.getfullargspec(_pair))


def _of_sklearn(x: Any) -> Any:
    return metrics.mean_squared_error(x, x * 2.0)


def _of_statistics(x: Any) -> Any:
    return statistics.fmean(x) + statistics.correlation(
        x, x
    )  # fmt: skip


def _described(x: Any) -> Any:
    return x[0] * len(inspect.getfullargspec(_pair))


def _of_a_helper(x: Any) -> Any:
    return 2.0 * _described(x)


@pytest.mark.parametrize(
    ("fn", "own", "call", "library"),
    [
        (_of_inspect, "_of_inspect", "inspect.getfullargspec(_pair)", "inspect.py"),
        (
            _of_sklearn,
            "_of_sklearn",
            "metrics.mean_squared_error(x, x * 2.0)",
            "_config.py",
        ),
        (_of_a_helper, "_described", "inspect.getfullargspec(_pair)", "inspect.py"),
        (_of_statistics, "_of_statistics", "statistics.fmean(x)", ""),
    ],
)
def test_an_error_in_a_library_points_at_the_call(
    fn: Callable[..., Any], own: str, call: str, library: str
) -> None:
    with pytest.raises(AdcError) as caught:
        adc.grad(fn)(np.ones(3))
    lines = str(caught.value).splitlines()
    where = re.fullmatch(r'  File "(.*)", line (\d+) in "(.*)"', lines[1])
    assert where is not None
    assert (where[1], where[3]) == (__file__, own)
    text = linecache.getline(__file__, int(where[2]))
    assert lines[2] == f"    {text.strip()}"
    start, end = lines[3].index("^"), lines[3].rindex("^") + 1
    assert lines[2][start:end] == call
    if not library:  # refused at the call itself
        assert "In the library" not in str(caught.value)
        return
    note = re.fullmatch(r'  In the library: File "(.*)", line (\d+) in "(.*)"', lines[4])
    assert note is not None
    assert Path(note[1]).name == library
    assert lines[5].strip() == linecache.getline(note[1], int(note[2])).strip()
    assert set(lines[6]) == {" ", "^"}
    assert caught.value.span is not None
    assert caught.value.span.file == note[1]
