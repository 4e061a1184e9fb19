"""The recorded pulls and counted keys of a crawl that counts rewards."""

import pytest
from sqlalchemy import text

from crawlers.errors import StoreError
from crawlers.reports.pictures.pull_pictures import has_pulls
from crawlers.store.schema.tables import CountedKeyRow, PullRow
from crawlers.store.writing.pulls import Pull, counted, downloads_of_site, pulls_of
from tests.support.stored_rows import begin, execute, new_page, read, write_rows

pytestmark = pytest.mark.both_stores


def test_pulls_of_each_crawl_are_read_in_the_order_of_completion(database):
    one = begin(database, "http://a.test", "http://b.test", name="one")
    two, none = (begin(database, "http://a.test", name=name) for name in ("two", "none"))
    a, b = (row.id for row in one.sites)
    pages = [(5, b), (4, a), (9, two.sites[0].id), (3, b)]
    write_rows(database, *(new_page(*row) for row in pages))
    write_rows(database, PullRow(b, 5, 2.0, 1.0), PullRow(a, 4, 0.0, 1.0), PullRow(two.sites[0].id, 9, 7.0, 1.0))
    write_rows(database, PullRow(b, 3, 1.5, 0.5))
    assert list(pulls_of(database, one.id)) == [Pull(b, 2.0), Pull(a, 0.0), Pull(b, 1.5)]
    assert list(pulls_of(database, two.id)) == [Pull(two.sites[0].id, 7.0)]
    assert (downloads_of_site(database, b), downloads_of_site(database, a)) == (2, 1)
    assert [read(has_pulls, database, crawl.id) for crawl in (one, two, none)] == [True, True, False]


@pytest.mark.parametrize("reward", ["nan", "-5", "1e999"])
def test_damaged_reward_is_reported(database, reward):
    crawl = begin(database, "http://a.test")
    write_rows(database, PullRow(crawl.sites[0].id, 9, 0.5, 1.0))
    if database.engine.dialect.name == "postgresql":
        reward = {"1e999": "'Infinity'", "nan": "'NaN'"}.get(reward, reward)
    elif reward == "nan":
        reward = "'nan'"  # SQLite stores no NaN, but any text
    execute(database, text(f"UPDATE pull SET reward = {reward}"))
    with pytest.raises(StoreError, match=r"is damaged: the reward .* of a page is not one; restore it"):
        list(pulls_of(database, crawl.id))


def test_keys_are_counted_once_per_site(database):
    write_rows(database, CountedKeyRow(1, 10), CountedKeyRow(1, 2**60 - 1), CountedKeyRow(2, 11))
    write_rows(database, CountedKeyRow(1, 10))
    assert counted(database, 1, [10, 11, 2**60 - 1, 12]) == {10, 2**60 - 1}
    assert counted(database, 1, []) == set()
