"""The limits of sites are read from the store as they were in force."""

import pytest
from sqlalchemy import update

from crawlers.items import SiteLimits
from crawlers.storage.queries import limits_of
from crawlers.storage.schema.tables import site
from tests.support.stored_crawl import stored_crawl

pytestmark = pytest.mark.both_stores

A, C = "http://a.test", "http://c.test"


def test_limits_have_the_order_of_the_names(database):
    crawl_id = stored_crawl(database)
    own = {"parallel": 3, "max_level": 2, "delay_s": 0.5, "start_url": f"{A}/docs/", "folder": "/docs/"}
    with database.write() as connection:
        connection.execute(update(site).values(parallel=1, max_level=None, delay_s=1.0))
        connection.execute(update(site).where(site.c.site == A).values(**own, aliases="http://x.test https://x.test"))
    options = {A: {"render": "none"}}
    with database.read() as connection:
        found = list(limits_of(connection, crawl_id, [C, "http://deleted.test", A], options))
    aliases = ("http://x.test", "https://x.test")
    assert found == [SiteLimits(C, 1, None, 1.0), SiteLimits(A, 3, 2, 0.5, f"{A}/docs/", "/docs/", aliases, options[A])]
