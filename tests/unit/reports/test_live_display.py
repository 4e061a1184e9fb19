"""The live display: lines above it, and the terminal after it."""

import io
import logging
import sys

from rich.console import Console

from crawlers.reports import live_display
from crawlers.reports.live_display import AboveDisplay, LiveDisplay
from crawlers.storage import crawls
from crawlers.storage.site_rows import SiteRow
from crawlers.storage.worker_queries import set_control
from crawlers.storage.workers import PAUSE


def test_lines_are_printed_when_they_are_complete_and_whole():
    console = Console(file=io.StringIO(), width=20)
    above = AboveDisplay(console)
    above.write("one [bold]line[/] of text that is long\nbegun")
    assert console.file.getvalue() == "one [bold]line[/] of text that is long\n"
    above.write(" and ended\n")
    assert console.file.getvalue().endswith("\nbegun and ended\n")


def test_handlers_and_standard_error_are_as_before(monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    handler = logging.StreamHandler()
    logging.root.addHandler(handler)
    try:
        display = live_display.Terminal()
        display.start()
        assert handler.stream is sys.stderr is not stream
        sys.stderr.write("begun")
        display.stop()
        display.stop()
        assert handler.stream is sys.stderr is stream
        assert stream.getvalue().endswith("begun")
    finally:
        logging.root.removeHandler(handler)


def test_display_shows_what_the_store_says(sqlite, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    rows = [SiteRow(0, "http://a.test", 1, None, 1.0)]
    begun = crawls.begin(sqlite, "spring", "sitegraph", rows, {"settings": {"PAGE_BUDGET": 500}}, 0.0)
    set_control(sqlite, begun.id, PAUSE)
    display = LiveDisplay(f"sqlite:///{sqlite.path}", "spring")
    display.refresh()
    display.close()
    shown = screen.getvalue()
    assert "sitegraph “spring”, paused, 0 s, 0.0 pages/s, 0 of 500 pages of the budget" in shown
    assert "a.test" in shown
