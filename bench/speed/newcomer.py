"""Times a newcomer's path: from `git clone` of this repository to a graph on the screen of a real browser.

    python -m bench.speed.newcomer

The two commands are `make demo` and the one that its last lines print. A Chromium without windows then clicks as those
lines say. `make demo` installs all packages from the package index (or pip's cache), so its time is mostly theirs.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from crawlers.inputs.render_settings import PROGRAMS

ROOT = Path(__file__).parents[2]
CLICKS = ("sitegraph", "Graph")
PATIENCE_S = 600
COMMAND = re.compile(r"^  (cd .* && .*scrapy web)$", re.MULTILINE)


def main() -> int:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        print("no Chromium is installed", file=sys.stderr)
        return 1
    steps: list[tuple[str, float]] = []
    begun = time.monotonic()

    def ended(step: str) -> None:
        steps.append((step, time.monotonic() - begun - sum(seconds for _, seconds in steps)))

    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "crawlers"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(project)], check=True)
        ended("git clone")
        demo = subprocess.run(
            ["make", "demo"], cwd=project, check=True, capture_output=True, text=True, timeout=PATIENCE_S
        )
        ended("make demo")
        command = COMMAND.findall(demo.stdout)[-1]
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        panel = subprocess.Popen(
            ["sh", "-c", f"{command.replace('&& ', '&& exec ')} --port {port}"],
            cwd=project, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert panel.stdout is not None
            print(panel.stdout.readline(), end="")
            ended(command)
            shown = _clicked(program, f"http://127.0.0.1:{port}/")
            ended(f"{len(CLICKS)} clicks: {shown}")
        finally:
            panel.terminate()
            panel.wait()
    print("| step | seconds |\n|---|---|")
    for step, seconds in steps:
        print(f"| {step} | {seconds:.1f} |")
    print(f"| all | {sum(seconds for _, seconds in steps):.1f} |")
    return 0


def _clicked(program: str, address: str) -> str:
    """Click to the graph, and return what the page says of it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        page = browser.new_page(locale="en")
        page.goto(address)
        for name in CLICKS:
            page.get_by_role("link", name=name, exact=True).first.click()
        page.wait_for_selector("#map[data-ready]")
        text = page.locator("#result .times").first.inner_text().split(".")[0]
        browser.close()
    return text


if __name__ == "__main__":
    sys.exit(main())
