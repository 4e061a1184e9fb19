"""Saves what the control panel looks like: each of its pages, on a laptop in light and dark, and on a phone.

    make screenshots        after make demo; writes build/screenshots/

The pictures of the README and of docs/how-to/panel.md are some of them: CHOSEN says which, and
`python -m docs.screenshots --choose build/screenshots docs/pictures` copies them.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PIL import Image
from playwright.sync_api import sync_playwright

from crawlers.inputs.setting_readers import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

PATIENCE_S = 60
COLOURS = 128  # of a chosen picture: a third of the bytes, and no difference to be seen
LOOKS = {"light": (1280, "light"), "dark": (1280, "dark"), "phone": (390, "light")}
LINKS = """() => [...document.querySelectorAll('a[href]:not([download])')]
    .filter(link => link.host === location.host && !link.href.includes('again='))
    .map(link => link.href.split('#')[0])"""
NUMBERS = re.compile(r"\d+")
CHOSEN = {  # file in docs/pictures: folder of the demo, screenshot
    "panel-graph.png": (".", "crawls-1-graph-light.png"),
    "panel-pictures.png": ("harvest", "crawls-1-pictures-light.png"),
    "panel-links.png": ("harvest", "crawls-1-reports-external-links-light.png"),
    "panel-explain-dark.png": (".", "crawls-1-explain-dark.png"),
    "panel-phone.png": (".", "crawls-1-phone.png"),
}


def main(demo: Path, target: Path) -> None:
    """Photograph the panels of all stores below *demo* to *target*."""
    stores = sorted(demo.glob("**/crawl.sqlite"))
    if not stores:
        sys.exit(f"There is no store below {demo}; run make demo first")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        sys.exit(f"No Chromium is installed; install one of: {', '.join(PROGRAMS)}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"]
        )
        for store in stores:
            folder = target / store.parent.relative_to(demo)
            folder.mkdir(parents=True, exist_ok=True)
            with panel(store.parent) as address:
                print(f"{folder}: {photograph(browser, address, folder)} screenshots", flush=True)
        browser.close()


def choose(screenshots: Path, target: Path) -> None:
    """Copy the chosen *screenshots* to *target*."""
    for name, (folder, screenshot) in CHOSEN.items():
        with Image.open(screenshots / folder / screenshot) as picture:
            picture.convert("RGB").quantize(COLOURS).save(target / name, optimize=True)


@contextmanager
def panel(folder: Path) -> Iterator[str]:
    """Serve the panel of the store in *folder*."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {"SCRAPY_SETTINGS_MODULE": "crawlers.settings", "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "scrapy", "web", "--port", str(port)]
    process = subprocess.Popen(command, cwd=folder, env=os.environ | environment, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def photograph(browser: Browser, address: str, folder: Path) -> int:
    """Save each page that links lead to in all looks, one of those that differ in numbers only; return how many."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en")
    page = context.new_page()
    waiting, seen, number = [f"{address}/"], set(), 0
    while waiting:
        url = waiting.pop(0)
        path = urlsplit(url).path
        if NUMBERS.sub("#", path) in seen or url.endswith("/explain"):  # without a URL it is an empty field
            continue
        seen.add(NUMBERS.sub("#", path))
        page.goto(url)
        waiting += page.evaluate(LINKS)
        name = re.sub(r"[^a-z0-9]+", "-", path.strip("/").lower()) or "crawls"
        for look, (width, theme) in LOOKS.items():
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=theme)
            settle(page, url)
            page.screenshot(path=folder / f"{name}-{look}.png")
            number += 1
    context.close()
    return number


def settle(page: Page, url: str) -> None:
    """Wait until what is computed in the background is there and drawn."""
    page.goto(url)
    page.wait_for_load_state("load")
    page.wait_for_function("() => !document.body.textContent.includes('Being computed')", timeout=PATIENCE_S * 1000)
    page.wait_for_timeout(600)  # scripts draw


if __name__ == "__main__":
    if sys.argv[1] == "--choose":
        choose(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
