"""The panel of a store in the test's own folder, and a real browser."""

import os
import shutil
import socket
import subprocess
import sys

import pytest
from playwright.sync_api import expect, sync_playwright

from crawlers.inputs.render_settings import PROGRAMS
from crawlers.storage.database import Database
from tests.support.processes import PATIENCE_S, ROOT, until
from tests.support.services import unavailable

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
]


@pytest.fixture(scope="module")
def chromium():
    """A Chromium without windows."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        unavailable("no Chromium installed")
    expect.set_options(timeout=PATIENCE_S * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """A page of an English browser, without cookies. A test fails if a script of its pages does."""
    errors = []
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en")
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(error))
    page.set_default_timeout(PATIENCE_S * 1000)
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def panel(tmp_path):
    """The address of a panel in the test's folder, of the store that is there, or of an empty one."""
    Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}").close()
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
