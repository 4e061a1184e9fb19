"""The holders of document keys."""

import pytest

from crawlers.storage.change_set import ChangeSet
from crawlers.storage.news.document_copies import DocumentKeys
from crawlers.storage.writer import Writer

pytestmark = pytest.mark.both_stores


class Store:
    """Keys, and the writer of the change sets with their claims."""

    def __init__(self, database):
        self.database = database
        self.writer = Writer(database)
        self.reopen()

    def claim(self, keys, owner, void=frozenset()):
        changes = ChangeSet()
        holders = self.keys.claim(keys, owner, changes, void)
        self.writer.submit(changes)
        return holders

    def reopen(self):
        """See the keys as a new process does."""
        self.writer.flush()
        self.keys = DocumentKeys(self.database, self.writer, 100)


@pytest.fixture
def store(database):
    store = Store(database)
    yield store
    store.writer.close()


def test_first_page_holds_a_key_before_and_after_the_commit(store):
    assert store.claim([(1, 1), (2, 2), (1, 1)], 7) == [7, 7, 7]
    assert store.claim([(2, 2), (3, 3)], 8) == [7, 8]
    for _ in range(2):
        assert store.keys.find([(3, 3), (4, 4), (1, 1), (2, 2), (1, 1)]) == [8, None, 7, 7, 7]
        store.reopen()


def test_void_holder_is_replaced_once(store):
    changes = ChangeSet()
    store.keys.claim([(1, 1)], 7, changes)  # the process was killed before it submitted the change set
    assert store.claim([(1, 1), (2, 2)], 8, frozenset({7})) == [8, 8]
    assert store.claim([(1, 1)], 9, frozenset({7})) == [8]
    store.reopen()
    assert store.keys.find([(1, 1), (2, 2)]) == [8, 8]
