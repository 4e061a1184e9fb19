"""Which of some pages are broken, or redirect to a broken page."""

import pytest

from crawlers.items import State
from crawlers.storage.broken_pages import broken_ends_of
from tests.support.executed_statements import statements
from tests.support.topic_store import add_page, begin_topic

pytestmark = pytest.mark.both_stores


def add(database, site, number, state, **columns):
    add_page(database, number, site, f"http://a.test/{number}", state=int(state), **columns)


def test_broken_pages_and_redirects_to_them_are_found_also_on_other_sites(database):
    _, (site, other) = begin_topic(database)
    add(database, site, 1, State.DONE, status=200)
    add(database, site, 2, State.REFUSED, status=404)
    add(database, site, 3, State.REFUSED, status=200)  # such as a file
    add(database, other, 4, State.FAILED)
    add(database, site, 5, State.MOVED, moved_to=6)
    add(database, site, 6, State.MOVED, moved_to=4)
    add(database, site, 7, State.MOVED, moved_to=8)
    add(database, site, 8, State.MOVED, moved_to=7)
    add(database, site, 9, State.MOVED, moved_to=1)
    add(database, site, 10, State.MOVED, moved_to=99)  # its row was deleted
    with database.read() as connection:
        assert broken_ends_of(connection, range(1, 11)) == {2: 2, 4: 4, 5: 4, 6: 4}


def test_only_the_chains_of_the_pages_are_read(sqlite):
    _, (site, _) = begin_topic(sqlite)
    add(sqlite, site, 1, State.MOVED, moved_to=2)
    add(sqlite, site, 2, State.FAILED)
    with statements(sqlite) as executed, sqlite.read() as connection:
        assert broken_ends_of(connection, [1]) == {1: 2}
    assert [statement for statement in executed if "site" in statement] == []
