"""Programs that are long: no pass goes as deep as a program has lines, links or terms."""

from __future__ import annotations

import importlib.util
import linecache
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc.compiler.driver import transform
from tests.corpus.program import Program
from tests.oracle import chain as chains
from tests.oracle import oracle

X = np.array([0.31, 0.62, 0.87, 1.19, 1.42, 1.74, 2.13])


def _ifs(n: int) -> str:
    lines = [f"    if x[{k % 7}] > {k % 5}.5:\n        s += np.sin(x[{k % 7}])" for k in range(n)]
    return "\n".join(["    s = 0.0", *lines, "    return s"])


def _writing_ifs(n: int) -> str:
    lines = [
        f"    if x[{k % 7}] > {k % 3}.5:\n"
        f"        y[{k % 7}] = y[{(k + 1) % 7}] * np.sin(x[{k % 7}])"
        for k in range(n)
    ]
    return "\n".join(["    y = x.copy()", *lines, "    return np.sum(y)"])


def _returns(n: int) -> str:
    lines = [
        f"    if s > {k + 1}.5:\n        return s * {k}.0\n    s = s + 0.8 * np.sin(x[{k % 7}])"
        for k in range(n)
    ]
    return "\n".join(["    s = x[0] * x[1]", *lines, "    return s"])


def _late_return(n: int) -> str:
    """The first return that is taken is the last but three."""
    lines = [
        f"    if x[0] * {k}.0 > {n - 4}.0 * 0.3:\n        return x[1] * {k}.0" for k in range(n)
    ]
    return "\n".join([*lines, "    return x[0]"])


def _raises(n: int) -> str:
    lines = [
        f"    if s > {k + 100}.5:\n        raise ValueError('large')\n"
        f"    s = s * 0.9 + x[{k % 7}] ** 2"
        for k in range(n)
    ]
    return "\n".join(["    s = 0.0", *lines, "    return s"])


def _continues(n: int) -> str:
    lines = [
        f"        if s > {k}.7:\n            s = s * 0.5\n            continue\n"
        f"        s = s + np.sin(x[i]) * 0.3"
        for k in range(n)
    ]
    return "\n".join(["    s = 0.0", "    for i in range(len(x)):", *lines, "    return s"])


def _elifs(n: int) -> str:
    lines = ["    s = 0.0", "    for v in x:", "        if v > 100.0:\n            s = 3.0"]
    lines += [
        f"        elif v * {n // 2}.0 > {n - k}.5:\n            s = s + v * {k}.0 * np.sin(s)"
        for k in range(n)
    ]
    return "\n".join([*lines, "        else:\n            s = s * v + v", "    return s"])


def _returning_elifs(n: int) -> str:
    lines = ["    if x[0] > 100.0:\n        return x[1]"]
    lines += [
        f"    elif x[0] * {n}.0 > {n - k}.5:\n        return x[1] * {k}.0 * x[0]" for k in range(n)
    ]
    return "\n".join([*lines, "    s = x[2] * x[3]", "    return s"])


def _cases(n: int) -> str:
    lines = ["    s = 0.0", "    for k in range(len(x)):", "        match k * 29:"]
    lines += [f"            case {k}:\n                s = s * {k}.0 + x[k] ** 2" for k in range(n)]
    return "\n".join(
        [*lines, "            case other:\n                s = s + other", "    return s"]
    )


def _choices(n: int) -> str:
    terms = [f"x[{k % 7}] * {k}.0 if x[{k % 7}] * {n}.0 > {3 * n - k}.5 else" for k in range(n)]
    return f"    return {' '.join(terms)} x[0] * x[1]"


def _and(n: int) -> str:
    terms = [f"x[{k % 7}] > -{k}.0" for k in range(n)]
    return f"    if {' and '.join(terms)}:\n        return x[0] * x[1]\n    return x[0]"


def _or_values(n: int) -> str:
    """The value of `or` itself: the first operand that is not zero."""
    terms = [f"(x[{k % 7}] - x[{k % 7}])" for k in range(n)]
    return f"    return ({' or '.join(terms)} or x[2] * x[3]) * x[4]"


def _terms(n: int) -> str:
    return "    return " + " + ".join(f"x[{k % 7}] * {k}.0 * x[0]" for k in range(n))


def _array_terms(n: int) -> str:
    return f"    return np.sum({' + '.join(f'x * {k}.0' for k in range(n))} + x ** 2)"


def _statements(n: int) -> str:
    lines = [f"    s = s * 0.99 + np.sin(x[{k % 7}] * s)" for k in range(n)]
    return "\n".join(["    s = x[0]", *lines, "    return s"])


def _loops(n: int) -> str:
    lines = [
        f"    for i in range(len(x)):\n        s = s * 0.9 + np.sin(x[i] * {k % 3}.5)"
        for k in range(n)
    ]
    return "\n".join(["    s = 0.0", *lines, "    return s"])


def _calls(n: int) -> str:
    lines = [f"    s = helper(s, x[{k % 7}])" for k in range(n)]
    return "\n".join(["    s = 1.0", *lines, "    return s"])


def _nested_calls(n: int) -> str:
    return f"    return {'np.sin(' * n}x[0] * x[1]{')' * n}"


def _blocks(n: int) -> str:
    lines = ["    s = 0.0"]
    for k in range(n):
        pad = "    " * (k + 1)
        lines += [f"{pad}if x[{k % 7}] > -1.0:", f"{pad}    s = s + x[{k % 7}] ** 2 * {k}.0"]
    return "\n".join([*lines, "    return s"])


LONG: dict[str, tuple[Callable[[int], str], int]] = {
    "ifs": (_ifs, 500),
    "writing_ifs": (_writing_ifs, 300),
    "returns": (_returns, 200),
    "late_return": (_late_return, 100),
    "raises": (_raises, 200),
    "continues": (_continues, 100),
    "elifs": (_elifs, 200),
    "returning_elifs": (_returning_elifs, 100),
    "cases": (_cases, 200),
    "choices": (_choices, 200),
    "and": (_and, 500),
    "or_values": (_or_values, 100),
    "terms": (_terms, 500),
    "array_terms": (_array_terms, 300),
    "statements": (_statements, 1000),
    "loops": (_loops, 300),
    "calls": (_calls, 300),
    "nested_calls": (_nested_calls, 180),
    "blocks": (_blocks, 90),
}


def _made(folder: Path, body: str) -> Callable[..., Any]:
    text = "import numpy as np\n\ndef helper(a, b):\n    return a * 0.9 + np.sin(b) * 0.1\n\n"
    path = folder / "long_program.py"
    path.write_text(f"{text}def program(x):\n{body}\n")
    spec = importlib.util.spec_from_file_location("long_program", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Callable[..., Any] = module.program
    return made


@pytest.mark.sampled(40)
@pytest.mark.parametrize("name", LONG)
def test_interpreted(name: str, tmp_path: Path) -> None:
    make, n = LONG[name]
    fn = _made(tmp_path, make(n))
    chain = chains.Chain.of(fn, (X,), (0,))
    np.testing.assert_allclose(chain.run(chain.primal)[0], fn(X), rtol=1e-10)
    want = chains.flat_gradient(oracle.oracle_gradient(Program(name, fn, (X,))))
    for form in (chain.joined, chain.planned("auto")[-1][1]):
        (got,) = chain.run(form)[-1:]
        np.testing.assert_allclose(got, want[0], rtol=1e-8, atol=1e-12)


@pytest.mark.full
@pytest.mark.parametrize("name", ["ifs", "writing_ifs", "returns", "elifs"])
def test_compiled(name: str, tmp_path: Path) -> None:
    fn = _made(tmp_path, LONG[name][0](100))
    (want,) = chains.flat_gradient(oracle.oracle_gradient(Program(name, fn, (X,))))
    value, gradient = adc.value_and_grad(fn)(X)
    np.testing.assert_allclose(value, fn(X), rtol=1e-12)
    np.testing.assert_allclose(gradient, want, rtol=1e-9)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("n", [60, 150])
def test_the_memory_of_a_long_chain_has_a_formula(n: int, tmp_path: Path) -> None:
    """Each `elif` was a choice within a choice, deeper than Python's stack."""
    chain = chains.Chain.of(_made(tmp_path, _elifs(n)), (X,), (0,))
    made = transform(chain.lowered, (("adjoint", (0,)),))
    assert made.plan is not None
    assert made.plan.peak is not None


@pytest.mark.full
def test_within_a_budget(tmp_path: Path) -> None:
    fn = _made(tmp_path, _writing_ifs(200))  # whose sizes a plan asks for, version by version
    (want,) = chains.flat_gradient(oracle.oracle_gradient(Program("ifs", fn, (X,))))
    np.testing.assert_allclose(adc.grad(fn, memory="1 MB")(X), want, rtol=1e-9)


def test_the_chain_that_is_known_is_followed_alone() -> None:
    """Arms that types rule out are not lowered, as in a short chain."""
    lines = [f"    elif kind == 'k{k}':\n        return np.nosuch(x)" for k in range(60)]
    scope: dict[str, Any] = {"np": np}
    text = "\n".join(
        ["def program(x, kind):", "    if kind == 'a':\n        return x[0]", *lines,
         "    elif kind == 'z':\n        return x[1] * x[2]", "    else:\n        return x[3]"]
    )  # fmt: skip
    linecache.cache["<known chain>"] = (len(text), None, text.splitlines(True), "<known chain>")
    exec(compile(text, "<known chain>", "exec"), scope)
    np.testing.assert_allclose(adc.grad(scope["program"])(X, "z"), [0, X[2], X[1], 0, 0, 0, 0])
    np.testing.assert_allclose(adc.grad(scope["program"])(X, "none"), [0, 0, 0, 1, 0, 0, 0])


@pytest.mark.full
@pytest.mark.parametrize("make", [_ifs, _returns, _elifs, _loops])
def test_the_time_grows_with_the_length(make: Callable[[int], str], tmp_path: Path) -> None:
    """Four times as long: not sixteen times the time."""
    times = []
    for n in (50, 200):
        fn = _made(tmp_path, make(n))
        start = time.process_time()
        chain = chains.Chain.of(fn, (X,), (0,))
        assert chain.planned("auto")[-1][1].body
        times.append(time.process_time() - start)
    assert times[1] < 10 * times[0]
