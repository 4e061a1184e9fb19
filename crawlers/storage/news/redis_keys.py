"""Maps document keys to their holders in Redis (or Valkey), for many processes and with all keys in memory.

A key is one field of one of 2^24 hashes. Redis stores a hash of at most 128 short fields as one block of bytes
(listpack), without pointers; at 10^9 keys, a hash has 60 fields. The bytes of a key that select the hash
are not repeated in the field.

A claim takes effect before the document is stored. If the process is killed in between, the claim is void: its
holder has no document, and the next page with the same key receives it, see `document_copies`.
"""

from __future__ import annotations

import re
from struct import Struct
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from crawlers.errors import ConfigError, StoreError
from crawlers.storage.news.document_keys import MAX_UNCOMMITTED, DocumentKeys, SqlDocumentKeys
from crawlers.storage.schema.tables import crawl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlers.items import Key128
    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.database import Database
    from crawlers.storage.writer import Writer

HASH_BITS = 24  # 16.8 million hashes: 100 bytes each while nearly empty, 60 keys in each at 10^9
_PREFIX = b"dk:"  # short, because it is stored 16.8 million times
_LAYOUT = "document_key_bits"
_STORE = "document_key_store"
_USER = re.compile("//[^/]*@")
_BYTES = Struct(">qq")
# ARGV: the owner, the number of void holders, these holders, the fields; KEYS: the hash of each field.
_CLAIM = """
local owner, void, holders = ARGV[1], {}, {}
for i = 3, 2 + ARGV[2] do void[ARGV[i]] = true end
for i, hash in ipairs(KEYS) do
    local field = ARGV[2 + ARGV[2] + i]
    local holder = redis.call('HGET', hash, field)
    if not holder or void[holder] then
        redis.call('HSET', hash, field, owner)
        holder = owner
    end
    holders[i] = holder
end
return holders
"""


class RedisDocumentKeys(DocumentKeys):
    """Keys in the Redis database *url*, which must belong to one store only. Raises `ConfigError`.

    *hash_bits* is the binary logarithm of the number of hashes; take that of the expected number of keys, less 6. The
    first process sets it, and the others read it from Redis.
    """

    def __init__(self, url: str, hash_bits: int = HASH_BITS) -> None:
        super().__init__(None, MAX_UNCOMMITTED)
        try:
            import redis
        except ImportError as error:
            raise ConfigError(
                f"DOCUMENT_KEYS_URL={_shown(url)}: the Python package redis is missing; install it (pip install "
                "redis), or leave the setting empty to keep the keys in the store"
            ) from error
        self._error = redis.RedisError
        try:
            connect: Any = redis.Redis.from_url
            self._redis = connect(url)
            self._redis.setnx(_LAYOUT, hash_bits)
            self._bits = int(self._redis.get(_LAYOUT))
            self._claim_script = self._redis.register_script(_CLAIM)
        except (ValueError, redis.RedisError) as error:
            raise ConfigError(
                f"DOCUMENT_KEYS_URL={_shown(url)}: {error}; name a running Redis server, for example "
                "redis://localhost:6379/0, or leave the setting empty to keep the keys in the store"
            ) from error

    def belong_to(self, store: str) -> None:
        """Assign the keys to *store*. Raises `ConfigError` if they belong to another store."""
        try:
            self._redis.setnx(_STORE, store)
            owner = self._redis.get(_STORE).decode()
        except self._error as error:
            raise _failure(error) from error
        if owner != store:
            raise ConfigError(
                "DOCUMENT_KEYS_URL: these keys belong to another store, and their page numbers are those of other "
                "documents here; name a separate Redis database (…/1), or empty this one (redis-cli flushdb)"
            )

    def look_up(self, keys: Sequence[Key128]) -> list[int | None]:
        try:
            with self._redis.pipeline(transaction=False) as pipeline:
                for key in keys:
                    pipeline.hget(*self._place(key))
                return [None if holder is None else int(holder) for holder in pipeline.execute()]
        except self._error as error:
            raise _failure(error) from error

    def _claim(
        self,
        keys: Sequence[Key128],
        owner: int,
        changes: ChangeSet,
        void: frozenset[int],
        stored: Sequence[int | None] | None,
    ) -> list[int]:
        places = [self._place(key) for key in keys]
        fields = [field for _, field in places]
        try:
            holders = self._claim_script([name for name, _ in places], [owner, len(void), *void, *fields])
        except self._error as error:
            raise _failure(error) from error
        return list(map(int, holders))

    def close(self) -> None:
        self._redis.close()

    def _place(self, key: Key128) -> tuple[bytes, bytes]:
        data = _BYTES.pack(*key)
        number = int.from_bytes(data[:8]) >> (64 - self._bits)
        return _PREFIX + number.to_bytes(4), data[self._bits // 8 :]


def open_document_keys(url: str, database: Database, commits: Writer) -> DocumentKeys:
    """Return the keys at *url*, the setting DOCUMENT_KEYS_URL; empty = in the store. Raises `ConfigError`."""
    if not url:
        return SqlDocumentKeys(database, commits)
    keys = RedisDocumentKeys(url)
    with database.read() as connection:
        began = connection.execute(select(func.min(crawl.c.started_at))).scalar()
    if began is not None:  # identifies the store
        keys.belong_to(f"began at {began!r}")
    return keys


def _shown(url: str) -> str:
    """Return *url* without user and password, for messages."""
    return _USER.sub("//", url)


def _failure(error: Exception) -> StoreError:
    return StoreError(
        f"DOCUMENT_KEYS_URL: Redis failed: {error}; committed data is safe: repair the server, then run the "
        "same command again"
    )
