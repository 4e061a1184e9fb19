"""Prevents duplicate documents within a domain: finds the stored document of which an article is a copy.

`DocumentKeys` maps keys to their holders: each is held by the page of the first document that had it. Keys are 128-bit
hashes, see `document_fingerprints`. `DocumentBands` finds near-duplicates, by the bands of their texts.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select, text

from crawlers.missions.news.dedup.document_fingerprints import (
    MIN_SHARED_BANDS,
    compared_words,
    document_fingerprint,
    domain_of,
    is_version,
    nearly_same,
    url_key128,
)
from crawlers.missions.news.stored.news_tables import DocumentBandRow, DocumentKeyRow, document
from crawlers.reasons import Reason
from crawlers.store.streaming import among
from crawlers.store.writing.uncommitted import Uncommitted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from crawlers.missions.news.news_items import Article, DocumentFingerprint, Key128
    from crawlers.store.database import Database
    from crawlers.store.writing.change_set import ChangeSet
    from crawlers.store.writing.writer import Writer


MAX_BANDED = 10_000  # documents, some 1,500 bytes each
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


class DocumentBands:
    """The bands of stored documents, in the table `document_band`. *commits* is the writer."""

    def __init__(self, database: Database, commits: Writer, most_uncommitted: int = MAX_BANDED) -> None:
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


MAX_KEYS = 50_000  # keys, some 200 bytes each; a flush for so many costs less than their memory

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

    def __init__(self, database: Database, commits: Writer, most_remembered: int = MAX_KEYS) -> None:
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


MAX_UNCOMMITTED = 1_000  # documents with their texts, some 5 MB
MAX_COMPARED = 16  # texts compared with an article, 0.3 ms each; documents of one template have more candidates

_DOCUMENTS = select(document.c.page_id, document.c.url, document.c.title, document.c.text)


class Copy(NamedTuple):
    """The document of which an article is a copy, and the evidence."""

    page_id: int
    reason: Reason
    url: str  # of the document; "" if it is not stored yet


class Document(NamedTuple):
    """A stored document that is compared with an article."""

    url: str
    title: str
    text: str

    def words(self) -> list[str]:
        return compared_words(self.title, self.text)


Snapshot = tuple[int, int, int]  # the numbers of forgotten generations of keys, fingerprints and documents


class CopyQuery(NamedTuple):
    """The look-ups in the store that determine whether a page is a copy."""

    snapshot: Snapshot
    keys: tuple[Key128, ...]
    fingerprint: DocumentFingerprint  # of the article
    pages: frozenset[int]  # that may be documents


class StoredCopies(NamedTuple):
    """The result of a `CopyQuery`: the committed holders, bands and documents."""

    snapshot: Snapshot
    holders: Mapping[Key128, int | None]
    bands: Collection[tuple[int, int]]  # which the article shares with documents, with the page of each
    documents: Mapping[int, Document | None]  # by page; None = not a document


class Duplicates:
    """Decides whether each article is stored.

    All methods must be called in one thread, except `look_up`, which may run in any thread because it takes and returns
    values. The other methods combine its result with uncommitted documents, and query the store themselves only if the
    result is missing or outdated.

    *keys* is closed by its owner. *commits* is the writer.
    """

    def __init__(self, database: Database, keys: DocumentKeys, commits: Writer) -> None:
        self._database = database
        self._keys = keys
        self._bands = DocumentBands(database, commits)
        self._accepted: Uncommitted[int, Document] = Uncommitted(commits, MAX_UNCOMMITTED)

    def query(self, page_id: int, fingerprint: DocumentFingerprint) -> CopyQuery:
        """Return the query for `judge`."""
        near = self._bands.candidates(fingerprint.bands, ())[:MAX_COMPARED]
        keys, pages = _keys_of(fingerprint), {page_id, *near}
        pages.update(holder for holder in self._keys.find(keys, [None] * len(keys)) if holder is not None)
        unknown = frozenset(page for page in pages if self._accepted.get(page) is None)
        return CopyQuery(self.snapshot, tuple(keys), fingerprint, unknown)

    @property
    def snapshot(self) -> Snapshot:
        """The version of the uncommitted documents; look-ups with another one are outdated."""
        return self._keys.forgotten, self._bands.forgotten, self._accepted.forgotten

    def look_up(self, query: CopyQuery) -> StoredCopies:
        """Return the result of *query* from the store. May be called in any thread."""
        holders = dict(zip(query.keys, self._keys.look_up(query.keys), strict=True))
        pages = {*query.pages, *(holder for holder in holders.values() if holder is not None)}
        bands = self._bands.look_up(query.fingerprint.bands)
        pages.update(most_shared(query.fingerprint.bands, bands)[:MAX_COMPARED])
        return StoredCopies(query.snapshot, holders, bands, dict.fromkeys(pages) | self._read(pages))

    def stored_holders(self, urls: Iterable[str]) -> list[int | None]:
        """Return the pages of the committed documents at *urls*, or None. May be called in any thread."""
        holders = self._keys.look_up([url_key128(domain_of(url), url) for url in urls])
        documents = self._read({holder for holder in holders if holder is not None})
        return [holder if holder in documents else None for holder in holders]

    def holder(self, url: str, stored: tuple[int | None] | None = None) -> int | None:
        """Return the page of the document at *url*, as far as known before the download.

        *stored* is the result of `stored_holders` for *url*.
        """
        page = self._keys.find([url_key128(domain_of(url), url)], stored)[0]
        return page if page is not None and (stored == (page,) or self._documents([page])) else None

    def judge(
        self,
        page_id: int,
        url: str,
        article: Article,
        changes: ChangeSet,
        fingerprint: DocumentFingerprint | None = None,
        stored: StoredCopies | None = None,
    ) -> Copy | None:
        """Return the document of which the *article* at *url* is a copy, or None if the article is to be stored.

        *fingerprint*, from `document_fingerprint`, can be computed beforehand in another process. *stored* is the
        result of `query`. A page that is a document stays one, whatever its text is now. The caller submits *changes*
        in either case: they make later pages with the same URL or text copies of the same document.
        """
        fingerprint = fingerprint or document_fingerprint(url, article)
        if stored is None or stored.snapshot != self.snapshot:
            stored = self.look_up(self.query(page_id, fingerprint))
        new = Document(url, article.title, article.text)
        keys = _keys_of(fingerprint)
        looked_up = [stored.holders[key] for key in keys]
        holders = self._keys.find(keys, looked_up)
        documents = self._documents({page_id, *(holder for holder in holders if holder is not None)}, stored)
        void = {holder for holder in holders if holder is not None and holder not in documents}
        if void:  # of a process that was killed; or that has stored the document since the look-up
            documents |= self._read(void)
            void -= documents.keys()
        copy = None
        if page_id not in documents:
            known = {key: holder for key, holder in zip(keys, holders, strict=True) if holder in documents}
            copy = self._copy(fingerprint, new, known, documents, stored)
        if copy is not None:
            self._keys.claim(keys[:2], copy.page_id, changes, frozenset(void), looked_up[:2])
            return copy
        held = self._keys.claim(keys, page_id, changes, frozenset(void), looked_up)
        if held[1] not in (page_id, holders[1]):  # another process was faster
            return Copy(held[1], Reason.SAME_TEXT, "")
        self._bands.keep(fingerprint.bands, page_id, changes)
        self._accepted.make_room()
        self._accepted.update({page_id: new})
        return None

    def _copy(
        self,
        fingerprint: DocumentFingerprint,
        new: Document,
        holders: Mapping[Key128, int | None],
        documents: Mapping[int, Document],
        stored: StoredCopies,
    ) -> Copy | None:
        words = new.words()
        if (page := holders.get(fingerprint.url)) is not None:
            held = documents[page]
            # The document may hold the URL only as its declared canonical URL.
            if url_key128(fingerprint.domain, held.url) == fingerprint.url or is_version(held.words(), words):
                return Copy(page, Reason.SAME_URL, held.url)
        # Sites declare one canonical URL on unrelated pages.
        page = holders.get(fingerprint.canonical) if fingerprint.canonical else None
        if page is not None and is_version(documents[page].words(), words):
            return Copy(page, Reason.SAME_CANONICAL, documents[page].url)
        if (page := holders.get(fingerprint.text)) is not None:
            return Copy(page, Reason.SAME_TEXT, documents[page].url)
        near = self._bands.candidates(fingerprint.bands, stored.bands)[:MAX_COMPARED]
        compared = self._documents(near, stored)
        for page in near:
            if page in compared and nearly_same(compared[page].words(), words):
                return Copy(page, Reason.NEARLY_SAME_TEXT, compared[page].url)
        return None

    def _documents(self, pages: Collection[int], stored: StoredCopies | None = None) -> dict[int, Document]:
        """Return those of *pages* that are documents, from memory, *stored*, or the store, in that order."""
        known: dict[int, Document | None] = {}
        for page in pages:
            document = self._accepted.get(page)
            if document is not None:
                known[page] = document
            elif stored is not None and page in stored.documents:
                known[page] = stored.documents[page]
        if len(known) < len(set(pages)):
            known |= self._read([page for page in pages if page not in known])
        return {page: document for page, document in known.items() if document is not None}

    def _read(self, pages: Collection[int]) -> dict[int, Document]:
        """Return those of *pages* that are stored documents."""
        rows = self._database.rows(_DOCUMENTS.where(among(document.c.page_id, pages))) if pages else ()
        return {page: Document(*rest) for page, *rest in rows}


def _keys_of(fingerprint: DocumentFingerprint) -> list[Key128]:
    """Return the keys of a document, those of its URL and its text first."""
    canonical = fingerprint.canonical
    return [fingerprint.url, fingerprint.text, *([canonical] if canonical is not None else [])]
