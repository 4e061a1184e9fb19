"""The pages of a crawl with their links to each other are read for replays."""

import re
from array import array

import pytest
from sqlalchemy import text

from crawlers.bandits.reward_kinds import REWARDS
from crawlers.errors import StoreError
from crawlers.items import ExternalLink, LinkPlace, Page, State
from crawlers.lab.replay import known_sites
from crawlers.ranking.link_features import link_features
from crawlers.store.schema.tables import PageLinks, PullRow
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.page_rows import add_page_rows
from crawlers.urls.keys import page_key
from tests.support.stored_links import LinkedPage, store_harvest
from tests.support.stored_rows import execute, write_changes_of, write_rows

A, B = "http://a.test", "http://b.test"
LINKED = LinkedPage("/news/", 1.0, "News")


def stored(database, **options):
    """A crawl of two sites; numbers of the pages of the first one by path."""
    crawl_id = store_harvest(database, {A: [LINKED, LinkedPage("/old", 0.0)], B: []}, **options)
    rows = database.rows(text(f"SELECT id, url FROM page WHERE url LIKE '{A}%'"))
    return crawl_id, {url.removeprefix(A): number for number, url in rows}


@pytest.mark.both_stores
def test_sites_have_their_pages_and_the_links_between_them(database):
    crawl_id, pages = stored(database)
    home, news, old = pages["/"], pages["/news/"], pages["/old"]
    execute(database, text(f"UPDATE site SET max_level = 2 WHERE site = '{A}'"))
    write_rows(database, PageLinks(home, {old: 1, news: 3}), PageLinks(news, {home: 1}))
    site, other = known_sites(database, crawl_id, REWARDS["new_links"])
    assert (site.site, site.home, site.max_level) == (A, home, 2)
    assert (other.site, len(other.pages), other.max_level) == (B, 1, None)
    links = {number: list(page.links) for number, page in site.pages.items()}
    assert links == {home: [news, old], news: [home], old: []}
    assert isinstance(site.pages[home].links, array)
    assert [page.downloads for page in site.pages.values()] == [1, 1, 1]
    row = link_features(A, f"{A}/news/", 1, 0, LinkPlace("ul/li", "ul/li", "News"))
    assert site.pages[news].features.tolist() == [*row]
    assert site.pages[home].features is None


def test_pages_have_their_redirects_repeated_downloads_and_rewarded_keys(database):
    crawl_id, pages = stored(database)
    urls = ["http://x.test/1", "http://x.test/2"]
    links = [(ExternalLink(url, page_key(url), "http://x.test", "", "", "", "", "a"), 1) for url in urls]
    changes = ChangeSet()
    read = Page(pages["/news/"], f"{A}/news/", 200, State.DONE, external=links)
    add_page_rows(changes, read, {}, attempts=2, fetched_at=0.0, now=0.0, moved_to=None)
    moved = Page(pages["/old"], f"{A}/old", 301, State.MOVED)
    add_page_rows(changes, moved, {}, attempts=1, fetched_at=0.0, now=0.0, moved_to=pages["/news/"])
    site_id = database.scalar(text(f"SELECT id FROM site WHERE site = '{A}'"))
    changes.add(PullRow(site_id, pages["/news/"], 0.0, 2.0))
    write_changes_of(database, changes)
    for reward, number in (("new_links", 2), ("new_hosts", 1)):
        site = known_sites(database, crawl_id, REWARDS[reward])[0]
        assert len(site.pages[pages["/news/"]].keys) == number
    assert {one.key for one in site.pages[pages["/news/"]].external} == {page_key(url) for url in urls}
    assert site.pages[pages["/news/"]].downloads == 2
    assert site.pages[pages["/old"]].moved_to == pages["/news/"]
    execute(database, text("DELETE FROM pull"))  # as of a crawl that counts no rewards
    execute(database, text("UPDATE page SET attempts = id"))
    for number, page in known_sites(database, crawl_id, REWARDS["links"])[0].pages.items():
        assert page.downloads == number


@pytest.mark.parametrize("features", ["AQA", "ж", "////"])
def test_damaged_features_name_the_store(database, features):
    crawl_id, _ = stored(database)
    execute(database, text(f"UPDATE link_features SET features = '{features}'"))
    with pytest.raises(StoreError, match=re.escape(f"{database.name} is damaged: features of a link cannot")):
        known_sites(database, crawl_id, REWARDS["links"])
