"""A document as people read it: its text in paragraphs, where its parts come from, its versions and its copies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import literal, literal_column, select

from crawlers.items import State
from crawlers.missions.news.stored.news_tables import (
    DocumentRow,
    DocumentVersionRow,
    content_rule,
    document,
    document_version,
)
from crawlers.reasons import COPIES
from crawlers.reports.catalogue.index_walk import value_steps
from crawlers.store.schema.tables import page, site
from crawlers.urls.domains import rule_domain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

MAX_CHARS = 500_000  # of a text, some 70,000 words
MAX_VERSIONS = 100
MAX_COPIES = 50
EARLIEST_S = 3600.0  # before the document was stored, copies of it may have been requested


class DocumentView(NamedTuple):
    """A document in the version that was chosen, whose title, text and time of publication are in the *row*."""

    row: DocumentRow
    paragraphs: list[str]
    is_cut: bool  # the text is longer than `MAX_CHARS`
    authors: list[str]
    keywords: list[str]
    versions: list[DocumentVersionRow]  # the latest first; earlier ones without their texts
    parts: Sequence[Any]  # rows: content rules of the domain, by which its parts are found
    copies: list[Any]  # rows: the URLs of pages with the same article, and how that was recognised
    is_searched: bool  # whether all pages were searched for copies


def read_document(
    connection: Connection, crawl_id: int, number: int, version: int | None, is_over: Callable[[], bool]
) -> DocumentView | None:
    """Return the document of the page with that *number*, in its latest version unless one is named.

    None if the crawl has no such document or version. The search for copies ends when the time *is_over*.
    """
    statement = (
        select(document, site.c.site)
        .join(site, site.c.id == document.c.site_id)
        .where(document.c.page_id == number, site.c.crawl_id == crawl_id)
    )
    found = connection.execute(statement).one_or_none()
    if found is None:
        return None
    *values, name = found
    latest = DocumentRow(*values)
    versions = _versions(connection, latest)
    chosen = versions[0] if version in (None, latest.version) else _version(connection, number, version)
    if chosen is None:
        return None
    published = latest.published if chosen.published_at == latest.published_at else None
    row = latest._replace(title=chosen.title, text=chosen.text, version=chosen.version)
    row = row._replace(published_at=chosen.published_at, published=published)
    parts = select(content_rule.c.part, content_rule.c.selector).where(content_rule.c.domain == rule_domain(name))
    return DocumentView(
        row,
        paragraphs_of(row.text[:MAX_CHARS]),
        len(row.text) > MAX_CHARS,
        list(json.loads(row.authors)),
        list(json.loads(row.keywords or "[]")),
        versions,
        connection.execute(parts.order_by(content_rule.c.part)).all(),
        *_copies(connection, crawl_id, latest, is_over),
    )


def paragraphs_of(text: str) -> list[str]:
    """Return the paragraphs of a document: extractors end each of them with a line.

    >>> paragraphs_of("One  two\\n\\n three\\n")
    ['One two', 'three']
    """
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _versions(connection: Connection, row: DocumentRow) -> list[DocumentVersionRow]:
    its = document_version.c
    columns = [literal("") if name == "text" else its[name] for name in DocumentVersionRow._fields]
    earlier = select(*columns).where(its.page_id == row.page_id).order_by(its.version.desc())
    since = row.changed_at or row.stored_at
    latest = DocumentVersionRow(row.page_id, row.version, row.title, row.text, row.published_at, since)
    return [latest, *(DocumentVersionRow(*one) for one in connection.execute(earlier.limit(MAX_VERSIONS)))]


def _version(connection: Connection, number: int, version: int | None) -> DocumentVersionRow | None:
    wanted = (document_version.c.page_id == number, document_version.c.version == version)
    found = connection.execute(select(document_version).where(*wanted)).one_or_none()
    return None if found is None else DocumentVersionRow(*found)


def _copies(
    connection: Connection, crawl_id: int, row: DocumentRow, is_over: Callable[[], bool]
) -> tuple[list[Any], bool]:
    """Return pages that are copies of the document, and whether all pages were searched.

    Pages that are no documents have an index by the time of their request.
    """
    is_copy = page.c.reason.in_([code.of(row.page_id) for code in COPIES])
    is_indexed = (page.c.state == literal_column(str(int(State.DONE))), page.c.reason.is_not(None))
    recent = [*is_indexed, page.c.fetched_at >= row.stored_at - EARLIEST_S]
    found: list[Any] = []
    walk = value_steps(connection, (page.c.fetched_at, page.c.id), [recent], None, ascending=True)
    for places, following in walk:
        statement = select(page.c.url, page.c.reason).join(site, site.c.id == page.c.site_id)
        of_step = statement.where(page.c.id.in_([one.number for one in places]), site.c.crawl_id == crawl_id, is_copy)
        found += connection.execute(of_step)
        if len(found) >= MAX_COPIES or following is None:
            return found[:MAX_COPIES], following is None
        if is_over():
            break
    return found, False
