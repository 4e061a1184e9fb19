"""The holders of document keys: one contract for all engines."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest
import redis
from sqlalchemy import text

from crawlers.errors import ConfigError, StoreError
from crawlers.storage import crawls
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.database import Database
from crawlers.storage.news.document_keys import SqlDocumentKeys
from crawlers.storage.news.redis_keys import RedisDocumentKeys, open_document_keys
from crawlers.storage.writer import Writer
from tests.support.services import fresh_database, running_redis
from tests.support.stored_rows import NothingPending

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.items import Key128
    from crawlers.storage.news.document_keys import DocumentKeys

pytestmark = pytest.mark.both_stores

LEAST, MOST = -(1 << 63), (1 << 63) - 1
EXTREMES = [(LEAST, MOST), (MOST, LEAST), (0, 0), (-1, -1), (0, -1), (1, 0), (2**53 + 1, -(2**53) - 1)]


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    with running_redis() as url:
        yield url


class Store:
    """Keys, and the writer of the change sets with their claims."""

    def __init__(self, database: Database, redis_url: str | None) -> None:
        self._database = database
        self._redis_url = redis_url
        self._writer = Writer(database)
        self.keys: DocumentKeys = self.open()

    def open(self, most_uncommitted: int = 100) -> DocumentKeys:
        """Return the keys as a new process sees them."""
        if self._redis_url is not None:
            return RedisDocumentKeys(self._redis_url)
        return SqlDocumentKeys(self._database, self._writer, most_uncommitted)

    def claim(self, keys: list[Key128], owner: int, void: frozenset[int] = frozenset()) -> list[int]:
        changes = ChangeSet()
        holders = self.keys.claim(keys, owner, changes, void)
        self._writer.submit(changes)
        return holders

    def reopen(self) -> None:
        self._writer.flush()
        self.keys.close()
        self.keys = self.open()

    def close(self) -> None:
        self.keys.close()
        self._writer.close()


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "redis"])
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Database, str | None]]:
    """Each engine in turn: the store, or a Redis server."""
    with ExitStack() as stack:
        url, redis_url = f"sqlite:///{tmp_path_factory.mktemp('keys') / 'crawl.sqlite'}", None
        if request.param == "postgresql":
            url = stack.enter_context(fresh_database(request.getfixturevalue("postgresql_socket")))
        elif request.param == "redis":
            redis_url = request.getfixturevalue("redis_url")
        database = Database(url)
        stack.callback(database.close)
        yield database, redis_url


@pytest.fixture
def store(engine: tuple[Database, str | None]) -> Iterator[Store]:
    """Each engine in turn, empty."""
    database, redis_url = engine
    with database.write() as connection:
        connection.execute(text("DELETE FROM document_key"))
    if redis_url is not None:
        empty(redis_url)
    store = Store(database, redis_url)
    yield store
    store.close()


def empty(url: str) -> None:
    with redis.Redis.from_url(url) as client:
        client.flushall()


def test_key_that_was_not_claimed_has_no_holder(store):
    assert store.keys.find(EXTREMES) == [None] * len(EXTREMES)
    assert store.keys.find([]) == []


def test_first_page_holds_a_key_before_and_after_the_commit(store):
    assert store.claim([(1, 1), (2, 2)], 7) == [7, 7]
    assert store.claim([(2, 2), (3, 3)], 8) == [7, 8]
    for _ in range(2):
        assert store.keys.find([(3, 3), (4, 4), (1, 1), (2, 2)]) == [8, None, 7, 7]
        store.reopen()


def test_all_128_bits_count(store):
    for owner, key in enumerate(EXTREMES, start=1):
        assert store.claim([key], owner) == [owner]
    store.reopen()
    assert store.keys.find(EXTREMES) == list(range(1, len(EXTREMES) + 1))


def test_claiming_twice_changes_nothing(store):
    for _ in range(2):
        assert store.claim([(1, 1), (1, 2)], 7) == [7, 7]
        store.reopen()
        assert store.claim([(1, 1)], 9) == [7]


def test_key_can_be_looked_up_twice_in_one_call(store):
    assert store.claim([(1, 1), (1, 1)], 7) == [7, 7]
    assert store.keys.find([(1, 1), (1, 1)]) == [7, 7]


def test_page_numbers_may_be_large(store):
    assert store.claim([(1, 1)], 2**40 + 1) == [2**40 + 1]
    store.reopen()
    assert store.keys.find([(1, 1)]) == [2**40 + 1]


def test_void_holder_is_replaced_once(store):
    changes = ChangeSet()
    store.keys.claim([(1, 1)], 7, changes)  # the process was killed before it submitted the change set
    assert store.claim([(1, 1), (2, 2)], 8, frozenset({7})) == [8, 8]
    assert store.claim([(1, 1)], 9, frozenset({7})) == [8]
    store.reopen()
    assert store.keys.find([(1, 1), (2, 2)]) == [8, 8]


def test_keys_that_are_no_longer_in_memory_are_held(store):
    store.keys = store.open(most_uncommitted=10)
    for owner in range(1, 101):
        assert store.claim([(owner, owner)], owner) == [owner]
    assert store.keys.find([(n, n) for n in range(1, 102)]) == [*range(1, 101), None]


def test_killed_run_leaves_no_claim_in_the_store(tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}")
    SqlDocumentKeys(database, NothingPending()).claim([(1, 1)], 7, ChangeSet())
    assert SqlDocumentKeys(database, NothingPending()).find([(1, 1)]) == [None]
    database.close()


def test_all_processes_use_the_layout_of_the_first(redis_url):
    empty(redis_url)
    first, second = RedisDocumentKeys(redis_url, hash_bits=4), RedisDocumentKeys(redis_url)
    keys = [(number << 56, number) for number in range(-128, 128)]
    assert first.claim(keys, 5, ChangeSet()) == [5] * len(keys)
    assert second.find(keys) == [5] * len(keys)
    first.close()
    second.close()


def test_keys_are_packed_in_hashes(redis_url):
    empty(redis_url)
    keys = RedisDocumentKeys(redis_url, hash_bits=1)
    keys.claim([(number, number) for number in range(60)], 2**31, ChangeSet())
    keys.close()
    with redis.Redis.from_url(redis_url) as client:
        names = [name for name in client.scan_iter() if client.type(name) == b"hash"]
        assert len(names) == 1
        assert client.object("encoding", names[0]) == b"listpack"


def test_setting_selects_the_engine(tmp_path, redis_url):
    database = Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}")
    assert isinstance(open_document_keys("", database, NothingPending()), SqlDocumentKeys)
    keys = open_document_keys(redis_url, database, NothingPending())
    assert isinstance(keys, RedisDocumentKeys)
    keys.close()
    database.close()


def test_keys_of_another_store_are_refused(tmp_path, redis_url):
    empty(redis_url)
    for name, began_at, is_refused in (("a", 1.5, False), ("b", 2.5, True), ("a", 1.5, False)):
        with closing(Database(f"sqlite:///{tmp_path / name}.sqlite")) as database:
            crawls.begin(database, "news", "news", [], {}, began_at)
            if is_refused:
                with pytest.raises(ConfigError, match="belong to another store"):
                    open_document_keys(redis_url, database, NothingPending())
            else:
                open_document_keys(redis_url, database, NothingPending()).close()


@pytest.mark.parametrize("url", ["http://localhost", "redis://user:secret@localhost:1/0", "nonsense"])
def test_error_for_an_invalid_url_has_a_remedy_and_no_password(url):
    with pytest.raises(ConfigError, match=r"DOCUMENT_KEYS_URL=.*leave the setting empty") as error:
        RedisDocumentKeys(url)
    assert "secret" not in str(error.value)


def test_missing_package_is_reported(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "redis", None)
    with pytest.raises(ConfigError, match="pip install redis"):
        RedisDocumentKeys("redis://localhost/0")


def test_errors_of_redis_are_store_errors(redis_url):
    empty(redis_url)
    keys = RedisDocumentKeys(redis_url, hash_bits=0)
    with redis.Redis.from_url(redis_url) as client:
        client.set(b"dk:" + bytes(4), "no hash")
    with pytest.raises(StoreError, match="Redis failed"):
        keys.find([(1, 1)])
    with pytest.raises(StoreError, match="Redis failed"):
        keys.claim([(1, 1)], 1, ChangeSet())
    keys.close()
