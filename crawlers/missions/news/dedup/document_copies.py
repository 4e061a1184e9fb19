"""Prevents duplicate documents within a domain: finds the stored document of which an article is a copy.

Documents are found by marks: 128-bit keys of their URLs and texts, and bands, which near-duplicates share, see
`document_fingerprints`.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select, text

from crawlers.missions.news.dedup.document_fingerprints import (
    MIN_SHARED_BANDS,
    compared_words,
    is_version,
    nearly_same,
    url_key128,
)
from crawlers.missions.news.stored.news_tables import DocumentBandRow, DocumentKeyRow, document, document_key
from crawlers.reasons import Reason
from crawlers.store.streaming import among
from crawlers.store.writing.uncommitted import Uncommitted

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy import TextClause

    from crawlers.missions.news.news_items import Article, DocumentFingerprint, Key128
    from crawlers.store.database import Database
    from crawlers.store.writing.change_set import ChangeSet
    from crawlers.store.writing.writer import Writer

    Mark = Key128 | int | str  # a key, a band, or the number of a page in digits


MAX_UNCOMMITTED = 1_000  # documents with their texts, some 5 MB
MAX_COMPARED = 16  # texts compared with an article, 0.3 ms each; documents of one template have more candidates
# Pages looked up in each band, those discovered last: what a site repeats in all texts may be in thousands.
MAX_IN_BAND = 64

_DOCUMENTS = select(document.c.page_id, document.c.url, document.c.title, document.c.text)


class Document(NamedTuple):
    """A document that is compared with an article."""

    page_id: int
    url: str
    title: str
    text: str

    def words(self) -> list[str]:
        return compared_words(self.title, self.text)


class StoredCopies(NamedTuple):
    """What the store has for an article: the holders of its keys, the pages in its bands, their documents."""

    snapshot: int
    holders: Mapping[Key128, int]
    in_bands: Collection[tuple[int, int]]  # bands, each with a page
    documents: Mapping[int, Document]  # by page


class Duplicates:
    """Decides whether each article is stored.

    A key is held by the first document that had it, permanently. All methods must be called in one thread, except
    `look_up`, which only reads the store. `judge` combines its result with uncommitted documents, and reads the store
    itself only if that is missing or outdated. *commits* is the writer.

    A claim of a key is committed with its document or not at all. Processes that share a PostgreSQL store see each
    other's documents after the commit, so two of them may store an article that appears twice within a second.
    """

    def __init__(self, database: Database, commits: Writer, most_uncommitted: int = MAX_UNCOMMITTED) -> None:
        self._database = database
        self._recent: Uncommitted[Mark, list[Document]] = Uncommitted(commits, most_uncommitted)

    @property
    def snapshot(self) -> int:
        """The version of the uncommitted documents; look-ups with another one are outdated."""
        return self._recent.forgotten

    def look_up(self, snapshot: int, page_id: int, fingerprint: DocumentFingerprint) -> StoredCopies:
        """Return what `judge` needs of the store for the article on *page_id*. May be called in any thread.

        *snapshot* is the one from before this call.
        """
        holders = self._stored_holders(_keys_of(fingerprint))
        pairs = self._in_bands(fingerprint.bands)
        pages = {page_id, *holders.values(), *most_shared(fingerprint.bands, pairs)[:MAX_COMPARED]}
        rows = self._database.rows(_DOCUMENTS.where(among(document.c.page_id, pages)))
        return StoredCopies(snapshot, holders, pairs, {row[0]: Document(*row) for row in rows})

    def _stored_holders(self, keys: Sequence[Key128]) -> dict[Key128, int]:
        rows = self._database.rows(select(document_key).where(among(document_key.c.high, [high for high, _ in keys])))
        return {(high, low): page_id for high, low, page_id in rows}

    def _in_bands(self, bands: Sequence[int]) -> list[tuple[int, int]]:
        values = {f"b{number}": band for number, band in enumerate(bands)}
        rows = self._database.rows(_latest(len(bands)), most=MAX_IN_BAND, **values) if bands else ()
        return [(band, page) for band, page in rows]

    def judge(
        self,
        page_id: int,
        url: str,
        article: Article,
        changes: ChangeSet,
        fingerprint: DocumentFingerprint,
        stored: StoredCopies | None = None,
    ) -> str | None:
        """Return why the *article* at *url* is a copy, and of which document; None if the article is to be stored.

        *stored* is the result of `look_up`. A page that is a document stays one, whatever its text is now. The caller
        submits *changes* in either case: they make later pages with the same URL or text copies of the same document.
        """
        if stored is None or stored.snapshot != self.snapshot:
            stored = self.look_up(self.snapshot, page_id, fingerprint)
        new = Document(page_id, url, article.title, article.text)
        keys = _keys_of(fingerprint)
        holders: dict[Mark, Document] = {}
        for key in keys:
            if recent := self._recent.get(key):
                holders[key] = recent[0]
            elif held := stored.documents.get(stored.holders.get(key, 0)):
                holders[key] = held
        is_document = page_id in stored.documents or self._recent.get(str(page_id)) is not None
        why, original = None, new
        if not is_document and (found := self._original(fingerprint, new, holders, stored)):
            original, reason = found
            why = reason.of(original.page_id)
        self._recent.make_room()
        for key in keys[:2] if why else keys:
            if key not in holders:
                changes.add(DocumentKeyRow(*key, original.page_id))
                self._remember(key, original)
        if why is None:
            self._remember(str(page_id), new)
            for band in fingerprint.bands:
                changes.add(DocumentBandRow(band, page_id))
                self._remember(band, new)
        self._recent.count(1)
        return why

    def _remember(self, mark: Mark, document: Document) -> None:
        self._recent.young.setdefault(mark, []).append(document)

    def _original(
        self,
        fingerprint: DocumentFingerprint,
        new: Document,
        holders: Mapping[Mark, Document],
        stored: StoredCopies,
    ) -> tuple[Document, Reason] | None:
        words = new.words()
        held = holders.get(fingerprint.url)
        # The document may hold the URL only as its declared canonical URL.
        if held and (url_key128(fingerprint.domain, held.url) == fingerprint.url or is_version(held.words(), words)):
            return held, Reason.SAME_URL
        # Sites declare one canonical URL on unrelated pages.
        held = holders.get(fingerprint.canonical) if fingerprint.canonical else None
        if held and is_version(held.words(), words):
            return held, Reason.SAME_CANONICAL
        if held := holders.get(fingerprint.text):
            return held, Reason.SAME_TEXT
        pairs, documents = set(stored.in_bands), dict(stored.documents)
        for band in fingerprint.bands:
            for held in (*self._recent.old.get(band, ()), *self._recent.young.get(band, ())):
                pairs.add((band, held.page_id))
                documents[held.page_id] = held
        for page in most_shared(fingerprint.bands, pairs)[:MAX_COMPARED]:
            if page in documents and nearly_same(documents[page].words(), words):
                return documents[page], Reason.NEARLY_SAME_TEXT
        return None


@cache
def _latest(bands: int) -> TextClause:
    """Return the statement for the latest pages in each of so many *bands*."""
    one = "SELECT * FROM (SELECT band, page_id FROM document_band WHERE band = :b{0} ORDER BY page_id DESC LIMIT :most)"
    return text(" UNION ALL ".join(f"{one} AS b{{0}}".format(number) for number in range(bands)))


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


def _keys_of(fingerprint: DocumentFingerprint) -> list[Key128]:
    """Return the keys of a document, those of its URL and its text first."""
    canonical = fingerprint.canonical
    return [fingerprint.url, fingerprint.text, *([canonical] if canonical is not None else [])]
