"""A crawl is started, watched, paused, continued, stopped and resumed in a real browser."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading

import pytest
from playwright.sync_api import expect, sync_playwright

from crawlers.inputs.render_settings import PROGRAMS
from tests.support.processes import PATIENCE_S, ROOT, until
from tests.support.services import unavailable
from tests.support.sites.server import Web, links

PAGES = 300
SLOW_S = 0.1  # of a page while the gate is ajar: all of them take far longer than a worker needs to hear of a stop
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


class Gate:
    """A site whose pages beyond the first two wait until the test opens the gate: for a few of them, or for all."""

    def __init__(self) -> None:
        self.is_ajar, self.is_open = threading.Event(), threading.Event()

    async def __call__(self, exchange):
        if exchange.path == "/robots.txt":
            await exchange.page("", content_type="text/plain")
            return
        while not self.is_open.is_set() and exchange.path not in ("/", "/0"):
            await asyncio.sleep(SLOW_S)
            if self.is_ajar.is_set():
                break
        await exchange.page(links(*(f"/{number}" for number in range(PAGES))))


@pytest.fixture
def page():
    """A page of a Chromium without windows."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        unavailable("no Chromium installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 800}, locale="en")
        page.set_default_timeout(PATIENCE_S * 1000)
        expect.set_options(timeout=PATIENCE_S * 1000)
        yield page
        browser.close()


@pytest.fixture
def panel(tmp_path):
    """The address of a panel in its own folder."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {"SCRAPY_SETTINGS_MODULE": "crawlers.settings", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "web", "--port", str(port), "-s", "STORE_BATCH_SECONDS=0.05"],
        cwd=tmp_path,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert f"http://127.0.0.1:{port}/" in process.stdout.readline()
    until(lambda: _listens(port), "the panel")
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(PATIENCE_S)
    process.stdout.close()


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_crawl_is_started_watched_paused_and_seen_finished(page, panel, tmp_path):
    gate = Gate()
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    with Web(site=gate) as web:
        page.goto(panel)
        page.get_by_role("link", name="Start a crawl").first.click()
        page.get_by_label("Name").fill("spring")
        page.get_by_label("Sites", exact=True).fill(f"{web['site'].origin};1;;0")
        page.get_by_label("MAX_LEVEL").fill("deep")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("alert")).to_contain_text("MAX_LEVEL='deep' is not a whole number")
        page.get_by_label("MAX_LEVEL").fill("3")
        page.get_by_role("button", name="Start").click()

        expect(page.get_by_role("heading", name="spring")).to_be_visible()
        expect(page.get_by_text("running", exact=True)).to_be_visible()
        expect(page.locator("dl.figures div", has_text="Pages").first.locator("dd")).to_have_text("2")  # live

        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_text("pausing", exact=True)).to_be_visible()
        page.get_by_role("button", name="Go on").click()
        expect(page.get_by_text("running", exact=True)).to_be_visible()

        page.get_by_role("link", name="Workers").click()
        expect(page.locator("pre.log")).to_contain_text("Crawl spring begins: 1 site")
        page.get_by_role("link", name="Overview").click()
        page.get_by_role("button", name="Stop").click()
        gate.is_ajar.set()  # what is being downloaded ends
        expect(page.get_by_text("stopped", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Stop")).to_be_disabled()

        gate.is_open.set()
        page.get_by_role("button", name="Go on").click()
        expect(page.get_by_text("finished", exact=True)).to_be_visible()
        expect(page.locator("dl.figures div", has_text="Pages").first.locator("dd")).to_have_text(str(PAGES + 1))

        page.get_by_role("link", name="Manifest").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="JSON").click()
        manifest = json.loads(download.value.path().read_text("utf-8"))
        assert manifest["command"]["settings"]["MAX_LEVEL"] == "3"
        page.get_by_role("link", name="Run again with these settings").click()
        expect(page.get_by_label("MAX_LEVEL")).to_have_value("3")
        expect(page.get_by_label("Sites", exact=True)).to_have_value(re.compile("127.0.0.1"))
    assert errors == []
    assert sorted(path.name for path in (tmp_path / "result").glob("*.gexf"))
