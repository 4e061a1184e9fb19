"""The live display: its table, a function of what the store says, lines above it, and the terminal after it."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from unittest.mock import Mock, create_autospec

import pytest
from rich.console import Console
from sqlalchemy import insert, update

from crawlers.reports import live_display
from crawlers.reports.live_display import (
    MAX_SITES,
    CrawlOverview,
    LiveDisplay,
    SiteProgress,
    counts_of_crawl,
    crawl_overview,
    crawls_overview,
    progress_table,
)
from crawlers.store.database import Database
from crawlers.store.reading.url_counts import UrlCounts
from crawlers.store.schema.tables import SettingRow, crawl, worker
from crawlers.store.worker_rows import PAUSE, WorkerLock
from crawlers.workers.worker_table import set_control
from tests.support.stored_crawl import later_crawl, stored_crawl
from tests.support.stored_rows import begin, execute, write_rows


def terminal(monkeypatch, columns=80):
    """Put a terminal in place of standard error, within the test: capturing replaces that before each phase."""
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    return stream


def seen(screen):
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]|\r", "", screen.getvalue()).strip()


def test_lines_are_printed_when_they_are_complete_and_whole(monkeypatch):
    screen = terminal(monkeypatch, columns=20)
    display = live_display.Terminal()
    display.start()
    sys.stderr.write("one [bold]line[/] of text that is long\nbegun")
    assert seen(screen) == "one [bold]line[/] of text that is long"
    sys.stderr.write(" and ended\n")
    display.stop()
    assert seen(screen) == "one [bold]line[/] of text that is long\nbegun and ended"


@pytest.mark.parametrize("is_flushed", [False, True])
def test_handlers_and_standard_error_are_as_before(monkeypatch, is_flushed):
    screen = terminal(monkeypatch)
    handler = logging.StreamHandler()
    monkeypatch.setattr(logging.root, "handlers", [handler])
    display = live_display.Terminal()
    display.start()
    assert handler.stream is sys.stderr is not screen
    sys.stderr.write("1 begun [/x] :smile:")
    if is_flushed:
        sys.stderr.flush()
    display.stop()
    display.stop()
    assert handler.stream is sys.stderr is screen
    assert seen(screen) == "1 begun [/x] :smile:"
    assert "1 begun [/x] :smile:\n" in screen.getvalue()  # no colours


def test_display_that_can_not_be_flushed_ends(sqlite, monkeypatch):
    screen = terminal(monkeypatch)
    begin(sqlite, "http://a.test", name="spring", mission="sitegraph")
    close = create_autospec(Database.close, side_effect=Database.close)
    monkeypatch.setattr(Database, "close", close)
    display = LiveDisplay(f"sqlite:///{sqlite.path}", "spring")
    monkeypatch.setattr(sys.stderr, "flush", Mock(side_effect=OSError))
    with pytest.raises(OSError, match=r"^$"):
        display.close()
    assert sys.stderr is screen
    close.assert_called_once()


def test_long_title_is_wrapped(monkeypatch):
    screen = terminal(monkeypatch)
    crawl = CrawlOverview(1, "news", "news", "running", None, None, 0.0, None, None, 4, 12.34, 1, 20_000, 1234)
    display = live_display.Terminal()
    display.start()
    title = live_display.title(crawl, 61.0, "1,234 documents")
    display.live.update(progress_table(title, [], 80), refresh=True)
    assert seen(screen).split()[: len(title.split())] == title.split()
    display.stop()


def test_display_shows_what_the_store_says(sqlite, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    begun = begin(sqlite, "http://a.test", name="spring", mission="sitegraph", PAGE_BUDGET=500)
    set_control(sqlite, begun.id, PAUSE)
    display = LiveDisplay(f"sqlite:///{sqlite.path}", "spring")
    display.refresh()
    display.close()
    shown = screen.getvalue()
    assert re.search(r"sitegraph “spring”, paused, \d+ s, 0\.0 pages/s, 0 of 500 pages of the budget", shown)
    assert "a.test" in shown


def text(sites, title="sitegraph, 12 s", width=160, height=50):
    console = Console(file=io.StringIO(), width=width)
    console.print(progress_table(title, sites, width, height))
    return console.file.getvalue()


def line_of(name, shown):
    (line,) = (line for line in shown.splitlines() if name in line)
    return line[line.index(name) + len(name) :].split()


def test_each_site_is_a_line_of_its_counts_and_the_last_has_the_sums():
    a = SiteProgress("http://a.example", None, UrlCounts(pages=1234, waiting=5, redirects=2, deepest=7))
    b = SiteProgress("https://b.example", "timeout", UrlCounts(errors=1, not_requested=4, not_pages=3))
    shown = text([a, b])
    assert "sitegraph, 12 s" in shown
    assert line_of("a.example", shown) == ["1,234", "5", "2", "0", "0", "0", "7", "-"]
    assert line_of("https://b.example", shown) == ["0", "0", "0", "1", "3", "4", "-", "timeout"]
    assert line_of("2 sites", shown) == ["1,234", "5", "2", "1", "3", "4", "-", "1", "problem"]


def test_of_many_sites_the_busiest_are_shown_and_all_are_summed():
    sites = [SiteProgress(f"http://s{n:02}.example", None, UrlCounts(waiting=n, pages=1)) for n in range(40)]
    shown = text(sites, height=60)
    assert [f"s{n:02}." in shown for n in range(40)] == [n >= 40 - MAX_SITES for n in range(40)]
    assert line_of("40 sites", shown)[:2] == ["40", str(sum(range(40)))]


def test_pace_workers_budget_and_documents_are_in_the_title():
    crawl = CrawlOverview(1, "mine", "news", "running", None, None, 0.0, None, None, 2, 12.34, 1, 2000, 1234)
    expected = "news “mine”, 61 s, 12.3 pages/s, 2 workers, 1,234 of 2,000 pages of the budget, 1 document"
    assert live_display.title(crawl, 61.0, results="1 document") == expected


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 50)])
def test_table_fits_the_terminal_and_leaves_half_of_it_to_the_log(width, height):
    counts = UrlCounts(pages=1_234_567, waiting=23_456_789, errors=123_456, deepest=76)
    sites = [SiteProgress(f"https://{'long.' * n}example:8600", "connection_refused", counts) for n in range(40)]
    title = "sitegraph “mine”, 100,000 s, 123.4 pages/s, 999,999 of 1,000,000 pages of the budget, 12,345 documents"
    shown = text(sites, title, width, height).splitlines()
    assert max(map(len, shown)) <= width
    assert len(shown) <= max(height // 2, 7)
    assert all("1,234,567" in line for line in shown if "https:" in line)


WORKER = {"machine": "m", "process": 1, "version": "1", "state": "active", "joined_at": 1e9, "beat_at": 1e9}


def test_workers_whose_processes_have_died_are_not_counted(database):
    stored_crawl(database)
    status = json.dumps({"pages_per_s": 2.5, "waits": {}})
    execute(database, update(crawl).values(state="running"))
    rows = [{**WORKER, "id": number, "crawl_id": 1, "used": 10, "status": status} for number in (1, 2)]
    execute(database, insert(worker), rows)
    lock = WorkerLock(database, 2)
    [one] = crawls_overview(database, 20)
    lock.release()
    assert (one.workers, one.pages_per_s, one.used) == (1, 2.5, 20)
    assert crawl_overview(database, 1).workers == 0


def test_progress_is_the_share_of_the_budget_or_of_the_urls(database):
    stored_crawl(database)
    one = crawl_overview(database, 1)
    assert (one.counts, one.share, one.sites) == (None, None, 2)
    counts = counts_of_crawl(database, 1, "extlinks", with_deleted=True)
    assert (counts.pages, counts.redirects, counts.errors, counts.not_requested) == (134, 3, 2, 3)
    assert one._replace(counts=counts).share == 1.0
    assert one._replace(counts=counts._replace(waiting=139)).share == 0.5
    write_rows(database, SettingRow(1, "PAGE_BUDGET", "40"))
    execute(database, update(crawl).values(earlier_pulls=10))
    assert crawl_overview(database, 1).share == 0.25


@pytest.mark.both_stores
def test_earlier_crawls_are_listed_by_number(database):
    stored_crawl(database)
    later_crawl(database)
    found = [crawls_overview(database, *asked) for asked in ((20,), (1,), (20, 2), (20, 1))]
    assert [[one.id for one in crawls] for crawls in found] == [[2, 1], [2], [1], []]
