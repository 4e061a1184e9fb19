"""Finds near-duplicate candidates among the documents of a domain, by bands of their fingerprints."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import text

from crawlers.algorithms.dedup.simhash import bands, distance, probes
from crawlers.storage.schema.news_tables import DocumentBandRow
from crawlers.storage.uncommitted import Uncommitted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlers.items import Simhash
    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.database import Database
    from crawlers.storage.uncommitted import Commits

MAX_UNCOMMITTED = 10_000  # documents, some 800 bytes each

# An array, because PostgreSQL would scan the whole table for "IN (SELECT …)".
_LIKE = {
    "sqlite": """
        SELECT b.page_id, b.simhash FROM json_each(:bands) AS j CROSS JOIN document_band AS b WHERE b.band = j.value""",
    "postgresql": """
        SELECT page_id, simhash FROM document_band
        WHERE band = ANY(ARRAY(SELECT value::bigint FROM jsonb_array_elements_text(CAST(:bands AS jsonb))))""",
}
_text = cache(text)


class DocumentBands:
    """The fingerprints of stored documents, in the table `document_band`.

    Candidates differ in at most *most_distance* of 64 bits. *commits* is the writer.
    """

    def __init__(
        self,
        database: Database,
        commits: Commits,
        most_distance: int,
        most_uncommitted: int = MAX_UNCOMMITTED,
    ) -> None:
        self._database = database
        self._statement = _text(_LIKE[database.engine.dialect.name])
        self._most_distance = most_distance
        self._kept: Uncommitted[int, list[tuple[int, int]]] = Uncommitted(commits, most_uncommitted)  # by band

    @property
    def forgotten(self) -> int:
        """The number of forgotten generations; a look-up that began before the last one is outdated."""
        return self._kept.forgotten

    def look_up(self, domain: str, fingerprint: Simhash) -> dict[int, int]:
        """Return the distances of the candidates of *domain* for *fingerprint*, by page.

        Uncommitted documents are not included. May be called in any thread.
        """
        asked = json.dumps(probes(domain, fingerprint))
        with self._database.read() as connection:
            found = connection.execute(self._statement, {"bands": asked}).all()
        return self._distances(fingerprint, found)

    def near(self, domain: str, fingerprint: Simhash, stored: Mapping[int, int] | None = None) -> list[int]:
        """Return the pages of the candidates of *domain* for *fingerprint*, nearest first.

        *stored* is the result of `look_up`.
        """
        stored = self.look_up(domain, fingerprint) if stored is None else stored
        kept: set[tuple[int, int]] = set()
        for band in probes(domain, fingerprint):
            kept.update(self._kept.young.get(band, ()), self._kept.old.get(band, ()))
        distances = dict(stored)
        for page, bits in self._distances(fingerprint, kept).items():
            distances[page] = min(bits, distances.get(page, bits))
        return nearest(distances)

    def _distances(self, fingerprint: Simhash, found: Iterable[tuple[int, int]]) -> dict[int, int]:
        distances: dict[int, int] = {}
        for page, value in found:
            bits = distance(value, fingerprint.value)
            if bits <= min(self._most_distance, distances.get(page, self._most_distance)):
                distances[page] = bits
        return distances

    def keep(self, domain: str, fingerprint: Simhash, page_id: int, changes: ChangeSet) -> None:
        """Add the *fingerprint* of the document *page_id* to *changes*, which the caller submits."""
        self._kept.make_room()
        for band in bands(domain, fingerprint.value):
            changes.add(DocumentBandRow(band, page_id, fingerprint.value))
            self._kept.young.setdefault(band, []).append((page_id, fingerprint.value))
        self._kept.count(1)


def nearest(distances: Mapping[int, int]) -> list[int]:
    """Return the pages by distance, then by number."""
    return sorted(distances, key=lambda page: (distances[page], page))
