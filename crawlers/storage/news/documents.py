"""Turns articles into documents, and documents that changed into versions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from crawlers.storage.schema.news_tables import DocumentRow, DocumentVersionRow, document
from crawlers.storage.schema.tables import site

if TYPE_CHECKING:
    from crawlers.items import Article, DocumentFingerprint
    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.database import Database

EARLIER = "document {} of an earlier crawl"  # why a URL is not fetched


def add_document(
    database: Database,
    changes: ChangeSet,
    page_id: int,
    site_id: int,
    url: str,
    article: Article,
    fingerprint: DocumentFingerprint,
    now: float,
    *,
    is_revisit: bool,
) -> DocumentRow | None:
    """Add the rows of the document on a page to *changes*; return its row, or None if the document did not change.

    With *is_revisit* the page may already be a document, whose earlier text is kept as a version.
    """
    text_hash = fingerprint.text_hash
    version, stored_at, changed_at = 1, now, None
    if is_revisit:
        with database.read() as connection:
            row = connection.execute(select(document).where(document.c.page_id == page_id)).one_or_none()
        if row is not None:
            if row.text_hash == text_hash and row.title == article.title:
                return None
            version, stored_at, changed_at = row.version + 1, row.stored_at, now
            since = row.changed_at or row.stored_at
            changes.add(DocumentVersionRow(page_id, row.version, row.title, row.text, row.published_at, since))
    new = DocumentRow(
        page_id,
        site_id,
        url,
        article.canonical_url or None,
        article.title,
        article.text,
        article.published_at,
        article.published or None,
        json.dumps(article.authors, ensure_ascii=False),
        article.section or None,
        article.language or None,
        article.image or None,
        article.extractor,
        text_hash,
        fingerprint.simhash.value,
        version,
        stored_at,
        changed_at,
    )
    changes.add(new)
    return new


def has_earlier_documents(database: Database, crawl_id: int) -> bool:
    """Return whether the store has a document of another crawl."""
    others = select(document.c.page_id).join(site, site.c.id == document.c.site_id).where(site.c.crawl_id != crawl_id)
    with database.read() as connection:
        return connection.execute(others.limit(1)).first() is not None


def count_documents(database: Database, crawl_id: int) -> int:
    """Return the number of documents of a crawl."""
    statement = (
        select(func.count())
        .select_from(document)
        .join(site, site.c.id == document.c.site_id)
        .where(site.c.crawl_id == crawl_id)
    )
    with database.read() as connection:
        return int(connection.execute(statement).scalar_one())
