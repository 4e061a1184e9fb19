"""Prevents duplicate documents within a domain: finds the stored document of which an article is a copy."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from crawlers.algorithms.dedup.document_fingerprints import (
    body_key128,
    compared_words,
    document_fingerprint,
    domain_of,
    url_key128,
)
from crawlers.algorithms.dedup.simhash import is_version, nearly_same
from crawlers.storage.news.document_bands import DocumentBands
from crawlers.storage.uncommitted import Uncommitted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from crawlers.items import Article, DocumentFingerprint
    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.database import Database
    from crawlers.storage.news.document_keys import DocumentKeys

SAME_URL = "same URL"
SAME_CANONICAL = "same canonical URL"
SAME_TEXT = "same text"
NEARLY_SAME = "nearly the same text"

MOST_UNCOMMITTED = 1_000  # documents with their texts, some 5 MB
MOST_COMPARED = 16  # texts held against an article, 0.3 ms each; of documents made from one template there are more

_DOCUMENTS = {
    "sqlite": "SELECT page_id, url, title, text FROM document WHERE page_id IN (SELECT value FROM json_each(:pages))",
    "postgresql": """
        SELECT page_id, url, title, text FROM document
        WHERE page_id = ANY(ARRAY(SELECT value::bigint FROM jsonb_array_elements_text(CAST(:pages AS jsonb))))""",
}
_text = cache(text)


class Copy(NamedTuple):
    """The document of which an article is a copy, and the evidence."""

    page_id: int
    reason: str


class _Document(NamedTuple):
    """A stored document that is compared with an article."""

    url: str
    title: str
    text: str

    def words(self) -> list[str]:
        return compared_words(self.title, self.text)


class Duplicates:
    """Decides whether each article is stored; for one thread.

    *keys* is closed by its owner. *most_distance* is the setting DUPLICATE_DISTANCE: in how many of 64 bits the
    fingerprints of two texts may differ to be held against each other word by word. *flush* is the writer's.
    """

    def __init__(self, database: Database, keys: DocumentKeys, flush: Callable[[], None], most_distance: int) -> None:
        self._database = database
        self._statement = _text(_DOCUMENTS[database.engine.dialect.name])
        self._keys = keys
        self._bands = DocumentBands(database, flush, most_distance)
        self._accepted: Uncommitted[int, _Document] = Uncommitted(flush, MOST_UNCOMMITTED)

    def holder(self, url: str, domain: str) -> int | None:
        """Return the page whose document *url* leads to, as far as is known before it is fetched."""
        page = self._keys.find([url_key128(domain, url)])[0]
        return page if page is not None and self._documents([page]) else None

    def url_of(self, document: int) -> str:
        """Return the URL of a *document*; "" if there is none."""
        return getattr(self._documents([document]).get(document), "url", "")

    def same_bytes(self, page_id: int, url: str, content_hash: bytes) -> int | None:
        """Return the document of another page, of the domain of *url*, that was made of an answer with that hash."""
        page = self._keys.find([body_key128(domain_of(url), content_hash)])[0]
        return page if page is not None and page != page_id and self._documents([page]) else None

    def judge(
        self,
        page_id: int,
        url: str,
        article: Article,
        changes: ChangeSet,
        fingerprint: DocumentFingerprint | None = None,
        content_hash: bytes = b"",
    ) -> Copy | None:
        """Return what the *article* on the page *url* is a copy of; *None*: it is to be stored, as a row of *changes*.

        *prints*, from `document_fingerprint`, can be made elsewhere beforehand. *content_hash* is that of the whole
        answer, for `same_bytes`. A page that is a document stays one, whatever it says now. Whoever brings the same
        URL or text later is told the same, for what was learnt of this one goes with *changes*: the caller submits
        it in either case.
        """
        fingerprint = fingerprint or document_fingerprint(url, article)
        new = _Document(url, article.title, article.text)
        body = [body_key128(fingerprint.domain, content_hash)] if content_hash else []
        keys = [fingerprint.url, fingerprint.text, *([fingerprint.canonical] if fingerprint.canonical else [])]
        holders = self._keys.find([*keys, *body])
        documents = self._documents({page_id, *(holder for holder in holders if holder is not None)})
        void = frozenset(holder for holder in holders if holder is not None and holder not in documents)
        copy = None
        if page_id not in documents:
            known = [holder if holder in documents else None for holder in holders[: len(keys)]]
            copy = self._copy(fingerprint, new, known, documents)
        if copy is None:
            held = self._keys.claim([*keys, *body], page_id, changes, void)
            if held[1] not in (page_id, holders[1]):  # another process was quicker
                return Copy(held[1], SAME_TEXT)
            self._bands.keep(fingerprint.domain, fingerprint.simhash, page_id, changes)
            self._accepted[page_id] = new
        else:
            self._keys.claim(keys[:2], copy.page_id, changes, void)
        return copy

    def _copy(
        self,
        fingerprint: DocumentFingerprint,
        new: _Document,
        holders: list[int | None],
        documents: dict[int, _Document],
    ) -> Copy | None:
        by_url, by_text, *by_canonical = holders
        words = new.words()
        if by_url is not None:
            held = documents[by_url]
            # It may hold the URL by its own word only, as its canonical one.
            if url_key128(fingerprint.domain, held.url) == fingerprint.url or is_version(held.words(), words):
                return Copy(by_url, SAME_URL)
        # Sites put one canonical URL on pages that have nothing to do with each other.
        if by_canonical and by_canonical[0] is not None and is_version(documents[by_canonical[0]].words(), words):
            return Copy(by_canonical[0], SAME_CANONICAL)
        if by_text is not None:
            return Copy(by_text, SAME_TEXT)
        near = self._bands.near(fingerprint.domain, fingerprint.simhash)[:MOST_COMPARED]
        texts = self._documents(near)
        for page in near:
            if page in texts and nearly_same(texts[page].words(), words):
                return Copy(page, NEARLY_SAME)
        return None

    def _documents(self, pages: Collection[int]) -> dict[int, _Document]:
        """Those of *pages* that are documents."""
        lately = {page: self._accepted.get(page) for page in pages}
        found = {page: document for page, document in lately.items() if document is not None}
        if len(found) < len(lately):
            asked = json.dumps([page for page in lately if page not in found])
            with self._database.read() as connection:
                rows = connection.execute(self._statement, {"pages": asked})
                found.update((page, _Document(*rest)) for page, *rest in rows)
        return found
