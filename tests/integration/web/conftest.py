"""Panels, and a real browser."""

import os
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect, sync_playwright
from sqlalchemy import update

from crawlers.inputs.setting_readers import PROGRAMS
from crawlers.sites.seed_list import parse_seeds
from crawlers.store.database import Database
from crawlers.store.reading.crawl_settings import claimed_folder
from crawlers.store.schema.tables import PullRow, crawl
from crawlers.store.sites.seeds import save_seeds
from tests.support.processes import PATIENCE_S, ROOT, until
from tests.support.services import unavailable
from tests.support.stored_crawl import CRAWL, later_crawl, stored_crawl
from tests.support.stored_rows import execute, write_rows

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
]


MOST_TABS = 150  # from one end of the longest page to the other
HAS_FOCUS = "element => element === document.activeElement"
IS_MARKED = "element => getComputedStyle(element).outlineStyle !== 'none'"


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


@contextmanager
def serving(folder):
    """The address of a panel in the *folder*, of the store that is there, or of an empty one."""
    Database(f"sqlite:///{folder / 'crawl.sqlite'}").close()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {"SCRAPY_SETTINGS_MODULE": "crawlers.settings", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "web", "--port", str(port), "-s", "STORE_BATCH_SECONDS=0.05"],
        cwd=folder,
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


@pytest.fixture
def panel(tmp_path):
    """The address of a panel in the test's folder."""
    with serving(tmp_path) as address:
        yield address


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The address of a panel of two crawls, which tests only read."""
    folder = tmp_path_factory.mktemp("filled")
    database = Database(f"sqlite:///{folder / 'crawl.sqlite'}")
    stored_crawl(database)
    write_rows(database, *(PullRow(1 + number % 2, 1, 1.0, 1e9 + number) for number in range(40)))
    later_crawl(database)
    result = claimed_folder(database, CRAWL, folder / "result")
    result.mkdir()
    (result / "a.test.gexf").write_text("<gexf/>")
    execute(database, update(crawl).values(mission="news"))  # which has most pages
    save_seeds(database, parse_seeds("http://a.test\nhttp://c.test;2;;500\n", "hosts.txt"))
    database.close()
    with serving(folder) as address:
        yield address


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def press(page):
    """Return a function that goes to an element by the Tab key, and presses a key there."""

    def pressed(role, name, key="Enter", exact=True):
        wanted = page.get_by_role(role, name=name, exact=exact).first
        expect(wanted).to_be_visible()
        for _ in range(MOST_TABS):
            if wanted.evaluate(HAS_FOCUS):
                break
            page.keyboard.press("Tab")
        else:
            raise AssertionError(f"the Tab key does not lead to the {role} {name}")
        assert wanted.evaluate(IS_MARKED), f"nothing shows that the {role} {name} has the focus"
        if key:
            page.keyboard.press(key)

    return pressed
