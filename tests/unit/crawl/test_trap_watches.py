"""Which sites are watched for traps, for how long, and with what memory."""

from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import islice
from types import SimpleNamespace

import pytest

from crawlers.crawl import site_traps as traps_module
from crawlers.crawl.site_traps import SiteTraps
from crawlers.frontier.values import Lease, PreviousVisit
from crawlers.items import Page, SiteLimits, State
from crawlers.reasons import sentence
from crawlers.reports.catalogue.conditions import Filters as ReportFilters
from crawlers.reports.catalogue.page_reports import Traps
from crawlers.reports.catalogue.site_report import Sites
from crawlers.reports.crawl_summary import Places, crawl_summary
from crawlers.store.database import Database
from crawlers.store.reading.queries import Finder, crawl_named
from crawlers.store.schema.tables import SitemapUrlRow
from crawlers.store.sites.site_opening import SiteRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls import trap_watch
from crawlers.urls.trap_watch import content_signature
from tests.support.endless_sites import MENU, Added, Calendar, Filters, Folders, last_name, path_text
from tests.support.opened_crawl import SITE, OpenedCrawl, target
from tests.unit.conftest import open_sites

FORMER = PreviousVisit({}, int(State.DONE), 200, None, 1.0, None, None)


@pytest.fixture(autouse=True)
def little_evidence(monkeypatch):
    monkeypatch.setattr(trap_watch, "MIN_REPEATS", 200)


@pytest.fixture
def shown(monkeypatch):
    """What was read again, of which site."""
    asked = []

    def pages(kind):
        def read(_, site_id, most=0):
            asked.append(f"{kind} of {site_id}")
            return [(f"http://s{site_id}/calendar?day={n}", 0, 5) for n in range(400)]

        return read

    monkeypatch.setattr(traps_module, "signed_pages", pages("levels"))
    monkeypatch.setattr(traps_module, "latest_pages", pages("latest"))
    monkeypatch.setattr(traps_module, "named_from", lambda *_: set())
    monkeypatch.setattr(
        traps_module, "finder_of", lambda _, page_id: Finder("http://s/calendar?day=0", page_id // 10_000, False)
    )
    return asked


def watched(*, goes_by_level, resumed=False, number=2):
    session, sites = open_sites(goes_by_level=goes_by_level, row=SimpleNamespace())
    for site_id in range(1, number + 1):
        sites.open(SiteRow(site_id, f"http://s{site_id}", 1, None, 0.0, is_new=not resumed), 0.0)
    return SiteTraps(session, sites, is_enabled=True)


def lease(site_id, number=0, level=1):
    url = f"http://s{site_id}/calendar?day={number}"
    return Lease(site_id * 10_000 + number, site_id, number, url, level, 0, 0, None, 0.0)


def reason_against(traps, lease):
    while callable(verdict := traps.verdict(lease)):
        verdict()()
    return verdict


def show(traps, site_id, pages, level=1):
    for number in range(pages):
        one = lease(site_id, number, level)
        traps.observe(one, Page(one.id, one.url, level, State.DONE, 200, content_signature=5))


def test_endless_part_is_cut_and_what_comes_back_is_not_asked_about(shown):
    traps = watched(goes_by_level=True)
    show(traps, 1, 300)
    following = lease(1, 301, level=2)
    assert reason_against(traps, following).startswith("trap_content 300 ")
    assert reason_against(traps, replace(following, previous=FORMER)) is None


def test_page_that_comes_back_is_no_second_page(shown):
    traps = watched(goes_by_level=True)
    show(traps, 1, 1)
    for _ in range(400):
        again = Page(1, "http://s1/calendar?day=0", 1, State.DONE, 200, content_signature=5)
        traps.observe(replace(lease(1), previous=FORMER), again)
    assert reason_against(traps, lease(1, 9, level=2)) is None


def test_pages_that_can_be_in_no_trap_are_not_watched(shown):
    traps = watched(goes_by_level=True)
    for number in range(300):
        one = lease(1, number)
        assert traps.observe(one, Page(one.id, one.url, 1, State.DONE, 200), [7]) == 0
    assert reason_against(traps, lease(1, 301, level=2)) is None


def test_sites_met_longest_ago_are_read_again_where_levels_must_be_whole(shown, monkeypatch):
    monkeypatch.setattr(traps_module, "MAX_WATCHES", 1)
    traps = watched(goes_by_level=True)
    show(traps, 1, 5)
    show(traps, 2, 5)
    assert shown == []
    assert reason_against(traps, lease(1, 1, level=2)) is not None  # by the 400 pages that the store has
    assert shown == ["levels of 1"]


def test_without_levels_each_site_has_its_share_of_memory(shown):
    traps = watched(goes_by_level=False, number=2000)
    for site_id in range(1, 11):
        show(traps, site_id, 600)
    assert all(reason_against(traps, lease(site_id, 601)) for site_id in range(1, 11))
    assert shown == []


def test_without_levels_sites_met_longest_ago_begin_anew(shown, monkeypatch):
    monkeypatch.setattr(traps_module, "MAX_SHARING", 1)
    traps = watched(goes_by_level=False)
    show(traps, 1, 600)
    show(traps, 2, 5)
    assert reason_against(traps, lease(1, 601)) is None
    assert shown == []


def test_without_levels_a_crawl_that_goes_on_reads_the_latest_pages_once(shown):
    traps = watched(goes_by_level=False, resumed=True)
    show(traps, 1, 5)
    assert shown == ["latest of 1"]


def test_drained_site_is_read_again_when_it_wakes(shown):
    traps = watched(goes_by_level=True)
    show(traps, 1, 5)
    traps.release_watch(1)
    traps.release_watch(2)
    show(traps, 1, 5)
    show(traps, 2, 5)
    assert shown == ["levels of 1"]


# Whole crawls ---------------------------------------------------------------------------------------------------------


def words(number):
    return "".join(chr(0x430 + int(digit)) for digit in str(number))


def calendar(path):
    """Two days a page, forwards without end; another part names every 50th day until the 2,950th."""
    if path == "/":
        return "home", ["/cal/0/", "/hub/0/"]
    number = int(path.split("/")[2])
    if path.startswith("/hub/"):
        return f"hub {words(number)}", [f"/hub/{number + 1}/", f"/cal/{50 * number}/"] if number < 60 else []
    return "a day", [f"/cal/{number + 1}/", f"/cal/{number + 2}/"]


def lists(path):
    """Lists that say nothing but the numbers of their items, which have texts."""
    if path == "/":
        return "home", ["/list/0/"]
    number = int(path.split("/")[2])
    if path.startswith("/list/"):
        following = [f"/list/{number + 1}/"] if number < 600 else []
        return "a list", [*following, f"/item/{number}/"]
    return words(number), []


def leased(crawl):
    """Return the next leases; none if 20 attempts, each of which rejects up to 500 URLs, find none."""
    attempts = (list(islice(iter(lambda: crawl.crawl.leasing.next(crawl.now), None), 8)) for _ in range(20))
    return next(filter(None, attempts), [])


def crawled(opened, site, *, kill_after=0, reverse=False, listed=()):
    """Read a site breadth first; return the paths that were read, and those that were left out."""
    sites = {"sites": [SiteLimits(SITE, parallel=8)]}
    crawl = opened(sites)
    rows = (SitemapUrlRow(1, target(path).key, f"{SITE}{path}", 1, None) for path in listed)
    crawl.crawl.session.writer.submit(ChangeSet(*rows))
    read = set()
    while leases := leased(crawl):
        for one in reversed(leases) if reverse else leases:
            path = one.url.removeprefix(SITE)
            text, links = site(path)
            crawl.end(one, *links, content_signature=content_signature(text, [one.url, *links]))
            read.add(path)
        if kill_after and len(read) >= kill_after:
            crawl.kill()
            crawl = opened(sites)
            kill_after = 0
    return read, {path for path, (_, reason) in crawl.pages().items() if reason.startswith("trap_")}


def test_lists_that_lead_to_new_pages_are_no_trap(opened):
    read, left_out = crawled(opened, lists)
    assert (len(read), left_out) == (1 + 601 + 601, set())


def test_pages_of_a_trap_that_others_name_are_read(opened):
    read, left_out = crawled(opened, calendar, listed=["/cal/126/"])
    assert {"/cal/125/", "/cal/127/"} <= left_out
    assert all(path.startswith("/cal/") for path in left_out)
    named = {"/cal/126/", *(f"/cal/{number}/" for number in range(0, 3_000, 50))}
    assert named <= read


def simulated(site):
    """Return the pages of a simulated site by their paths, behind a home page."""
    host = "http://h"

    def fetch(path):
        if path == "/":
            return "home", [site.start().removeprefix(host)]
        text, links = site.fetch(f"{host}{path}")
        return text, [link.removeprefix(host) for link in links]

    return fetch


class Section(Folders):
    def start(self):
        return "http://h/shop/"


def check_what_is_said(url, what, number):
    """Check that summary and reports name the cut of *number* URLs."""
    with closing(Database(url)) as database, database.read() as connection:
        crawl = crawl_named(database, None)
        summary = crawl_summary(database, crawl, 0.0, 1.0, Places([], "", ""))
        (of_site,) = Sites().found(connection, crawl.id, ReportFilters())
        traps = list(Traps().found(connection, crawl.id, ReportFilters()))
    assert any(line.startswith(f"Cut: {SITE[7:]}: ") and what in line for line in summary)
    assert of_site[[column.name for column in Sites.columns].index("cut")] == number
    assert sum(int(str(row[1])) for row in traps) == number
    assert any(what in sentence(str(row[0])) for row in traps)


@pytest.mark.parametrize(
    ("site", "pages", "cut"),
    [
        (Filters(3, 4), 5**3, None),
        (Section(["one/", "two/", "three/"], path_text, deepest=5), 1 + 3 + 9 + 27 + 81, None),
        (Section(["more/"], path_text, deepest=24), 24, None),
        (Calendar(), None, None),
        (Added(1, 4), None, "pages like /shop?f=# repeat the same content"),
        (Section(["more/"], last_name), None, "a segment occurs 4 times in the path"),
        (Section(MENU, last_name), None, "pages like /shop/**/about repeat the same content"),
    ],
    ids=[
        *("filters", "folders", "a folder in itself, 24 times"),
        *("calendar", "filters added", "one folder in itself", "menu"),
    ],
)
def test_site_is_read_or_cut_and_said_so_whatever_its_order_and_kills(opened, sqlite_url, site, pages, cut, tmp_path):
    read, left_out = crawled(opened, simulated(site))
    if cut:
        check_what_is_said(sqlite_url, cut, len(left_out))
    if pages is None:
        assert left_out
        assert len(read) < 2_000
    else:
        assert (len(read), left_out) == (1 + pages, set())
    again = partial(OpenedCrawl, f"sqlite:///{tmp_path}/again.sqlite", None)
    assert crawled(again, simulated(site), kill_after=2 * len(read) // 3, reverse=True) == (read, left_out)
