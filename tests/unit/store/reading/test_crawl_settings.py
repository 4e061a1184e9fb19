"""Settings are read as the last run of a crawl recorded them."""

import pytest

from crawlers.store.reading.crawl_settings import recorded, settings_of
from tests.support.stored_rows import begin, read


@pytest.mark.both_stores
def test_settings_are_those_of_the_last_run_of_each_crawl(database):
    one = begin(database, name="one", RULE="auto", PAGE_BUDGET=7, PROFILE="")
    two = begin(database, name="two", RULE="ucb1")
    resumed = begin(database, name="one", RULE="gittins")
    assert resumed.id == one.id
    assert settings_of(database, one.id) == {"RULE": "gittins", "PAGE_BUDGET": "7", "PROFILE": ""}
    assert settings_of(database, two.id) == {"RULE": "ucb1"}
    assert settings_of(database, 99) == {}
    assert read(recorded, database, one.id, "RULE", "ORDER") == {"RULE": "gittins"}
