"""No back end finds facts by searching emitted text: they are on its tree, or were written down."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.test_layers import modules

# What looks into a text.
SEARCHES = {
    "findall", "finditer", "fullmatch", "get_docstring", "getdoc", "literal_eval", "match",
    "parse", "search", "split", "splitlines",
}  # fmt: skip
# The places that may, by function, and why.
ALLOWED = {
    "adc.backend.common.reader:spelling": "what a row of the op table says, once",
    "adc.backend.common.reader:algorithm": "as above",
    "adc.backend.cpu:_try_numba": "a program of the IR",
    "adc.backend.cpu:_frame": "a function of adc's own, for tracebacks",
    "adc.backend.python.load:load": "as every program in CPython, the text is parsed to be run",
    "adc.backend.python.load:_file_of": "as every file, for `linecache`",
}


def searches(module: str, source: str) -> Iterator[str]:
    """Yield the functions of a module that look into texts."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        for node in ast.walk(function):
            if _is_search(node):
                yield f"{module}:{function.name}"


def _is_search(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="str" | "re" | "ast" | "inspect")) as f):
            return f.attr in SEARCHES
        case ast.Call(func=ast.Name(id="parse")):
            return True
        case ast.Call(func=ast.Attribute(attr="splitlines" | "get_docstring")):
            return True
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[right]):
            return _is_source(right)
        case ast.Call(func=ast.Attribute(value=value, attr=attr)):
            return _is_source(value) and attr not in ("encode",)
    return False


def _is_source(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("source", "text", "__doc__")


def found() -> set[str]:
    return {
        each
        for module, path in modules()
        if module.startswith("adc.backend")
        for each in searches(module, path.read_text(encoding="utf-8"))
    }


def test_nobody_searches_emitted_text() -> None:
    assert found() == set(ALLOWED)


@pytest.mark.parametrize(
    "line",
    [
        'return "gemm" in self.source',
        "return re.findall(r'\\w+', text)",
        "return ast.parse(emitted.source)",
        "return ast.get_docstring(tree)",
        "return emitted.source.count('x')",
        "return [line for line in text.splitlines()]",
    ],
)
def test_a_search_is_found(line: str) -> None:
    assert list(searches("m", f"def f(self):\n    {line}\n")) == ["m:f"]


@pytest.mark.parametrize(
    "line", ["return emitted.source", "return x in names", "return emitted.source.encode()"]
)
def test_what_is_none(line: str) -> None:
    assert not list(searches("m", f"def f(self):\n    {line}\n"))


def test_no_module_of_the_cpu_knows_syntax_of_python() -> None:
    """The translation to machine code sees the tree only."""
    folder = Path(__file__).parents[2] / "adc" / "backend" / "cpu"
    for name in ("lowering", "instructions", "expressions", "inference"):
        tree = ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))
        imported = {
            alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names
        }
        assert not imported & {"ast", "re", "inspect", "tokenize"}
