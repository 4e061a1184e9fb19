"""Queries that several packages use."""

import pytest

from crawlers.errors import ConfigError
from crawlers.extensions.crawl_metrics import oldest_waiting
from crawlers.items import SiteLimits, State
from crawlers.store.reading import crawls
from crawlers.store.reading.queries import (
    crawl_named,
    crawl_numbered,
    has_crossings,
    latest_pages,
    signed_pages,
    site_has_crossings,
)
from crawlers.store.schema.tables import LinkRow
from crawlers.store.sites.site_opening import SiteRow
from crawlers.web.pages.compare_pages import related_crawls
from crawlers.web.pages.crawl_pages import limits_of
from crawlers.web.panel import is_small
from tests.support.stored_rows import begin, ended_page, new_page, page_ids, read, write_rows

A, B, C = (f"http://{name}.test" for name in "abc")


def add_pages(database, site_id, *pages):
    """Add pages of a site by state and level, with their number as content signature."""
    for page_id, (state, level) in zip(page_ids(database, len(pages)), pages, strict=True):
        signature = page_id if level else None
        ended = ended_page(page_id, state, content_signature=signature)
        write_rows(database, new_page(page_id, site_id, level=level), ended)


@pytest.mark.both_stores
def test_latest_crawl_of_a_name_is_found(database):
    first = begin(database, A, name="daily")
    crawls.end(database, first.id, finished=True, reason="finished", now=1.0)
    second = begin(database, A, name="daily")
    third = begin(database, A, name="weekly")
    assert crawl_named(database, "daily") == (second.id, "daily", "m", "running", False)
    assert crawl_named(database, None).id == third.id


def test_error_for_an_unknown_crawl_lists_the_known_names(database):
    with pytest.raises(ConfigError, match="has no crawl yet; run a crawl first"):
        crawl_named(database, "daily")
    begin(database, name="weekly")
    begin(database, name="daily")
    with pytest.raises(ConfigError, match=r"CRAWL=dayly: .* it has daily, weekly"):
        crawl_named(database, "dayly")


def test_name_that_is_the_number_of_another_crawl_is_a_name(database):
    named = begin(database, A, name="2")
    other = begin(database, A, name="other")
    assert (named.id, other.id) == (1, 2)
    assert crawl_named(database, "2").id == named.id
    assert crawl_numbered(database, 2).name == "other"
    assert crawl_numbered(database, 10**30) is None


def test_pages_with_a_signature_are_sorted_by_level(database):
    (site,) = begin(database, A, name="daily").sites
    add_pages(database, site.id, (State.DONE, 2), (State.REFUSED, 0), (State.DONE, 0), (State.DONE, 1))
    assert [row[1:] for row in signed_pages(database, site.id)] == [(1, 4), (2, 1)], "with a signature"
    assert [level for _, level, _ in latest_pages(database, site.id, 2)] == [2, 1], "discovered last, in that order"


@pytest.mark.both_stores
def test_crawl_is_small_by_its_pages_and_links(database):
    row = begin(database, B, A, name="daily")
    add_pages(database, row.sites[0].id, (State.DONE, 0), (State.WAITING, 1))
    write_rows(database, *(LinkRow(one, other, 2) for one in (1, 2) for other in (1, 2)))
    other = begin(database, A, name="other")
    add_pages(database, other.sites[0].id, (State.DONE, 0))
    assert [is_small(database, row.id, most) for most in (0, 1, 2, 5, 6, 7)] == [False] * 4 + [True] * 2
    assert is_small(database, other.id, 1)


@pytest.mark.both_stores
def test_oldest_waiting_url_is_that_of_the_crawl_and_still_waits(database):
    one, two = (begin(database, A, B, C, name=name) for name in ("one", "two"))
    assert oldest_waiting(database, one.id) is None
    places = [(two, 0, State.DONE), (one, 1, State.DONE), (two, 2, State.WAITING), (one, 2, State.WAITING)]
    pages = [(crawl.sites[place].id, state) for crawl, place, state in places]
    write_rows(database, *(new_page(n, *one, found_at=float(n)) for n, one in enumerate([*pages, *pages], 5)))
    assert [oldest_waiting(database, crawl.id) for crawl in (one, two)] == [8.0, 7.0]


@pytest.mark.both_stores
def test_limits_have_the_order_of_the_names(database):
    own = {"start_url": f"{A}/docs/", "folder": "/docs/", "aliases": ("http://x.test", "https://x.test")}
    crawl_id = begin(database, SiteRow(0, A, 3, 2, 0.5, **own), B, C).id
    options = {"render": "none"}
    found = list(read(limits_of, database, crawl_id, [C, "http://deleted.test", A], {A: options}))
    assert found == [SiteLimits(C, 1, None, 0.0), SiteLimits(A, 3, 2, 0.5, **own, options=options)]


@pytest.mark.both_stores
def test_related_crawls_are_those_with_most_sites_in_common_then_the_latest(database, monkeypatch):
    for sites in ((A, B), (A,), ("http://z.test",), (A, B, C), (), (B,)):
        crawls.end(database, begin(database, *sites).id, finished=True, reason="finished", now=1.0)
    found = [(one.id, one.shared_sites) for one in related_crawls(database, 1)]
    assert found == [(4, 2), (6, 1), (2, 1), (5, 0), (3, 0)]
    monkeypatch.setattr("crawlers.web.pages.compare_pages.MOST_CRAWLS", 2)
    assert [one.id for one in related_crawls(database, 1)] == [6, 5], "only the latest ones"


@pytest.mark.usefixtures("plain_missions")
@pytest.mark.parametrize(("mission", "expected"), [("plain", False), ("harvest", False), ("wide", True)])
def test_only_crawls_with_a_scope_have_crossings(database, mission, expected):
    crawl = begin(database, A, mission=mission)
    assert read(has_crossings, database, crawl.id) is expected
    assert read(site_has_crossings, database, crawl.sites[0].id) is expected
    assert not read(site_has_crossings, database, 99)
