"""The command line: what each command prints, and with which status it ends."""

from __future__ import annotations

import doctest
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import adc
from adc import cli
from adc.cli import completion, curve, failure, options, output, target
from adc.inspect import table
from adc.inspect.plan import PlanReport
from adc.ir.analysis.target import KINDS
from adc.passes.pipeline import TABLES

PROGRAM = """
import dataclasses
import numpy as np
import adc
from helper import half

@dataclasses.dataclass
class Spring:
    rest: float
    count: int

def product(x: float, y: "f64", n: int = 2):
    return half(x) * y * n

def squares(x):
    s = 0.0
    for v in x:
        s += v * v
    return s

def data():
    return (np.array([1.0, 2.0]),)

def steps(x, n):
    for _ in range(n):
        x = x - 0.1 * np.sin(x)
    return np.sum(x)

def energy(spring, x, pairs):
    a, b = pairs[0]
    return (x[0] - spring.rest) ** 2 * spring.count + a * b

def waves(x):
    return np.sum(np.sin(x) * np.exp(x) ** 2)

def setting():
    return Spring(0.5, 3), np.array([2.0]), [(1.0, 2.0), 3]

def single(x):
    return x * x

@adc.value_and_grad(has_aux=True)
def with_aux(x):
    return x * x * x, 2

def refused(x: float):
    async def a(): pass
    return x

def noisy(x: "f64[:]", rng: np.random.Generator):
    return np.sum(x * rng.normal(x))

def noisier(x: "f64[:]", rng: np.random.RandomState):
    return np.sum(x * rng.randn(*x.shape) * np.random.rand(*x.shape))

def jump(x):
    return x * np.floor(4.0 * x)

def arrays(p, x: "f64[2]"):
    return {"a": p[0] * x, "b": [p[1] * x[0], 3]}, x.sum()

def arrays_at():
    return [1.0, 2.0], np.ones(2)

@adc.custom_vjp
def rough(x):
    return x * x

rough.defvjp(lambda x: (x * x, x), lambda x, ct: (2.0002 * x * ct,))

def scales(x):
    return np.sin(x[0]) + 1e-5 * x[1]

def scales_at():
    return (np.array([0.1, 1e5]),)

def huber(x):
    return np.sum(np.where(np.abs(x) < 1.0, 0.5 * x * x, np.abs(x) - 0.5))

def huber_at():
    return (np.array([0.5, -3.0, 1e6, -0.3, 0.2, 1e-7]),)

def close(x):
    assert x > 1.3
    return x * x

def close_at():
    return (1.3001,)

def near(x: float):
    assert x > 1.3
    return x * x

def inverse(x: float, n: int = 0):
    return x / n

def unsolvable(a: "f64[2, 2]"):
    return np.linalg.solve(a * 0.0, a)[0, 0]

def no_data():
    return [][1]

class Scale:
    def __init__(self):
        self.w = 2.0

    @adc.grad
    def slope(self, x):
        return self.w * x * x

slope = Scale().slope
second = adc.grad(adc.grad(single))
fast = adc.jit(squares)
marked = adc.checkpoint(single)
rows = adc.jacrev(arrays, (0, 1))
columns = adc.jacfwd(arrays)
curvature = adc.hessian(squares)
_, pull = adc.vjp(single, 2.0)
product_of = adc.hvp(single, (2.0,), (1.0,))
bounded = adc.grad(steps, memory="20 kB")
constant = 3
"""


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "helper.py").write_text("def half(x):\n    return 0.5 * x\n")
    file = tmp_path / "cli_program.py"
    file.write_text(PROGRAM)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("cli_program", "helper"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return str(file)


def _usage(*argv: str) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(argv)
    assert caught.value.code == 2


def _printed(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert cli.main(argv) == 0
    return capsys.readouterr().out


def test_ir(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    ir = _printed(capsys, "ir", f"{program}:product", "--after", "frontend")
    assert ir.startswith("fn product(%x: float, %y: f64")
    every = _printed(capsys, "ir", f"{program}:product", "--all")
    assert "# after simplify:2\n" in every
    assert ir in every
    changes = _printed(capsys, "ir", f"{program}:product", "--diff", "frontend", "storage")
    assert changes.startswith("--- after frontend\n+++ after storage\n@@")
    _usage("ir", f"{program}:product", "--after", "nosuch")


def test_source(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = _printed(capsys, "source", f"{program}:squares", "--args", "f64[:]")
    compile(text, "generated", "exec")


LINES = """\
import numpy as np

def half(x):
    return 0.5 * x

def path(x, n):
    total = 0.0
    for k in range(n):
        x = x + np.sin(x) * half(x)
        if x > 0.7:
            total += np.exp(
                x
            ) * k
    return total
"""


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    file = tmp_path / "cli_lines.py"
    file.write_text(LINES)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "cli_lines", raising=False)
    return f"{file}:path"


def test_ir_of_a_line(lines: str, capsys: pytest.CaptureFixture[str]) -> None:
    of_path = ("ir", lines, "--args", "1.5, 10", "--line")
    assert _printed(capsys, *of_path, "9", "--after", "simplify") == (
        "# line 9: x = x + np.sin(x) * half(x)\n"
        "fn path.adjoint(%x: float, %n: int) -> f64, f64 {\n"
        "  %x.1 = cast[f64] %x\n"
        "  %total.2, %x.4 = for L0 %k in 0 to %n carrying (%total = 0.0:f64, %x.2 = %x.1) {\n"
        "    %t = sin %x.2\n"
        "    %t.1 = mul 0.5:f64 %x.2\n"
        "    %t.2 = mul %t %t.1\n"
        "    %x.3 = add %x.2 %t.2\n"
        "    yield %total.1 %x.3\n"
        "  }\n"
        "  %x.2.ct.5 = for L0.rev %k.r down from %n carrying (%x.2.ct = 0.0:f64) {\n"
        "    %t.1.r.1 = mul 0.5:f64 %x.2.r.1\n"
        "    %t.2.r = mul %t.r.1 %t.1.r.1\n"
        "    %x.3.r = add %x.2.r.1 %t.2.r\n"
        "    %t.ct = mul %x.3.ct.2 %t.1.r.1\n"
        "    %t.1.ct = mul %x.3.ct.2 %t.r.1\n"
        "    %x.2.ct.1 = mul %t.1.ct 0.5:f64\n"
        "    %x.2.ct.2 = add %x.3.ct.2 %x.2.ct.1\n"
        "    %d = cos %x.2.r.1\n"
        "    %x.2.ct.3 = mul %t.ct %d\n"
        "    %x.2.ct.4 = add %x.2.ct.2 %x.2.ct.3\n"
        "    yield %x.2.ct.4\n"
        "  }\n"
        "  return %total.2 %x.2.ct.5\n"
        "}\n"
    )
    inner = _printed(capsys, *of_path, "4", "--after", "frontend")
    assert "= mul 0.5:f64 " in inner
    assert "sin" not in inner
    for line in ("11", "12", "13"):  # one expression
        assert "if %" in _printed(capsys, *of_path, line, "--after", "frontend")
    assert "exp" in _printed(capsys, *of_path, "11")
    _usage(*of_path, "1")
    assert "nothing comes from line 1; there are 4, 8, 9, 10, 11" in capsys.readouterr().err
    _usage(*of_path, "9", "--diff", "frontend", "storage")


def test_ir_in_a_folder(lines: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    of_path = ("ir", lines, "--args", "1.5, 10")
    folder = tmp_path / "stages"
    said = _printed(capsys, *of_path, "--all", "--output", str(folder))
    files = sorted(folder.iterdir())
    assert said == f"{len(files)} files in {folder}\n"
    assert files[0].name == "01-frontend.ir"
    shown = "".join(
        f"# after {name}\n{text}\n"
        for name, text in zip(
            re.findall(r"^# after (.*)$", _printed(capsys, *of_path, "--all"), re.M),
            [file.read_text() for file in files],
            strict=True,
        )
    )
    assert shown == _printed(capsys, *of_path, "--all")
    assert any(re.fullmatch(r"\d\d-simplify-2.ir", file.name) for file in files)
    _usage(*of_path, "--output", str(folder))


def test_source_of_a_line(lines: str, capsys: pytest.CaptureFixture[str]) -> None:
    of_path = ("source", lines, "--args", "1.5, 10")
    text = _printed(capsys, *of_path, "--line", "9")
    assert text.startswith("# line 9: x = x + np.sin(x) * half(x)\ndef path_adjoint(")
    compile(text, "generated", "exec")
    whole = [line.strip() for line in _printed(capsys, *of_path).splitlines()]
    kept = [line.strip() for line in text.splitlines()[1:]]
    assert set(kept) <= {*whole, "pass"}
    assert any("sin(" in line for line in kept)
    assert not any("exp(" in line for line in kept)
    assert any("exp(" in line for line in _printed(capsys, *of_path, "--line", "12").splitlines())
    _usage(*of_path, "--line", "2")
    _usage(*of_path, "--line", "9", "--target", "cuda")


COMMANDS = ("source", "ir", "graph", "check", "where-nan", "passes", "plan")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "given",
    [
        ("--memory", "20 kB"),
        ("--parallel", "2"),
        ("--parallel",),
        ("--target", "python"),
        ("--target", "cuda"),
        ("--remat", "recompute", "--target", "python"),
        ("--offload", "disk"),
    ],
    ids=" ".join,
)
def test_options_of_compilation(
    program: str, capsys: pytest.CaptureFixture[str], command: str, given: tuple[str, ...]
) -> None:
    shown = _printed(capsys, command, f"{program}:steps", "--args", "f64[100], 20", *given)
    if command == "source":
        assert ("adc.backend.cuda" in shown) == ("cuda" in given)
        assert ("# cli_program.py:" in shown) == ("python" in given)
    if command == "plan":
        assert ("budget: 20000 bytes" in shown) == ("--memory" in given)
        assert ("peak on the GPU" in shown) == ("cuda" in given and "--memory" in given)
        assert ("plan (recompute)" in shown) == ("recompute" in given)
    if command == "check":
        assert shown.splitlines()[-1].endswith(" derivatives agree")


def test_threads_share_loops(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    waves = ("source", f"{program}:waves", "--args", "f64[:]")
    assert "parallel_for(" in _printed(capsys, *waves, "--parallel")
    assert "parallel_for(" not in _printed(capsys, *waves)


@pytest.mark.full
def test_a_budget_changes_the_code(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    steps = (f"{program}:steps", "--args", "f64[100], 50")
    for command in ("source", "ir"):
        free = _printed(capsys, command, *steps)
        assert _printed(capsys, command, *steps, "--memory", "12 kB") != free


@pytest.mark.parametrize(
    ("given", "status", "message"),
    [
        (("--memory", "1 kB", "--remat", "store"), 1, "[ADC020] remat='store' fixes the plan"),
        (("--parallel", "--target", "cuda"), 1, "[ADC020] parallel is not supported"),
        (("--offload", "host"), 1, "[ADC020] offload='host' is not supported"),
        (("--parallel", "0"), 2, "'0' is not a number of threads"),
        (("--target", "tpu"), 2, "invalid choice: 'tpu'"),
    ],
)
def test_options_that_exclude_each_other(
    program: str, capsys: pytest.CaptureFixture[str], given: tuple[str, ...], status: int,
    message: str,
) -> None:  # fmt: skip
    argv = ("ir", f"{program}:steps", "--args", "f64[100], 20", *given)
    if status == 2:
        _usage(*argv)
    else:
        assert cli.main(argv) == status
    assert message in capsys.readouterr().err


@pytest.mark.full
def test_options_replace_those_of_a_derivative(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ("plan", f"{program}:bounded", "--args", "f64[100], 50")
    assert "budget: 12000 bytes" in _printed(capsys, *rows, "--memory", "12 kB")
    assert _printed(capsys, *rows, "--remat", "store").startswith("plan (store)\n")
    _usage("ir", f"{program}:fast", "--args", "f64[:]", "--memory", "1 kB")
    assert "--memory: <adc jit(squares)> has no reverse code" in capsys.readouterr().err


def test_plan(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    auto = _printed(capsys, "plan", f"{program}:squares", "--example", "data")
    assert auto.startswith("plan (auto)\nline  value  decision  bytes  why\n")
    stored = _printed(capsys, "plan", f"{program}:squares", "--args", "f32[:]", "--remat", "store")
    assert stored.startswith("plan (store)\n")
    assert re.search(r"\npredicted: [\d.]+ (ns|µs) in compiled code\n", auto)
    assert "predicted" not in stored
    second = _printed(capsys, "plan", f"{program}:second", "--args", "float")
    assert second.startswith("plan (auto)\n")


def test_plan_within_a_budget(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    steps = ("plan", f"{program}:steps", "--args", "f64[100], 50")
    within = _printed(capsys, *steps, "--memory", "12 kB")
    assert re.search(
        r"\n\d+ +for _ in range\(n\): +checkpointed +\d+ +50 iterations, \d+ *\n +recomputed",
        within,
    )
    assert "\nwith 24000 bytes: " in within
    assert cli.main([*steps, "--memory", "1 kB"]) == 1
    assert capsys.readouterr().err.startswith("[ADC026] ")
    assert cli.main([*steps, "--memory", "much"]) == 1
    assert capsys.readouterr().err.startswith("[ADC020] memory='much'")


@pytest.mark.full
def test_plan_within_a_budget_in_other_forms(
    program: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    steps = ("plan", f"{program}:steps", "--args", "f64[100], 50")
    plan = PlanReport.from_json(_printed(capsys, *steps, "--memory", "12 kB", "--json"))
    assert plan.budget == 12_000
    assert plan.peak_bytes is not None
    assert plan.peak_bytes <= 12_000
    page = tmp_path / "plan.html"
    assert _printed(capsys, *steps, "--memory", "12 kB", "--html", str(page)) == ""
    assert "checkpointed" in page.read_text()
    assert 'data-pane="plan"' in page.read_text()


def test_view(program: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    steps = ("view", f"{program}:steps", "--args", "f64[100], 50", "-o", str(page))
    said = _printed(capsys, *steps, "--memory", "12 kB", "--no-measure")
    assert re.fullmatch(r".*run\.html: <adc view of .*: \d+ steps>\n", said)
    text = page.read_text()
    assert 'data-pane=""' in text
    assert "checkpointed" in text
    with pytest.raises(SystemExit):
        cli.main([*steps[:-1], str(tmp_path / "run.svg")])
    assert "the name must end in .html" in capsys.readouterr().err
    # Before the work, not after it.
    for command, option, path in (
        ("view", "-o", tmp_path / "none" / "run.html"),
        ("graph", "-o", tmp_path / "none" / "run.svg"),
        ("plan", "--html", tmp_path),
    ):
        given = (f"{program}:steps", "--args", "f64[100], 50", option, str(path))
        with pytest.raises(SystemExit):
            cli.main([command, *given])
        said = capsys.readouterr().err
        assert ("there is no folder" if path != tmp_path else "cannot be written") in said


def _curve(program: str, drawing: Path) -> tuple[str, ...]:
    return ("plan", f"{program}:steps", "--args", "f64[100], 50", "--curve", str(drawing))


@pytest.mark.full
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_curve(
    program: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str
) -> None:
    drawing = tmp_path / f"curve{suffix}"
    steps = _curve(program, drawing)
    shown = _printed(capsys, *steps, "--points", "2").splitlines()
    assert shown[0].split() == ["budget", "peak", "predicted", "at", "least", "measured"]
    assert len(shown) == 3
    assert drawing.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")
    _usage(*steps[:-1], "curve.txt")
    _usage(*steps, "--points", "1")
    assert doctest.testmod(curve).failed == 0
    assert doctest.testmod(output).failed == 0
    assert doctest.testmod(options).failed == 0
    assert doctest.testmod(table).failed == 0


@pytest.mark.full
def test_points_of_a_curve(
    program: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    steps = _curve(program, tmp_path / "curve.svg")
    data = json.loads(_printed(capsys, *steps, "--points", "2", "--json"))
    least, most = data["curve"]
    assert least["peak"] <= least["budget"] < most["budget"]
    assert least["predicted"] > most["predicted"]
    assert least["predicted"] >= least["bound"]
    assert least["measured"] > 0.0


def test_a_curve_needs_matplotlib(
    program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    steps = ("plan", f"{program}:steps", "--args", "f64[100], 50", "--curve", "curve.svg")
    assert cli.main([*steps, "--points", "2"]) == 1
    assert capsys.readouterr().err.startswith("[ADC002] curves need the package matplotlib")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("function", "options", "named"),
    [
        ("product", ("--argnums", "0,-2"), ("x", "y")),
        ("energy", ("--example", "setting", "--argnums", "1,2,0"), ("x[0]", "pairs.0", "spring")),
        ("with_aux", ("--args", "1.5"), ("x",)),
        ("second", ("--args", "float"), ("x",)),
        ("single", ("--args", "f32"), ("x",)),
        ("arrays", ("--example", "arrays_at", "--argnums", "1,0"), ("x[0]", "p.0")),
        ("rows", ("--example", "arrays_at", "--remat", "store"), ("x[0]", "p.0")),
        ("columns", ("--example", "arrays_at"), ("p.0", "p.1")),
        ("curvature", ("--args", "f64[:]"), ("x[0]",)),
        ("fast", ("--args", "f64[:]"), ("x[0]",)),
        ("marked", ("--args", "2.0"), ("x",)),
        ("slope", ("--args", "2.0"), ("x",)),
        ("noisy", (), ("x[0]",)),
        ("noisy", ("--args", "f64[3],Generator"), ("x[2]",)),
        ("noisier", ("--args", "f64[3],RandomState"), ("x[2]",)),
    ],
)
def test_check(
    program: str,
    capsys: pytest.CaptureFixture[str],
    function: str,
    options: tuple[str, ...],
    named: tuple[str, ...],
) -> None:
    shown = _printed(capsys, "check", f"{program}:{function}", *options).splitlines()
    several = function in ("arrays", "rows", "columns", "curvature")
    assert several == shown[-2].startswith("for a random linear combination of ")
    names = [line.split("  ")[0] for line in shown[1 : -2 if several else -1]]
    assert set(named) <= set(names)
    assert shown[-1] == f"all {len(names)} derivatives agree"


def test_check_finds_a_mismatch(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", f"{program}:rough", "--args", "1.0"]) == 1
    shown = capsys.readouterr().out
    assert "MISMATCH" in shown
    assert shown.endswith("1 of 1 derivatives differ\n")


def test_check_that_cannot_decide(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    # A jump at the place itself: no difference can agree.
    assert cli.main(["check", f"{program}:jump", "--args", "1.0"]) == 3
    shown = capsys.readouterr().out
    assert "undecided: " in shown
    assert shown.endswith(
        "cannot be decided by finite differences here,\n0 agree: try other arguments\n"
    )


@pytest.mark.full
@pytest.mark.parametrize("function", ["scales", "huber", "close"])
def test_check_takes_steps_that_fit(
    program: str, capsys: pytest.CaptureFixture[str], function: str
) -> None:
    shown = _printed(capsys, "check", f"{program}:{function}", "--example", f"{function}_at")
    assert shown.endswith(" derivatives agree\n")


def test_check_of_long_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "long_names.py"
    program.write_text(
        "import numpy as np\n\ndef fn(settings_of_the_first_layer, x):\n"
        "    a, b = settings_of_the_first_layer['weights'], settings_of_the_first_layer['bias']\n"
        "    return a[0] * x[0] * np.floor(4.0 * x[1]) + b\n\n"
        "def at():\n    return {'weights': np.ones(2), 'bias': 1.0}, np.ones(2)\n"
    )
    assert cli.main(["check", f"{program}:fn", "--example", "at", "--argnums", "0,1"]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(re.match(r"…he_first_layer\.0\[0\] +4 +4 .* ok$", line) for line in lines)
    assert any(re.match(r"x\[1\] .* undecided: a kink$", line) for line in lines)


def test_check_of_many_numbers(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = _printed(capsys, "check", f"{program}:squares", "--args", "f64[1000]").splitlines()
    assert sum(line.startswith("x[") for line in shown) == 8


def test_errors_of_the_program(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["ir", f"{program}:refused"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("[ADC032] `async def` is not supported\n")
    assert "Traceback" not in shown
    assert cli.main(["check", f"{program}:single", "--args", "int"]) == 1
    assert capsys.readouterr().err.startswith("[ADC021]")
    assert cli.main(["check", f"{program}:single", "--args", "1.0", "--argnums", "2"]) == 1
    assert capsys.readouterr().err.startswith("[ADC020] argnums=2")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("function", "options", "message", "line"),
    [
        ("inverse", (), "ZeroDivisionError: float division by zero\n", "return x / n"),
        ("near", ("--args", "1.0"), "AssertionError\n", "assert x > 1.3"),
        ("unsolvable", (), "numpy.linalg.LinAlgError: Singular matrix\n", "np.linalg.solve("),
        ("single", ("--example", "no_data"), "IndexError: list index", "return [][1]"),
    ],
)
def test_errors_that_the_program_raises(
    program: str,
    capsys: pytest.CaptureFixture[str],
    function: str,
    options: tuple[str, ...],
    message: str,
    line: str,
) -> None:
    assert cli.main(["check", f"{program}:{function}", *options]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith(message)
    assert line in shown
    assert shown.count("File ") == 1
    assert "Traceback" not in shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nosuch_module", "ModuleNotFoundError: "),
        ("def f(:", "  File "),
        ("1 / 0", "ZeroDivisionError: division by zero\n  File "),
    ],
)
def test_files_that_do_not_load(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    message: str,
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    file = tmp_path / "does_not_load.py"
    file.write_text(text)
    assert cli.main(["ir", f"{file}:f"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith(message)
    assert shown.count("File ") == 1
    monkeypatch.delitem(sys.modules, "does_not_load")


def test_defects_keep_their_traceback(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "_arguments", None)
    with pytest.raises(TypeError):
        cli.main(["check", f"{program}:single", "--args", "1.0"])


@pytest.mark.parametrize(
    ("command", "function", "message"),
    [
        ("check", "pull", "is what adc.vjp returned: name the function that was differentiated"),
        ("check", "product_of", "is not a function, but a float"),
        ("plan", "fast", "<adc jit(squares)> has no reverse code, and so no plan"),
    ],
)
def test_what_has_no_answer(
    program: str, capsys: pytest.CaptureFixture[str], command: str, function: str, message: str
) -> None:
    _usage(command, f"{program}:{function}", "--args", "f64[:]")
    assert message in capsys.readouterr().err


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "argv",
    [
        ("ir", "{}"),
        ("ir", "{}:nosuch"),
        ("ir", "nosuch.py:f"),
        ("ir", "{}:constant"),
        ("ir", "{}:squares"),
        ("ir", "{}:squares", "--args", "f65[:]"),
        ("ir", "{}:squares", "--example", "nosuch"),
        ("ir", "{}:squares", "--example", "constant"),
        ("ir", "{}:squares", "--example", "squares"),
        ("ir", "{}:second", "--args", "float", "--argnums", "0"),
        ("ir", "{}:squares", "--argnums", "x"),
        ("ir", "{}:squares", "--args", "f64[:], int"),
        ("ir", "{}:product", "--args", "float"),
        ("nosuch",),
        (),
    ],
)  # fmt: skip
def test_usage(program: str, argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    _usage(*[part.format(program) for part in argv])
    assert "usage: adc" in capsys.readouterr().err


def test_samples() -> None:
    made = target.samples(["f32[2, :]", "bool", "u8", "f64[:]A", "(1, 'a')", "i32[:]", "f32"])
    assert made[0].dtype == np.float32
    assert made[0].shape == (2, 4)
    assert (made[1], made[2], made[4]) == (True, np.uint8(3), (1, "a"))
    assert not made[3].flags.c_contiguous
    assert made[5].max() < 4
    assert type(made[6]) is np.float32
    assert doctest.testmod(target).failed == 0
    assert doctest.testmod(failure).failed == 0


def _words(text: str) -> str:
    return " ".join(text.split())


def test_passes(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in KINDS:
        listed = _printed(capsys, "passes", "--target", kind)
        assert max(map(len, listed.splitlines())) <= 80
        said = _words(listed)
        place = 0
        for stage, _ in TABLES[kind].rows():
            parts = [stage.name, _words(stage.about)]
            parts += [f"when: {_words(stage.when.text)}"] if stage.when.text else []
            parts += [f"why there: {_words(stage.why)}"] if stage.why else []
            place = said.index(" ".join(parts), place) + 1
    default = _printed(capsys, "passes")
    assert default == _printed(capsys, "passes", "--target", "python")
    assert "\nrecalled " in default
    assert "\n  interchange  " in default, "what `exchange` runs is below it"
    table = list(TABLES["cpu"].rows())
    timed = _printed(capsys, "passes", f"{program}:product").splitlines()
    assert max(map(len, timed)) <= 80
    rows = [line for line in timed[1:] if re.match(r"\s*\w+ +([\d.]+ ms +\d+|-) ", line)]
    assert [line.split()[0] for line in rows] == [stage.name for stage, _ in table]
    assert re.match(r"all +[\d.]+ ms", timed[-1])
    assert re.match(r"remat +[\d.]+ ms +\d+ +", _row(timed, "remat"))
    assert re.match(r"parallel +- +did not run; when: parallel=", _row(timed, "parallel"))
    shared = _printed(capsys, "passes", f"{program}:product", "--parallel").splitlines()
    assert re.match(r"parallel +[\d.]+ ms ", _row(shared, "parallel"))
    for line in rows[::4]:
        name, what = line.split()[:2]
        if what != "-" and not line.startswith(" "):
            assert _printed(capsys, "ir", f"{program}:product", "--after", name).startswith("fn ")
    _usage("passes", "--memory", "1 kB")
    assert "--memory is about a function" in capsys.readouterr().err


def _row(lines: list[str], name: str) -> str:
    return next(line for line in lines if line.split()[0] == name)


def test_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ADC_CACHE_DIR", str(tmp_path))
    entry = tmp_path / "ab" / "abcdef"
    entry.mkdir(parents=True)
    (entry / "code").write_bytes(bytes(3000))
    shown = _printed(capsys, "cache")
    assert f"folder   {tmp_path}\nstate    used\nentries  1\n" in shown
    assert re.search(r"size     [\d.]+ KiB of at most 1.0 GiB\n", shown)
    assert _printed(capsys, "cache", "--clear").startswith("freed ")
    assert not entry.exists()
    _usage("cache", "--all")


def test_info(capsys: pytest.CaptureFixture[str]) -> None:
    shown = dict(line.split(None, 1) for line in _printed(capsys, "info").splitlines() if line)
    assert shown["adc"].strip() == adc.__version__
    assert {"numba", "LLVM", "processor", "BLAS", "cache", "costs"} <= set(shown)
    # The simulator is on in tests.
    assert shown["GPU"].startswith("Numba's simulator, numba-cuda ")


def test_info_without_a_gpu(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from adc.backend.cuda import api

    def shown() -> str:
        lines = _printed(capsys, "info").splitlines()
        return next(line for line in lines if line.startswith("GPU")).split(None, 1)[1]

    gpu = types.SimpleNamespace(name="A GPU", compute_capability=(9, 0))
    fake = types.SimpleNamespace(is_available=lambda: False, gpus=[gpu, gpu])
    driver = types.SimpleNamespace(get_version=lambda: (13, 1))
    monkeypatch.setitem(sys.modules, "numba.cuda.cudadrv.driver", driver)
    monkeypatch.setattr(api, "simulated", False)
    monkeypatch.setattr(api, "cuda", fake)
    assert shown().startswith("none, numba-cuda ")
    fake.is_available = lambda: True
    assert shown().startswith("A GPU (sm_90), A GPU (sm_90), driver for CUDA 13.1, numba-cuda ")
    monkeypatch.delitem(sys.modules, "adc.backend.cuda.api")
    monkeypatch.delattr(sys.modules["adc.backend.cuda"], "api")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert shown() == "none"


@pytest.mark.parametrize(
    "command",
    [*COMMANDS, *"cache calibrate supported explain completion info".split()],
)
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main([command, "--help"])
    assert caught.value.code == 0
    assert f"example:\n  adc {command}" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "found"),
    [(["ex"], "explain"), (["ir", "--al"], "--all"), (["check", "f.py:f", "--st"], "--step")],
)
def test_completion(words: list[str], found: str, capsys: pytest.CaptureFixture[str]) -> None:
    script = _printed(capsys, "completion", "bash")
    typed = f"COMP_WORDS=(adc {' '.join(words)}); COMP_CWORD={len(words)}; _adc"
    made = subprocess.run(
        ["bash", "-c", f'{script}{typed}; echo "${{COMPREPLY[@]}}"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout.strip() == found
    assert doctest.testmod(completion).failed == 0


def test_check_of_nothing(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = _printed(capsys, "check", f"{program}:squares", "--args", "f64[0]", "--step", "0.1")
    assert shown.endswith("nothing to compare: the arguments contain no number\n")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    texts = []
    for _ in range(2):
        screen = _Terminal()
        monkeypatch.setattr(sys, "stdout", screen)
        assert cli.main(["plan", f"{program}:squares", "--args", "f64[:]"]) == 0
        texts.append(screen.getvalue())
        monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" in texts[0]
    assert "\x1b[3" not in texts[1]


@pytest.mark.full
def test_a_reader_that_leaves(tmp_path: Path) -> None:
    made = subprocess.run(
        f"{sys.executable} -m adc supported | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "ADC_CACHE_DIR": str(tmp_path)},
    )
    assert (made.stdout, made.stderr) == ("# What adc supports\n", "")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("adc 0.")


def test_where_a_nan_arises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.py").write_text(
        "import numpy as np\n\n\n"
        "def distance(x):\n    y = x - 1.0\n    return np.sqrt(np.sum(y * y))\n\n\n"
        "def logarithms(x):\n    return np.log(x)\n\n\n"
        "def at_one():\n    return (np.ones(3),)\n\n\n"
        "def below():\n    return (np.array([1.0, -2.0]),)\n"
    )
    program = tmp_path / "model.py"
    assert cli.main(["where-nan", f"{program}:distance", "--example", "at_one"]) == 1
    said = capsys.readouterr().err
    assert "a NaN arises in the derivative of this line: inf * 0 is nan, at index 2" in said
    assert "an infinity arises before, in line 6: 0.5 / 0 is inf" in said
    assert cli.main(["where-nan", f"{program}:logarithms", "--example", "below"]) == 1
    assert "log(-2) is nan, at index 1" in capsys.readouterr().err
    assert cli.main(["where-nan", f"{program}:distance", "--example", "below"]) == 0
    assert capsys.readouterr().out == f"{program}:distance: the results are finite\n"


def test_where_digits_are_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.py").write_text(
        "import numpy as np\n\n\n"
        "def slope(x):\n    return np.sum((1.0 - np.cos(x)) / x**2)\n\n\n"
        "def near():\n    return (np.array([1.0, 1e-9]),)\n\n\n"
        "def far():\n    return (np.array([1.0, 2.0]),)\n"
    )
    program = tmp_path / "model.py"
    command = ["where-nan", f"{program}:slope", "--digits", "3", "--example"]
    assert cli.main([*command, "near"]) == 1
    said = capsys.readouterr().err
    assert "[ADC036] cancellation in this line: 1 - 1 is 0" in said
    assert "line 5" in said
    assert cli.main([*command, "far"]) == 0
    said = capsys.readouterr().out
    assert said == f"{program}:slope: the results are finite, and 3 of their digits are correct\n"
