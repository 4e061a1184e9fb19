"""Maps document keys to their holders: each key is held by the page of the first document that had it.

Keys are hashes of 128 bits, see `document_fingerprints`; neither URLs nor texts are kept here. One small
interface, two engines: the store's own database, and Redis (`redis_keys`) for many processes.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import text

from crawlers.storage.schema.news_tables import DocumentKeyRow
from crawlers.storage.uncommitted import Uncommitted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawlers.items import Key128
    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.database import Database

MOST_UNCOMMITTED = 50_000  # keys, some 200 bytes each; a flush for so many costs less than their memory

# The rows of JSON are the outer loop: each is one step down the tree.
_HOLDERS = {
    "sqlite": """
        SELECT j.key, k.page_id FROM json_each(:keys) AS j CROSS JOIN document_key AS k
        WHERE k.high = json_extract(j.value, '$[0]') AND k.low = json_extract(j.value, '$[1]')""",
    "postgresql": """
        SELECT j.place - 1, k.page_id FROM jsonb_array_elements(CAST(:keys AS jsonb)) WITH ORDINALITY AS j(value, place)
        JOIN document_key AS k ON k.high = (j.value->>0)::bigint AND k.low = (j.value->>1)::bigint""",
}

_text = cache(text)  # SQLAlchemy takes a statement apart once an object


class DocumentKeys(Protocol):
    """The holders of keys. A key is held by one page, permanently."""

    def find(self, keys: Sequence[Key128]) -> list[int | None]:
        """The page that holds each of *keys*; *None*: nobody."""

    def claim(
        self, keys: Sequence[Key128], owner: int, changes: ChangeSet, void: frozenset[int] = frozenset()
    ) -> list[int]:
        """Give the page *owner* those of *keys* that nobody holds, or a page of *void*; return who holds each now.

        What is written in the store goes with *changes*, which the caller submits. Claiming twice changes nothing, so
        a run that was killed may do it again.
        """

    def close(self) -> None:
        """Close connections."""


class SqlDocumentKeys:
    """Keys in the table `document_key` of the store, for one process that writes.

    A claim is a row of the caller's changes: it is committed with the document, or not at all. Processes that share a
    PostgreSQL store see each other's claims when they are committed, so that two of them may store a document
    that appears twice within a second.
    """

    def __init__(self, database: Database, flush: Callable[[], None], most_uncommitted: int = MOST_UNCOMMITTED) -> None:
        self._database = database
        self._statement = _text(_HOLDERS[database.engine.dialect.name])
        self._claimed: Uncommitted[Key128, int] = Uncommitted(flush, most_uncommitted)

    def find(self, keys: Sequence[Key128]) -> list[int | None]:
        holders = [self._claimed.get(key) for key in keys]
        unknown = [place for place, holder in enumerate(holders) if holder is None]
        if unknown:
            asked = json.dumps([keys[place] for place in unknown])
            with self._database.read() as connection:
                for number, page_id in connection.execute(self._statement, {"keys": asked}):
                    holders[unknown[number]] = page_id
        return holders

    def claim(
        self, keys: Sequence[Key128], owner: int, changes: ChangeSet, void: frozenset[int] = frozenset()
    ) -> list[int]:
        holders = []
        for key, holder in zip(keys, self.find(keys), strict=True):
            if holder is None or holder in void:
                changes.add(DocumentKeyRow(*key, owner))
                self._claimed[key] = holder = owner
            holders.append(holder)
        return holders

    def close(self) -> None:
        """Do nothing: the owner closes the store."""
