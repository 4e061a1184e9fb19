"""Finds near-duplicate candidates among the documents of a domain, by the bands of their texts."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from heapq import nlargest
from typing import TYPE_CHECKING

from sqlalchemy import text

from crawlers.algorithms.dedup.min_hash import MIN_SHARED_BANDS
from crawlers.storage.schema.news_tables import DocumentBandRow
from crawlers.storage.uncommitted import Uncommitted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.database import Database
    from crawlers.storage.writer import Writer

MAX_UNCOMMITTED = 10_000  # documents, some 1,500 bytes each
# Pages looked up in each band, those discovered last: what a site repeats in all texts may be in thousands.
MAX_IN_BAND = 64

_LIKE = {
    "sqlite": """
        SELECT b.band, b.page_id FROM json_each(:bands) AS j CROSS JOIN document_band AS b
        WHERE b.band = j.value AND b.page_id >= ifnull(
            (SELECT page_id FROM document_band WHERE band = j.value ORDER BY page_id DESC LIMIT 1 OFFSET :last), 0)""",
    "postgresql": """
        SELECT j.band, b.page_id
        FROM (SELECT value::bigint AS band FROM jsonb_array_elements_text(CAST(:bands AS jsonb))) AS j
        CROSS JOIN LATERAL (
            SELECT page_id FROM document_band WHERE band = j.band ORDER BY page_id DESC LIMIT :last + 1) AS b""",
}
_text = cache(text)


class DocumentBands:
    """The bands of stored documents, in the table `document_band`. *commits* is the writer."""

    def __init__(self, database: Database, commits: Writer, most_uncommitted: int = MAX_UNCOMMITTED) -> None:
        self._database = database
        self._statement = _text(_LIKE[database.engine.dialect.name])
        self._kept: Uncommitted[int, list[int]] = Uncommitted(commits, most_uncommitted)  # pages by band

    @property
    def forgotten(self) -> int:
        """The number of forgotten generations; a look-up that began before the last one is outdated."""
        return self._kept.forgotten

    def look_up(self, bands: Sequence[int]) -> list[tuple[int, int]]:
        """Return the documents with each of *bands*, those discovered last, as pairs of band and page.

        Uncommitted documents are not included. May be called in any thread.
        """
        rows = self._database.rows(self._statement, bands=json.dumps(bands), last=MAX_IN_BAND - 1)
        return [(band, page) for band, page in rows]

    def candidates(self, bands: Sequence[int], stored: Iterable[tuple[int, int]] | None = None) -> list[int]:
        """Return the pages of the candidates for a text with *bands*, those with the most common bands first.

        *stored* is the result of `look_up`.
        """
        pairs = set(self.look_up(bands) if stored is None else stored)
        for band in bands:
            pairs.update((band, page) for page in self._kept.young.get(band, ()))
            pairs.update((band, page) for page in self._kept.old.get(band, ()))
        return most_shared(bands, pairs)

    def keep(self, bands: Sequence[int], page_id: int, changes: ChangeSet) -> None:
        """Add the *bands* of the document *page_id* to *changes*, which the caller submits."""
        self._kept.make_room()
        for band in bands:
            changes.add(DocumentBandRow(band, page_id))
            self._kept.young.setdefault(band, []).append(page_id)
        self._kept.count(1)


def most_shared(bands: Sequence[int], pairs: Collection[tuple[int, int]]) -> list[int]:
    """Return the pages that share enough of *bands*, those with the most first, then the lowest number.

    *pairs* are bands and pages that have them, of which the highest `MAX_IN_BAND` of each band count.
    """
    pages: dict[int, list[int]] = {}
    for band, page in pairs:
        pages.setdefault(band, []).append(page)
    shared = Counter(page for some in pages.values() for page in nlargest(MAX_IN_BAND, some))
    least = min(MIN_SHARED_BANDS, len(bands))
    return sorted((page for page, number in shared.items() if number >= least), key=lambda page: (-shared[page], page))
