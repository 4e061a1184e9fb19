"""A page of a news crawl: its history, with its announcements, rule and polls; and its document as people read it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, literal_column, or_, select

from crawlers.items import REVISIT, State
from crawlers.missions.news.news_items import ANNOUNCERS
from crawlers.missions.news.reports.url_rule_trial import decision
from crawlers.missions.news.stored.news_tables import (
    DocumentRow,
    content_rule,
    document,
    document_version,
    feed_item,
    news_score,
    poll,
)
from crawlers.reasons import COPIES, Reason, parsed
from crawlers.reports.catalogue.index_walk import value_steps
from crawlers.reports.histories.history import (
    SHOWN,
    Count,
    Fact,
    Moment,
    Said,
    Topic,
    Url,
    because,
    counted_times,
    event,
    facts_about,
    said,
    url_of,
)
from crawlers.store.schema.tables import page, site
from crawlers.urls.domains import rule_domain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from crawlers.reports.histories.history import Part


def document_history(connection: Connection, crawl_id: int, row: Any) -> list[Fact]:
    """Return what a news crawl knows of the page of *row*; nothing in crawls of other missions."""
    queue = connection.execute(select(news_score.c.queue).where(news_score.c.page_id == row.id)).scalar()
    if queue is None:
        return []
    polled = connection.execute(select(poll).where(poll.c.page_id == row.id)).one_or_none()
    events = _announcements(connection, crawl_id, row)
    if polled is not None and polled.kind in ANNOUNCERS:
        return [*facts_about(Topic.MISSION, _poll(polled)), *events]
    lines = [_rule(connection, row), *_poll(polled)]
    stored = connection.execute(select(document).where(document.c.page_id == row.id)).one_or_none()
    if stored is not None:
        versions = map(_stored, reversed(_versions(connection, stored, SHOWN)))
        return [*facts_about(Topic.MISSION, [*lines, _document(stored)]), *events, *versions]
    if events and queue == REVISIT and not row.reason:
        lines.append(said("no document yet: announced after it was read, so it waits to be read again"))
    elif row.state == State.DONE:
        lines.append(_without_document(connection, row.reason))
    return [*facts_about(Topic.MISSION, lines), *events]


def _announcements(connection: Connection, crawl_id: int, row: Any) -> list[Fact]:
    """Return an event for each feed that announced the page, or a page that redirects to it."""
    redirect = page.alias()
    sources = select(redirect.c.key).where(redirect.c.moved_to == row.id, redirect.c.state == State.MOVED)
    statement = (
        select(page.c.url, feed_item.c.found_at, feed_item.c.published_at, feed_item.c.title)
        .join(page, page.c.id == feed_item.c.feed_id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id, or_(feed_item.c.key == row.key, feed_item.c.key.in_(sources)))
        .order_by(feed_item.c.found_at, page.c.url)
    )
    events = []
    for url, found_at, published_at, title in connection.execute(statement.limit(SHOWN)):
        further = []
        if published_at is not None:
            further.append(said("as published %(at)s", at=Moment(published_at)))
        if title:
            further.append(said("titled %(title)s", title=title))
        events.append(event(found_at, Topic.MISSION, "announced by %(feed)s", further, feed=Url(url)))
    return events


def _rule(connection: Connection, row: Any) -> Said:
    """Describe the deciding rule: one that excludes the page, or that of the highest weight."""
    rule = decision(connection, row.url).deciding
    if rule is None:
        return said("matches no rule")
    about: dict[str, Part] = {"number": rule.number, "regex": rule.rule.regex, "origin": Said(rule.rule.origin, {})}
    if rule.rule.weight == 0.0:
        return said("rule %(number)s excludes it from articles: %(regex)s (%(origin)s)", **about)
    return said("matches rule %(number)s: %(regex)s (%(origin)s, weight %(weight)s)", weight=rule.rule.weight, **about)


def _poll(row: Any) -> list[Said]:
    if row is None:
        return []
    further = []
    if row.failures:
        further.append(
            said(
                "failed %(times)s in a row: %(why)s",
                times=counted_times(row.failures),
                why=because(row.problem or Reason.NO_RESPONSE),
            )
        )
    elif row.problem:
        further.append(said("its last poll: %(why)s", why=because(row.problem)))
    sentence = said(
        "scheduled %(kind)s: polled %(times)s, %(items)s, next %(due)s",
        further,
        kind=Said(row.kind, {}),
        times=counted_times(row.polls),
        items=Count(row.new_items, "%(number)s new item", "%(number)s new items"),
        due=Moment(row.due_at),
    )
    return [sentence]


def _document(row: Any) -> Said:
    authors = ", ".join(json.loads(row.authors))
    further = [
        said("%(length)s, found by %(extractor)s", length=_characters(len(row.text)), extractor=row.extractor),
        *([said("published %(published)s", published=row.published)] if row.published else ()),
        *([said("by %(authors)s", authors=authors)] if authors else ()),
        *([said("in the section %(section)s", section=row.section)] if row.section else ()),
        *([said("language: %(language)s", language=row.language)] if row.language else ()),
        *([said("canonical URL %(url)s", url=Url(row.canonical))] if row.canonical not in (None, "", row.url) else ()),
    ]
    return said("document: %(title)s", further, title=row.title)


class Version(NamedTuple):
    """A version of a document, without its text."""

    version: int
    title: str
    stored_at: float
    chars: int  # of its text


def _versions(connection: Connection, row: Any, most: int) -> list[Version]:
    """Return the versions of the document *row*, the latest first: that of the row, and at most *most* earlier ones."""
    its = document_version.c
    earlier = select(its.version, its.title, its.stored_at, func.length(its.text)).where(its.page_id == row.page_id)
    earlier = earlier.order_by(its.version.desc()).limit(most)
    latest = Version(row.version, row.title, row.changed_at or row.stored_at, len(row.text))
    return [latest, *(Version(*one) for one in connection.execute(earlier))]


def _stored(one: Version) -> Fact:
    """Return when a version was stored."""
    return event(
        one.stored_at,
        Topic.MISSION,
        "version %(version)s of the document stored, %(length)s: %(title)s",
        version=one.version,
        length=_characters(one.chars),
        title=one.title,
    )


def _characters(number: int) -> Count:
    return Count(number, "%(number)s character", "%(number)s characters")


def _without_document(connection: Connection, reason: str | None) -> Said:
    if not reason:
        return said("no document, because nothing indicates an article")
    why = because(reason)
    code, parts = parsed(reason)
    if code in COPIES:
        original = url_of(connection, int(parts["document"]))
        return said("no document: %(why)s, %(url)s", why=why, url=Url(original))
    return said("no document: %(why)s", why=why)


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
    versions: list[Version]  # the latest first
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
    row = latest
    if version not in (None, latest.version):
        wanted = (document_version.c.page_id == number, document_version.c.version == version)
        if (earlier := connection.execute(select(document_version).where(*wanted)).one_or_none()) is None:
            return None
        is_same_time = earlier.published_at == latest.published_at
        row = latest._replace(title=earlier.title, text=earlier.text, version=earlier.version)
        row = row._replace(published_at=earlier.published_at, published=latest.published if is_same_time else None)
    parts = select(content_rule.c.part, content_rule.c.selector).where(content_rule.c.domain == rule_domain(name))
    return DocumentView(
        row,
        paragraphs_of(row.text[:MAX_CHARS]),
        len(row.text) > MAX_CHARS,
        list(json.loads(row.authors)),
        list(json.loads(row.keywords or "[]")),
        _versions(connection, latest, MAX_VERSIONS),
        connection.execute(parts.order_by(content_rule.c.part)).all(),
        *_copies(connection, crawl_id, latest, is_over),
    )


def paragraphs_of(text: str) -> list[str]:
    """Return the paragraphs of a document: extractors end each of them with a line.

    >>> paragraphs_of("One  two\\n\\n three\\n")
    ['One two', 'three']
    """
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


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
