"""The picture of a view in the README: `python -m tests.bench.screenshot` writes `view.png`.

It needs Chromium and the package playwright, as the tests of pages do.
"""

from __future__ import annotations

import runpy
import shutil
import tempfile
from pathlib import Path
from typing import Any

from adc.view.report import View

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1280, 780
# The step that is shown: in the first row of the batch, the gradient of the second matrix.
STEP = 15


def view() -> View:
    example = runpy.run_path(str(HERE.parents[1] / "examples" / "14_five_operations.py"))
    found: View = example["loss"].view(*example["data"](64))
    return found


def shoot(page: View, path: Path, scheme: str = "light", width: int = WIDTH) -> None:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page.save(Path(folder) / "run.html")
        browser: Any = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), headless=True,
            args=["--no-sandbox", "--disable-gpu"],
        )  # fmt: skip
        tab = browser.new_page(
            viewport={"width": width, "height": HEIGHT},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        tab.goto((Path(folder) / "run.html").as_uri())
        tab.wait_for_selector("body[data-ready]")
        for _ in range(STEP):
            tab.click("#next")
        tab.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
        tab.screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    shoot(view(), HERE / "view.png")
