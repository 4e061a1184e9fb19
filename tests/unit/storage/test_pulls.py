"""The recorded pulls and counted keys of a crawl that counts rewards."""

import pytest

from crawlers.errors import StoreError
from crawlers.storage import crawls
from crawlers.storage.database import Database
from crawlers.storage.pulls import Pull, counted, downloads_of_site, has_pulls, pulls_of
from crawlers.storage.schema.tables import CountedKeyRow, NewPage, PullRow
from crawlers.storage.site_rows import SiteRow
from tests.support.stored_rows import write_rows

pytestmark = pytest.mark.both_stores


@pytest.fixture
def database(database_url):
    database = Database(database_url)
    yield database
    database.close()


def new_page(number, site_id):
    return NewPage(number, site_id, number, "http://a.test/", 0, 0, 0, 0.0, 0, None, None, None, 0.0, 0.0)


def test_crawls_with_pulls_are_told_from_others(database):
    sites = [SiteRow(0, "http://a.test", 1, None, 0.0)]
    one, two = (crawls.begin(database, name, "extlinks", sites, {}, 0.0) for name in ("one", "two"))
    write_rows(database, PullRow(two.sites[0].id, 9, 7.0, 1.0))
    with database.read() as connection:
        assert [has_pulls(connection, crawl.id) for crawl in (one, two)] == [False, True]


def test_pulls_of_each_crawl_are_read_in_the_order_of_completion(database):
    sites = [SiteRow(0, f"http://{name}.test", 1, None, 0.0) for name in "ab"]
    one = crawls.begin(database, "one", "extlinks", sites, {}, 0.0)
    two = crawls.begin(database, "two", "extlinks", sites[:1], {}, 0.0)
    a, b = (row.id for row in one.sites)
    pages = [(5, b), (4, a), (9, two.sites[0].id), (3, b)]
    write_rows(database, *(new_page(*row) for row in pages))
    write_rows(database, PullRow(b, 5, 2.0, 1.0), PullRow(a, 4, 0.0, 1.0), PullRow(two.sites[0].id, 9, 7.0, 1.0))
    write_rows(database, PullRow(b, 3, 1.5, 0.5))
    assert list(pulls_of(database, one.id)) == [Pull(b, 2.0), Pull(a, 0.0), Pull(b, 1.5)]
    assert list(pulls_of(database, two.id)) == [Pull(two.sites[0].id, 7.0)]
    assert (downloads_of_site(database, b), downloads_of_site(database, a)) == (2, 1)


@pytest.mark.parametrize("reward", ["nan", "-5", "1e999"])
def test_damaged_reward_is_reported(database, reward):
    crawl = crawls.begin(database, "one", "topic", [SiteRow(0, "http://a.test", 1, None, 0.0)], {}, 0.0)
    write_rows(database, PullRow(crawl.sites[0].id, 9, 0.5, 1.0))
    if database.engine.dialect.name == "postgresql":
        reward = {"1e999": "'Infinity'", "nan": "'NaN'"}.get(reward, reward)
    elif reward == "nan":
        reward = "'nan'"  # SQLite stores no NaN, but any text
    with database.write() as connection:
        connection.exec_driver_sql(f"UPDATE pull SET reward = {reward}")
    with pytest.raises(StoreError, match=r"is damaged: the reward .* of a page is not one; restore it"):
        list(pulls_of(database, crawl.id))


def test_keys_are_counted_once_per_site(database):
    write_rows(database, CountedKeyRow(1, 10), CountedKeyRow(1, 2**60 - 1), CountedKeyRow(2, 11))
    write_rows(database, CountedKeyRow(1, 10))
    assert counted(database, 1, [10, 11, 2**60 - 1, 12]) == {10, 2**60 - 1}
    assert counted(database, 1, []) == set()
