"""Maps document keys to their holders: each key is held by the page of the first document that had it.

Keys are 128-bit hashes, see `document_fingerprints`; URLs and texts are not stored here.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import text

from crawlers.storage.schema.news_tables import DocumentKeyRow
from crawlers.storage.uncommitted import Uncommitted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlers.items import Key128
    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.database import Database
    from crawlers.storage.writer import Writer

MAX_UNCOMMITTED = 50_000  # keys, some 200 bytes each; a flush for so many costs less than their memory

# The JSON rows drive the join, so each takes one index look-up.
_HOLDERS = {
    "sqlite": """
        SELECT j.key, k.page_id FROM json_each(:keys) AS j CROSS JOIN document_key AS k
        WHERE k.high = json_extract(j.value, '$[0]') AND k.low = json_extract(j.value, '$[1]')""",
    "postgresql": """
        SELECT j.place - 1, k.page_id FROM jsonb_array_elements(CAST(:keys AS jsonb)) WITH ORDINALITY AS j(value, place)
        JOIN document_key AS k ON k.high = (j.value->>0)::bigint AND k.low = (j.value->>1)::bigint""",
}

_text = cache(text)  # SQLAlchemy parses a statement once per object


class DocumentKeys:
    """The holders of keys, in the table `document_key` of the store. A key is held by one page, permanently.

    A claim is a row of the caller's changes, so it is committed with the document or not at all. Processes that share a
    PostgreSQL store see each other's claims after the commit, so two of them may store a document that appears twice
    within a second. About *most_remembered* of the latest claims are kept in memory, and uncommitted ones until
    *commits* has them.
    """

    def __init__(self, database: Database, commits: Writer, most_remembered: int = MAX_UNCOMMITTED) -> None:
        self._claimed: Uncommitted[Key128, int] = Uncommitted(commits, most_remembered)
        self._database = database
        self._statement = _text(_HOLDERS[database.engine.dialect.name])

    @property
    def forgotten(self) -> int:
        """The number of forgotten generations of claims; a look-up that began before the last one is outdated."""
        return self._claimed.forgotten

    def look_up(self, keys: Sequence[Key128]) -> list[int | None]:
        """Return the stored holder of each of *keys*, without uncommitted claims. May be called in any thread."""
        holders: list[int | None] = [None] * len(keys)
        for number, page_id in self._database.rows(self._statement, keys=json.dumps(keys)):
            holders[number] = page_id
        return holders

    def find(self, keys: Sequence[Key128], stored: Sequence[int | None] | None = None) -> list[int | None]:
        """Return the page that holds each of *keys*, or None; *stored* is the result of `look_up`."""
        holders = [self._claimed.get(key) for key in keys]
        if stored is not None:
            return [holder or found for holder, found in zip(holders, stored, strict=True)]
        unknown = [place for place, holder in enumerate(holders) if holder is None]
        if unknown:
            for place, found in zip(unknown, self.look_up([keys[place] for place in unknown]), strict=True):
                holders[place] = found
        return holders

    def claim(
        self,
        keys: Sequence[Key128],
        owner: int,
        changes: ChangeSet,
        void: frozenset[int] = frozenset(),
        stored: Sequence[int | None] | None = None,
    ) -> list[int]:
        """Assign *keys* that no page, or a page of *void*, holds to the page *owner*; return the holder of each key.

        *stored* is the result of `look_up`. The caller submits *changes*. A repeated claim changes nothing, so a run
        may repeat the claims of a killed run.
        """
        self._claimed.make_room()
        holders = []
        claimed: set[Key128] = set()
        for key, holder in zip(keys, self.find(keys, stored), strict=True):
            if holder is None or holder in void:
                if key not in claimed:
                    changes.add(DocumentKeyRow(*key, owner))
                claimed.add(key)
                holder = owner
            holders.append(holder)
        self._claimed.update(dict(zip(keys, holders, strict=True)))
        return holders
