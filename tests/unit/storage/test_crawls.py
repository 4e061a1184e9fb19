"""Crawls are begun, resumed and ended."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from crawlers.errors import ConfigError
from crawlers.storage import crawls
from crawlers.storage.schema.tables import crawl, seed, site
from crawlers.storage.site_opening import found_site
from crawlers.storage.site_rows import SiteRow
from tests.support.stored_rows import add_sites, write_changes_of

A = SiteRow(0, "http://a.test", 2, None, 1.0)
B = SiteRow(0, "http://b.test", 1, 3, 0.5)
MANIFEST = {"settings": {"RULE": "roundrobin", "MAX_LEVEL": None, "TAGS": ["a"]}, "seeds": ["http://a.test"]}


def begin(database, *sites, name="daily", mission="sitegraph"):
    return crawls.begin(database, name, mission, sites, MANIFEST, 5.0)


def crawl_rows(database):
    return database.rows(select(crawl.c.id, crawl.c.state, crawl.c.started_at, crawl.c.ended_at, crawl.c.reason))


@pytest.mark.both_stores
def test_interrupted_crawl_is_resumed_and_a_finished_one_is_followed_by_a_new_one(database):
    first = begin(database, A)
    crawls.end(database, first.id, finished=False, reason="stop_file", now=6.0)
    assert crawl_rows(database) == [(first.id, "interrupted", 5.0, 6.0, "stop_file")]
    assert begin(database, A).id == first.id
    assert crawl_rows(database) == [(first.id, "running", 5.0, None, None)]
    crawls.end(database, first.id, finished=True, reason="finished", now=7.0)

    second = begin(database, A)
    assert (second.id != first.id, second.resumed) == (True, False)
    assert second.sites[0].id != first.sites[0].id, "two crawls of a seed share no pages"
    assert database.scalars(select(seed.c.site)) == ["http://a.test"]


@pytest.mark.parametrize(
    ("setting", "today"), [("URL_IGNORED_PARAMETERS", "['ref']"), ("URL_NORMALIZATION", "['lower_case']")]
)
def test_url_rules_cannot_be_changed_while_keys_by_them_are_stored(database, setting, today):
    rules = {"RULE": "ucb1", "URL_NORMALIZATION": "[]"}
    crawls.begin(database, "c", "m", [A], {"settings": rules | {"URL_IGNORED_PARAMETERS": "['utm_*']"}}, 0.0)
    with pytest.raises(ConfigError, match=rf"^{setting}=.*the unfinished crawl c began with {setting}=.*CRAWL=another"):
        crawls.begin(database, "c", "m", [A], {"settings": {setting: today}}, 1.0)
    assert crawls.begin(database, "c", "m", [A], {"settings": {"RULE": "gittins"}}, 1.0).resumed


@pytest.mark.parametrize("tags", ["a", "a,area,frame", "['area', 'a', 'meta']"])
def test_tags_of_links_cannot_be_changed_but_written_otherwise(database, tags):
    def run(tags):
        return crawls.begin(database, "c", "m", [A], {"settings": {"LINK_TAGS": tags}}, 0.0)

    run("a, Area")
    with pytest.raises(ConfigError, match=r"^LINK_TAGS=.*the unfinished crawl c began with LINK_TAGS=a, Area; give"):
        run(tags)
    assert run(["area", "a"]).resumed


@pytest.mark.both_stores
def test_resumed_crawl_includes_the_discovered_sites_that_are_still_in_scope(database):
    first = begin(database, A, B)
    found = SiteRow(0, "http://sport.a.test", 1, None, 0.0)
    write_changes_of(database, found_site(first.id, replace(found, id=77)))

    def resumed(*sites, domain=""):
        keeps = (lambda row: row.site.endswith(domain) and not row.start_url) if domain else None
        again = crawls.begin(database, "daily", "sitegraph", sites, MANIFEST, 7.0, keeps=keeps)
        opened = database.scalars(select(site.c.site).where(site.c.is_open).order_by(site.c.id))
        assert [row.site for row in again.sites] == opened
        assert again.excluded == {"http://a.test", "http://b.test", "http://sport.a.test"}.difference(opened)
        return [name.removeprefix("http://") for name in opened]

    assert resumed(A, domain="a.test") == ["a.test", "sport.a.test"]
    assert resumed(B, domain="b.test") == ["b.test"]
    assert resumed(A) == ["a.test"]
    sport = replace(found, start_url="http://sport.a.test/")
    assert resumed(A, sport) == ["a.test", "sport.a.test"]
    assert resumed(A, domain="a.test") == ["a.test"]
    add_sites(database, first.id, found)
    assert resumed() == ["a.test", "b.test", "sport.a.test"]
    assert database.scalars(select(seed.c.site).where(seed.c.is_found)) == ["http://sport.a.test"]
