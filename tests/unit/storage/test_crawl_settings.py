"""Settings are read as the last run of a crawl recorded them."""

import pytest

from crawlers.storage import crawls
from crawlers.storage.crawl_settings import recorded, settings_of
from crawlers.storage.site_rows import SiteRow


def begin(database, name, *sites, settings=None):
    rows = [SiteRow(0, site, 1, None, 0.0) for site in sites]
    return crawls.begin(database, name, "extlinks", rows, {"settings": settings or {}}, 0.0)


@pytest.mark.both_stores
def test_settings_are_those_of_the_last_run_of_each_crawl(database):
    one = begin(database, "one", settings={"RULE": "auto", "PAGE_BUDGET": 7, "PROFILE": ""})
    two = begin(database, "two", settings={"RULE": "ucb1"})
    resumed = begin(database, "one", settings={"RULE": "gittins"})
    assert resumed.id == one.id
    assert settings_of(database, one.id) == {"RULE": "gittins", "PAGE_BUDGET": "7", "PROFILE": ""}
    assert settings_of(database, two.id) == {"RULE": "ucb1"}
    assert settings_of(database, 99) == {}
    with database.read() as connection:
        assert recorded(connection, one.id, "RULE", "ORDER") == {"RULE": "gittins"}
