"""Turns articles into documents, and documents that changed into versions."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, tuple_

from crawlers.missions.news.dedup.document_fingerprints import domain_of, url_key128
from crawlers.missions.news.stored.news_tables import DocumentRow, DocumentVersionRow, document, document_key, feed_item
from crawlers.plurals import counted
from crawlers.store.schema.tables import site

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.missions.news.news_items import Article, DocumentFingerprint
    from crawlers.store.database import Database
    from crawlers.store.writing.change_set import ChangeSet


def stored_document(database: Database, page_id: int) -> DocumentRow | None:
    """Return the document on a page; None if the page is not a document."""
    rows = database.rows(select(document).where(document.c.page_id == page_id))
    return DocumentRow(*rows[0]) if rows else None


def earliest_announcement(database: Database, key: int) -> float | None:
    """Return when feeds say that the page with the URL key *key* was published; None if none does."""
    earliest: float | None = database.scalar(select(func.min(feed_item.c.published_at)).where(feed_item.c.key == key))
    return earliest


def add_document(
    changes: ChangeSet,
    page_id: int,
    site_id: int,
    url: str,
    article: Article,
    fingerprint: DocumentFingerprint,
    now: float,
    previous: DocumentRow | None,
) -> DocumentRow | None:
    """Add the rows of a page's document to *changes*; return its row, or None if it did not change.

    The *previous* content is stored as a version.
    """
    text_hash = fingerprint.text_hash
    version, stored_at, changed_at = 1, now, None
    if previous is not None:
        if previous.text_hash == text_hash and previous.title == article.title:
            return None
        version, stored_at, changed_at = previous.version + 1, previous.stored_at, now
        since = previous.changed_at or previous.stored_at
        kept = (page_id, previous.version, previous.title, previous.text, previous.published_at, since)
        changes.add(DocumentVersionRow(*kept))
    stated: dict[str, Any] = {name: None if value == "" else value for name, value in asdict(article).items()}
    stated["canonical"] = stated.pop("canonical_url")
    stated["authors"] = json.dumps(article.authors, ensure_ascii=False)
    stated["keywords"] = json.dumps(article.keywords, ensure_ascii=False) if article.keywords else None
    about: dict[str, Any] = {"page_id": page_id, "site_id": site_id, "url": url, "text_hash": text_hash}
    new = DocumentRow(**about, version=version, stored_at=stored_at, changed_at=changed_at, **stated)
    changes.add(new)
    return new


def earlier_documents(database: Database, crawl_id: int) -> Callable[[str], int | None] | None:
    """Return a query for the page of the document that another crawl has at a URL; None if there are no such crawls."""
    others = select(document.c.page_id).join(site, site.c.id == document.c.site_id).where(site.c.crawl_id != crawl_id)
    if not database.rows(others.limit(1)):
        return None
    held = others.join(document_key, document_key.c.page_id == document.c.page_id)

    def at(url: str) -> int | None:
        key = url_key128(domain_of(url), url)
        found = database.rows(held.where(tuple_(document_key.c.high, document_key.c.low) == key).limit(1))
        return found[0].page_id if found else None

    return at


def documents_found(database: Database, crawl_id: int) -> str:
    """Return the number of documents of a crawl, for people."""
    statement = (
        select(func.count())
        .select_from(document)
        .join(site, site.c.id == document.c.site_id)
        .where(site.c.crawl_id == crawl_id)
    )
    return counted(database.scalar(statement), "document")
