"""The holders of document keys: one contract for all engines."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from sqlalchemy import text

from crawlers.storage.change_set import ChangeSet
from crawlers.storage.database import Database
from crawlers.storage.news.document_copies import DocumentKeys
from crawlers.storage.writer import Writer
from tests.support.services import fresh_database

pytestmark = pytest.mark.both_stores

LEAST, MOST = -(1 << 63), (1 << 63) - 1


class Store:
    """Keys, and the writer of the change sets with their claims."""

    def __init__(self, database):
        self._database = database
        self._writer = Writer(database)
        self.keys: DocumentKeys = self.open()

    def open(self, most_uncommitted=100):
        """Return the keys as a new process sees them."""
        return DocumentKeys(self._database, self._writer, most_uncommitted)

    def claim(self, keys, owner, void=frozenset()):
        changes = ChangeSet()
        holders = self.keys.claim(keys, owner, changes, void)
        self._writer.submit(changes)
        return holders

    def reopen(self):
        self._writer.flush()
        self.keys = self.open()

    def close(self):
        self._writer.close()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request, tmp_path_factory):
    with ExitStack() as stack:
        url = f"sqlite:///{tmp_path_factory.mktemp('keys') / 'crawl.sqlite'}"
        if request.param == "postgresql":
            url = stack.enter_context(fresh_database(request.getfixturevalue("postgresql_socket")))
        database = Database(url)
        stack.callback(database.close)
        yield database


@pytest.fixture
def store(database):
    """Each engine in turn, empty."""
    with database.write() as connection:
        connection.execute(text("DELETE FROM document_key"))
    store = Store(database)
    yield store
    store.close()


def test_first_page_holds_a_key_before_and_after_the_commit(store):
    assert store.claim([(1, 1), (2, 2)], 7) == [7, 7]
    assert store.claim([(2, 2), (3, 3)], 8) == [7, 8]
    for _ in range(2):
        assert store.keys.find([(3, 3), (4, 4), (1, 1), (2, 2)]) == [8, None, 7, 7]
        store.reopen()


def test_key_can_be_looked_up_twice_in_one_call(store):
    assert store.claim([(1, 1), (1, 1)], 7) == [7, 7]
    assert store.keys.find([(1, 1), (1, 1)]) == [7, 7]


def test_void_holder_is_replaced_once(store):
    changes = ChangeSet()
    store.keys.claim([(1, 1)], 7, changes)  # the process was killed before it submitted the change set
    assert store.claim([(1, 1), (2, 2)], 8, frozenset({7})) == [8, 8]
    assert store.claim([(1, 1)], 9, frozenset({7})) == [8]
    store.reopen()
    assert store.keys.find([(1, 1), (2, 2)]) == [8, 8]
