"""The page of a view, in Chromium: what it shows is what the document says.

Chromium is the system's (Debian's package `chromium`), driven by the package playwright.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adc
from adc.view.page import embedded, page
from adc.view.report import View
from tests.bench import layers
from tests.corpus.programs import by_name
from tests.unit.view.test_record import TEN, simulate

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
# Less than 5 MB, and 3 seconds to open.
LARGEST, LONGEST = 5_000_000, 3.0


class Browser:
    """One tab, and what its pages complain about."""

    def __init__(self, context: Any) -> None:
        self.tab = context.new_page()
        self.complaints: list[str] = []
        self.tab.on("console", lambda message: self.complaints.append(message.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("request", lambda request: self.requested(request.url))

    def requested(self, url: str) -> None:
        if not url.startswith(("file:", "data:")):
            self.complaints.append(f"asks for {url}")

    def open(self, path: Path, width: int = 1280, scheme: str = "light") -> float:
        """Open a page, and return the seconds until it was ready."""
        self.tab.set_viewport_size({"width": width, "height": 900})
        self.tab.emulate_media(color_scheme=scheme)
        start = time.perf_counter()
        self.tab.goto(path.as_uri())
        self.tab.wait_for_selector("body[data-ready]")
        return time.perf_counter() - start

    def go(self, step: int) -> None:
        self.tab.evaluate(
            "n => { const s = document.getElementById('slider'); s.value = n;"
            " s.dispatchEvent(new Event('input')); }",
            step,
        )

    def text(self, selector: str) -> str:
        return str(self.tab.inner_text(selector))

    def number(self, selector: str, name: str) -> int:
        return int(self.tab.get_attribute(selector, name))


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as made:
        found = made.chromium.launch_persistent_context(
            str(tmp_path_factory.mktemp("profile")),
            executable_path=CHROMIUM, headless=True, args=FLAGS,
        )  # fmt: skip
        yield found
        found.close()


@pytest.fixture
def browser(context: Any) -> Iterator[Browser]:
    made = Browser(context)
    yield made
    assert made.complaints == []
    made.tab.close()


def viewed(fn: Any, args: tuple[Any, ...], argnums: Any = 0, **options: Any) -> View:
    derivative: Any = adc.value_and_grad(fn, argnums, **options)
    found: View = derivative.view(*args, measure=False)
    return found


def saved(view: View, folder: Path, pane: str = "") -> Path:
    path = folder / "run.html"
    view.save(path, pane)
    assert path.stat().st_size < LARGEST
    return path


def check(browser: Browser, view: View, folder: Path, count: int = 40) -> None:
    """Open a page, walk over its steps, and compare each pane with the document."""
    facts = view.facts
    assert browser.open(saved(view, folder)) < LONGEST
    steps = facts["steps"]
    assert browser.number("#slider", "max") == len(steps) - 1
    # The slider reaches every step.
    reached = browser.tab.evaluate(
        "() => { const s = document.getElementById('slider'), found = [];"
        " for (let n = 0; n <= Number(s.max); n++) { s.value = n;"
        " s.dispatchEvent(new Event('input'));"
        " found.push(document.getElementById('position').value.split(' of ')[0]); }"
        " return found; }"
    )
    assert reached == [f"step {k + 1:,}" for k in range(len(steps))]
    held = dict.fromkeys(range(len(facts["series"])), 0)
    every = max(1, len(steps) // count)
    for k, step in enumerate(steps):
        for series, change in step[3]:
            held[series] += change
        if k % every and k < len(steps) - 1:
            continue
        browser.go(k)
        # What is held after the step, in the memory pane.
        now = sum(size for n, size in held.items() if facts["series"][n][0] != "gradients")
        assert browser.number("#held", "data-bytes") == now
        assert browser.number("#held", "data-predicted") == step[7]
        assert f"step {k + 1:,} of {len(steps):,}" in browser.text("#position")
        # The lines of the step are marked in the source.
        marked = browser.tab.eval_on_selector_all(
            "#listing .row.now", "rows => rows.map(row => Number(row.dataset.line))"
        )
        assert set(marked) == {line for line in facts["nodes"][step[0]][3] if line >= 0}
    # The plan's table.
    browser.tab.click("#tab-plan")
    cells = browser.tab.eval_on_selector_all(
        "#plan .scroll tr[data-line]", "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
    )
    assert cells == [row[:-1] for row in facts["plan"]["rows"]]
    # The formula of the peak, evaluated by the page.
    browser.tab.click("#tab-growth")
    for policy, found in facts["growth"]["policies"].items():
        size = browser.tab.get_attribute(f"#growth-table [data-peak={policy}]", "data-bytes")
        if found["peak"] is not None and found["bytes"] is not None:
            assert int(size) == found["bytes"], policy
    browser.tab.click("#tab-graph")
    assert browser.tab.locator("#canvas .item").count() == len(
        facts["graph"]["pictures"][0]["items"]
    )
    browser.tab.click("#tab-code")
    assert browser.tab.locator("#code .ir.now").count() > 0


def fits_a_phone(browser: Browser, view: View, folder: Path) -> None:
    """Nothing is wider than a phone."""
    browser.open(saved(view, folder, "plan"), 390, "dark")
    for name in ("code", "plan", "graph", "schedule", "growth", "plan"):
        browser.tab.click(f"#tab-{name}")
        assert browser.tab.evaluate("document.documentElement.scrollWidth") <= 390, name


@pytest.mark.full
def test_page(browser: Browser, tmp_path: Path) -> None:
    view = viewed(simulate, (np.linspace(0.0, 1.0, 20), 60), memory=6_000)
    check(browser, view, tmp_path)
    tab = browser.tab
    # A plan for less memory is run, and where it recomputes is marked.
    tight = next(each for each in view.facts["budgets"] if each.get("curve"))
    assert {phase for _, _, phase in tight["curve"]} >= {"f", "r", "a"}
    assert tab.locator("#chart [data-budget]").count() >= 1
    assert tight["run"] <= tight["predicted"] == tight["peak"] <= tight["budget"]
    # What the plan predicts is drawn beside what was held.
    assert tab.locator("#chart [data-predicted]").count() == 2
    assert view.facts["memory"]["course"]["reserved"] == view.facts["memory"]["plan"]
    assert view.facts["memory"]["course"]["known"] == len(view.facts["steps"])
    # Keys: to the end, back to the start, and on.
    tab.evaluate("document.activeElement.blur()")
    for key, step in (("End", len(view.facts["steps"]) - 1), ("Home", 0), ("ArrowRight", 1)):
        tab.keyboard.press(key)
        assert int(tab.input_value("#slider")) == step
    # What is selected in one pane is selected in the others.
    tab.click("#tab-plan")
    row = tab.locator("#plan .scroll tr[data-line]").first
    row.focus()
    tab.keyboard.press("Enter")
    line = int(row.get_attribute("data-line"))
    assert tab.get_attribute("#listing .row.selected", "data-line") == str(line)
    tab.click("#tab-graph")
    frame = tab.locator("#canvas .item:not([data-open='-1'])").first
    frame.focus()
    tab.keyboard.press("Enter")
    assert tab.locator("#crumbs [aria-pressed]").count() == 2
    tab.locator("#canvas svg").focus()
    tab.keyboard.press("Backspace")
    assert tab.locator("#crumbs [aria-pressed]").count() == 1
    tab.click("#tab-schedule")
    assert tab.locator("#schedule .sweeps").count() == len(view.facts["schedules"]) == 1
    # The size of a slider is put into the formulas, also into that of the plan for a budget.
    tab.click("#tab-growth")
    policies = view.facts["growth"]["policies"]
    samples = {number: size for number, size, _ in policies["budget"]["peak"]["at"]["steps"]}
    assert samples[60] == view.facts["memory"]["plan"]
    slider = tab.locator("#growth input[type=range][aria-label^=steps]")
    for half_powers in (2, 6, -4):
        slider.evaluate(
            "(s, n) => { s.value = n / 2; s.dispatchEvent(new Event('input')); }", half_powers
        )
        steps = round(60 * 2 ** (half_powers / 2))
        shown = "#growth-table [data-peak={}]"
        assert browser.number(shown.format("budget"), "data-bytes") == samples[steps]
        assert browser.number(shown.format("auto"), "data-bytes") == 8 * 20 * (steps + 1)
    fits_a_phone(browser, view, tmp_path)
    assert tab.get_attribute("#tab-plan", "aria-selected") == "true"


@pytest.mark.full
@pytest.mark.parametrize("name", TEN)
def test_ten_programs(browser: Browser, tmp_path: Path, name: str) -> None:
    program = by_name(name)
    check(browser, viewed(program.fn, program.make_args(), program.argnums), tmp_path)


@pytest.mark.full
def test_transformer(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("WIDTH", 16), ("TOKENS", 12), ("WORDS", 32)):
        monkeypatch.setattr(layers, name, size)
    model, words, _ = layers.arguments(1)
    view = viewed(layers.loss, (model, words, 2))
    check(browser, view, tmp_path)
    memory = view.facts["memory"]
    assert memory["run"] == memory["plan"]
    growth = view.facts["growth"]["policies"]["auto"]["exponents"]
    assert growth["words.dim0"]["peak"] == growth["words.dim0"]["activations"] == 2
    # What a plan does to it: it holds less, as the run does; its curve is drawn.
    tight = [each for each in view.facts["budgets"] if each["fits"]]
    assert tight
    for each in tight:
        assert each["run"] <= each["peak"] <= each["budget"] < memory["plan"]
    assert browser.tab.locator("#chart [data-budget]").count() == len(tight)
    fits_a_phone(browser, view, tmp_path)  # names and formulas are long here


@pytest.mark.full
def test_text_is_escaped(browser: Browser, tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=alert(1)>"
    path = tmp_path / "a<&b.py"
    path.write_text(
        "import numpy as np\n\n\ndef f(x):\n"
        f"    y = np.sin(x)  # {evil}\n"
        f"    print({evil!r})\n"
        "    return np.sum(y * y)\n"
    )
    space: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    view = viewed(space["f"], (np.ones(3),))
    view.facts["title"] = evil  # a derivative could be named so
    text = view.html()
    assert evil not in text
    assert text.count("</script>") == 2
    browser.open(saved(view, tmp_path))
    assert browser.text("#title") == evil
    assert evil in browser.text("#listing")
    assert path.name in browser.text("#listing")
    assert str(tmp_path) not in text
    assert browser.tab.locator("img").count() == 0


def test_json_has_no_sign_of_html() -> None:
    strings = ["</script>", "<!--", "&amp;", "\u2028\u2029", "\x00", '"']
    text = embedded(strings)
    assert not re.search(r"[<>&\u2028\u2029]", text)
    assert json.loads(text) == strings
    assert (
        "{{FACTS}}"
        not in page({"title": "{{FACTS}}"}).replace("\\u007b", "{").partition("<h1")[0][:60]
    )


def test_numbers_of_arguments_are_not_written(tmp_path: Path) -> None:
    secret = np.array([1.0 / 8.1, 22.0 / 3.007])  # 0.12345679012, 7.31626205
    view = viewed(lambda x: np.sum(x * x), (secret,))
    assert "0.123456" not in view.html()
    assert "7.3162" not in view.html()

    # Nor those that a maximum, a branch or a derivative gives as they are.
    def passed_on(x: Any, scale: float) -> Any:
        best = 0.0
        for i in range(len(x)):
            if x[i] > best:
                best = x[i]
        return best * np.max(x) + x[0] * x[1] + np.sum(x) * scale

    derivative = adc.value_and_grad(passed_on)
    for show in (False, True):
        text = derivative.view(secret, 5.86421, measure=False, values=show).html()
        for number in ("0.12345", "7.316", "5.864"):
            assert (number in text) == show


@pytest.mark.full
def test_a_long_program_and_a_long_loop(browser: Browser, tmp_path: Path) -> None:
    body = [f"    a{k} = a{k - 1} * 1.0001 + 0.001" if k % 3 else f"    a{k} = np.sin(a{k - 1})"
            for k in range(1, 5001)]  # fmt: skip
    text = "\n".join(["import numpy as np", "", "", "def long(a0):", *body, "    return a5000", ""])
    path = tmp_path / "long.py"
    path.write_text(text)
    space: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), space)
    assert browser.open(saved(viewed(space["long"], (0.5,)), tmp_path)) < LONGEST
    assert browser.number("#slider", "max") > 5000

    def loop(x: float, n: int) -> float:
        for _ in range(n):
            x = x * 0.999 + 0.001 * np.sin(x)
        return x

    view = viewed(loop, (0.5, 10**6))
    assert browser.open(saved(view, tmp_path)) < LONGEST
    assert view.facts["memory"]["run"] == view.facts["memory"]["plan"] == 8 * 10**6


@pytest.mark.full
def test_budgets_are_those_of_plans() -> None:
    given = np.linspace(0.0, 1.0, 10), 30
    found = viewed(simulate, given).facts["budgets"]
    assert [each["part"] for each in found][:3] == [2, 4, 8]
    assert found[0]["fits"] == (len(found) == 3)
    for each in found:
        within: Any = adc.value_and_grad(simulate, memory=each["budget"])
        if each["fits"]:
            assert within.plan(*given, alternatives=False).peak_bytes == each["peak"]
            assert each["run"] <= each["peak"] <= each["budget"]
        else:
            with pytest.raises(adc.AdcError, match=r"ADC026"):
                within.plan(*given)
    assert found[0]["fits"]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda f: adc.jacrev(f), "a view of"),
        (lambda f: adc.grad(lambda x: np.sum(f(x)), target="cuda"), "a view of code for a GPU"),
    ],
)
def test_what_has_no_view(made: Any, message: str) -> None:
    with pytest.raises(adc.AdcError, match=message):
        made(lambda x: x * x).view(np.ones(3))


def test_programs_of_many_kinds(
    browser: Browser, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def cube(x: float) -> float:
        return x**3

    def says(x: float) -> float:
        print("x is", x)
        return x * x

    second: Any = adc.grad(adc.grad(cube))
    view = second.view(2.0, measure=False)
    assert len(view.facts["steps"]) > 1
    # What is printed is not printed again.
    printing: Any = adc.grad(says)
    assert "was not called" in " ".join(printing.view(2.0).facts["notes"])
    assert capfd.readouterr().out == ""
    # A tape in files is no part of the peak.
    taped: Any = adc.grad(simulate, offload="disk")
    memory = taped.view(np.ones(30), 4, measure=False).facts["memory"]
    assert memory["run"] == memory["plan"]
    assert memory["tape"] > 0
    plain: Any = adc.jit(cube)
    facts = plain.view(2.0, measure=False).facts
    assert facts["plan"] is None
    assert facts["growth"] is None
    browser.open(saved(View(facts), tmp_path, "plan"))
    assert "no plan" in browser.text("#plan")
