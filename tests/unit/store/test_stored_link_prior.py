"""A crawl keeps the weights with which its order began to learn."""

import pytest
from sqlalchemy import text

from crawlers.errors import ConfigError
from crawlers.store.reading import crawls
from crawlers.store.reading.run_command import Command
from crawlers.store.sites.site_opening import SiteList, SiteRow
from crawlers.store.writing.pulls import stored_link_prior
from tests.support.stored_rows import read

A = SiteRow(0, "http://a.test", 1, None, 0.0)
FIRST, OTHER = {"anchor": {"news": 0.5, "новости": 0.1}}, {"url": {"old": -0.25}}


def begin(database, weights):
    return crawls.begin(database, Command("c", "extlinks", {}, SiteList([A])), 0.0, link_prior=weights)


def kept(database, crawl_id):
    return read(stored_link_prior, database, crawl_id)


@pytest.mark.both_stores
def test_weights_of_a_crawl_never_change(database):
    def vanished():
        raise AssertionError("the file is not read again")

    first = begin(database, lambda: FIRST)
    again = begin(database, vanished)
    assert again.id == first.id
    assert kept(database, first.id) == FIRST
    crawls.end(database, first.id, finished=True, reason="finished", now=1.0)
    next_one = begin(database, lambda: OTHER)
    assert kept(database, next_one.id) == OTHER
    assert kept(database, first.id) == FIRST


def test_crawl_does_not_begin_with_a_wrong_file(database):
    def wrong():
        raise ConfigError("LINK_PRIOR=mine.json is not JSON")

    with pytest.raises(ConfigError):
        begin(database, wrong)
    assert database.scalar(text("SELECT count(*) FROM crawl")) == 0
