"""The live display: what stays on the terminal."""

import asyncio
import io
import re
import signal
import threading

import pytest
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.spiders import Spider

from crawlers.extensions.progress import Progress
from crawlers.spiders.base import SiteSpider
from tests.support.processes import PATIENCE_S, until
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages
from tests.support.terminal import Terminal

SITE = pages({"/": links("/a", "/b", "/missing"), "/a": links("/"), "/b": links("/a")})
TABLE = b"pages/s"


@pytest.mark.parametrize("wanted", [None, "", False])
def test_display_is_off_where_there_is_no_terminal(wanted, monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    crawler = Crawler(Spider, {"PROGRESS_ENABLED": wanted})
    crawler.spider = SiteSpider(name="x")
    with pytest.raises(NotConfigured):
        Progress.from_crawler(crawler)


def stalling(release):
    """Return a site whose page /b is answered when the event *release* is set."""

    async def respond(exchange):
        if exchange.path == "/b":
            await asyncio.to_thread(release.wait, PATIENCE_S)
        await SITE(exchange)

    return respond


def crawl_on_terminal(tmp_path, during=lambda run, terminal: None, is_fresh=False):
    """Crawl; call *during* while the last page is awaited and the table is shown. Return status and screen."""
    release = threading.Event()
    project = Project(tmp_path)
    with Web(site=stalling(release)) as web, Terminal(80, 24) as terminal:
        run = project.start("crawl", "plain", "-a", f"hosts={web.hosts()}", is_fresh=is_fresh, before=terminal.before)
        try:
            until(lambda: terminal.output.count(TABLE) > 2 or not run.is_running, "the table")
            during(run, terminal)
        finally:
            release.set()
        ended = run.wait()
    return ended, terminal.screen()


def logged(screen):
    """Return the messages of the log lines on the *screen*."""
    return [match[1] for line in screen.lines if (match := re.match(r"\d{4}-\d\d-\d\d .*? [A-Z]+: (.*)", line))]


def test_no_log_line_is_erased_and_the_table_disappears_at_the_end(tmp_path):
    _, screen = crawl_on_terminal(tmp_path)
    messages = logged(screen)
    assert any("Crawl plain begins: 1 site" in one for one in messages)
    assert any("3 pages, 4 edges in result/" in one for one in messages), screen.lines
    assert sum("Crawl plain is finished" in line for line in screen.lines) == 1
    assert screen.shows_cursor
    assert not any(TABLE.decode() in line for line in screen.lines)


def test_ctrl_c_ends_the_crawl_and_the_log_says_so(tmp_path):
    def press(run, terminal):
        terminal.press(b"\x03")
        until(lambda: b"Stopping: waiting for 1 download (http://127.0.0.1:" in terminal.output, "the wait is told")

    ended, screen = crawl_on_terminal(tmp_path, press)
    assert ended.status == 0
    messages = logged(screen)
    assert any("Received SIGINT, shutting down gracefully" in one for one in messages)
    assert sum("at most 60 s. A second Ctrl-C or signal ends the crawl at once" in one for one in messages) == 1
    assert sum("Crawl plain stopped (stopped on request)" in line for line in screen.lines) == 1
    assert screen.shows_cursor


def test_second_ctrl_c_leaves_a_usable_terminal(tmp_path):
    def press(run, terminal):
        terminal.press(b"\x03")
        until(lambda: b"shutting down" in terminal.output, "the first signal")
        terminal.press(b"\x03")
        run.wait()

    ended, screen = crawl_on_terminal(tmp_path, press, is_fresh=True)  # others skip what Python does at its exit
    assert ended.status == 1
    assert any("forcing unclean shutdown" in one for one in logged(screen))
    assert screen.shows_cursor
    assert screen.lines[-1] == ""


def test_killed_process_leaves_a_cursor(tmp_path):
    ended, screen = crawl_on_terminal(tmp_path, lambda run, terminal: run.kill())
    assert ended.status == -signal.SIGKILL
    assert screen.shows_cursor
