"""Queries that several packages use."""

import pytest

from crawlers.errors import ConfigError
from crawlers.items import State
from crawlers.storage import crawls
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.queries import (
    crawl_named,
    crawl_numbered,
    fetched_pages,
    is_small,
    latest_pages,
)
from crawlers.storage.schema.tables import EndedPage, LinkRow, NewPage
from crawlers.storage.site_rows import SiteRow
from tests.support.stored_rows import page_ids, write_changes_of, write_rows

B, A = (SiteRow(0, f"http://{name}.test", 1, None, 0.0) for name in "ba")


def begin(database, name, *sites):
    return crawls.begin(database, name, "sitegraph", sites, {}, 0.0)


def add_pages(database, site_id, *pages):
    """Add pages of a site by state and level, with their number as content signature."""
    changes = ChangeSet()
    for page_id, (state, level) in zip(page_ids(database, len(pages)), pages, strict=True):
        url = f"http://site{site_id}.test/{page_id}"
        content_signature = page_id if level else None
        changes.add(
            NewPage(page_id, site_id, page_id, url, 0, level, 0, 0.0, 0, None, None, None, 0.0, 0.0),
            EndedPage(
                page_id, int(state), None, 1, None, 0.0, None, None, None, content_signature, *[None] * 3, 0, None, None
            ),
        )
    write_changes_of(database, changes)


@pytest.mark.both_stores
def test_latest_crawl_of_a_name_is_found(database):
    first = begin(database, "daily", A)
    crawls.end(database, first.id, finished=True, reason="finished", now=1.0)
    second = begin(database, "daily", A)
    third = begin(database, "weekly", A)
    assert crawl_named(database, "daily") == (second.id, "daily", "sitegraph", "running", False)
    assert crawl_named(database, None).id == third.id


def test_error_for_an_unknown_crawl_lists_the_known_names(database):
    with pytest.raises(ConfigError, match="has no crawl yet; run a crawl first"):
        crawl_named(database, "daily")
    begin(database, "weekly")
    begin(database, "daily")
    with pytest.raises(ConfigError, match=r"CRAWL=dayly: .* it has daily, weekly"):
        crawl_named(database, "dayly")


def test_name_that_is_the_number_of_another_crawl_is_a_name(database):
    named = begin(database, "2", A)
    other = begin(database, "other", A)
    assert (named.id, other.id) == (1, 2)
    assert crawl_named(database, "2").id == named.id
    found = crawl_numbered(database, 2)
    assert found is not None
    assert found.name == "other"
    assert crawl_numbered(database, 10**30) is None


def test_fetched_pages_are_those_that_are_done_sorted_by_level(database):
    (site,) = begin(database, "daily", A).sites
    add_pages(database, site.id, (State.DONE, 2), (State.REFUSED, 1), (State.DONE, 0), (State.DONE, 1))
    assert [(level, content_signature) for _, level, content_signature in fetched_pages(database, site.id)] == [
        (0, 0),
        (1, 4),
        (2, 1),
    ]


def test_latest_pages_are_those_discovered_last_in_that_order(database):
    (site,) = begin(database, "daily", A).sites
    add_pages(database, site.id, (State.DONE, 2), (State.REFUSED, 1), (State.DONE, 0), (State.DONE, 1))
    assert [level for _, level, _ in latest_pages(database, site.id, 2)] == [0, 1]


@pytest.mark.both_stores
def test_crawl_is_small_by_its_pages_and_links(database):
    row = begin(database, "daily", B, A)
    add_pages(database, row.sites[0].id, (State.DONE, 0), (State.WAITING, 1))
    links = [LinkRow(one, other, 2) for one in (1, 2) for other in (1, 2)]
    write_rows(database, *links)
    other = begin(database, "other", A)
    add_pages(database, other.sites[0].id, (State.DONE, 0))
    assert [is_small(database, row.id, most) for most in (0, 1, 2, 5, 6, 7)] == [False] * 4 + [True] * 2
    assert is_small(database, other.id, 1)
