"""The live display: a table that is a function of what the store says."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.spiders import Spider

from crawlers.extensions.progress import MAX_SITES, Progress, table
from crawlers.items import State
from crawlers.spiders.base import SiteSpider
from crawlers.storage.queries import NamedCrawl, SiteProgress
from tests.support.sites.project import Project
from tests.support.sites.server import Web, pages

CRAWL = NamedCrawl(1, "mine", "sitegraph", "running")


def text(sites, seconds=12.4):
    console = Console(file=io.StringIO(), width=160)
    console.print(table(CRAWL, sites, seconds))
    return console.file.getvalue()


def cells(line):
    return [cell.strip() for cell in line.replace("┃", "│").split("│")][1:-1]


def line_of(name, shown):
    (line,) = (line for line in shown.splitlines() if name in line)
    return cells(line)


def test_each_site_is_a_line_of_its_counts_and_the_last_has_the_sums():
    a = SiteProgress("http://a.example", None, {State.DONE: 1234, State.WAITING: 5, State.MOVED: 2}, 7)
    b = SiteProgress(
        "http://b.example", "timeout, 3 attempts", {State.FAILED: 1, State.REJECTED: 4, State.REFUSED: 3}, 0
    )
    shown = text([a, b])
    assert "sitegraph “mine”, 12 s" in shown
    assert line_of("a.example", shown) == ["http://a.example", "1,234", "5", "7", "2", "0", "0", "0", ""]
    assert line_of("b.example", shown)[1:] == ["0", "0", "0", "0", "3", "1", "4", "timeout, 3 attempts"]
    assert line_of("2 sites", shown)[1:] == ["1,234", "5", "", "2", "3", "1", "4", ""]


def test_of_many_sites_the_busiest_are_shown_and_all_are_summed():
    sites = [SiteProgress(f"http://s{n:02}.example", None, {State.WAITING: n, State.DONE: 1}, 1) for n in range(40)]
    shown = text(sites)
    assert [f"s{n:02}." in shown for n in range(40)] == [n >= 40 - MAX_SITES for n in range(40)]
    assert line_of("40 sites", shown)[1:3] == ["40", str(sum(range(40)))]


def test_crawl_without_pages_can_be_shown():
    assert "1 site" in text([SiteProgress("http://a.example", None, {}, 0)])


@pytest.mark.parametrize("wanted", [None, "", False])
def test_display_is_off_where_there_is_no_terminal(wanted, monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    crawler = Crawler(Spider, {"PROGRESS_ENABLED": wanted})
    crawler.spider = SiteSpider(name="x")
    with pytest.raises(NotConfigured):
        Progress.from_crawler(crawler)


def test_display_is_off_for_spiders_without_a_list_of_sites():
    crawler = Crawler(Spider, {"PROGRESS_ENABLED": True})
    crawler.spider = Spider(name="x")
    with pytest.raises(NotConfigured):
        Progress.from_crawler(crawler)


def test_display_shows_the_end_of_a_crawl_even_without_a_terminal(tmp_path):
    project = Project(tmp_path, PROGRESS_ENABLED=True, PROGRESS_INTERVAL_SECONDS=0.1, LOG_LEVEL="ERROR")
    with Web(site=pages({"/": "<a href=/x>x</a>", "/x": "x"})) as web:
        outcome = project.crawl(web.hosts())
    assert outcome.status == 0, outcome.log
    assert "Traceback" not in outcome.log
    assert line_of("1 site", outcome.log.split("sitegraph “sitegraph”")[-1])[1] == "2"
