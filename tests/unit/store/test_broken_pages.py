"""Which of some pages are broken, or redirect to a broken page."""

import pytest

from crawlers.items import State
from crawlers.store.reading.redirect_chains import broken_ends_of
from tests.support.executed_statements import statements
from tests.support.stored_pages import add_page, begin_crawl


@pytest.mark.both_stores
def test_only_the_chains_of_the_pages_are_read(sqlite):
    _, (site, _) = begin_crawl(sqlite)
    add_page(sqlite, 1, site, "http://a.test/1", state=int(State.MOVED), moved_to=2)
    add_page(sqlite, 2, site, "http://a.test/2", state=int(State.FAILED))
    with statements(sqlite) as executed, sqlite.read() as connection:
        assert broken_ends_of(connection, [1]) == {1: 2}
    assert [statement for statement in executed if "site" in statement] == []
