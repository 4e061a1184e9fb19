"""A page of a news crawl: its announcements, the rule that it matches, its document and its polls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import or_, select

from crawlers.items import REVISIT, State
from crawlers.missions.news.news_items import ANNOUNCERS
from crawlers.missions.news.reports.url_rule_trial import decision
from crawlers.missions.news.stored.news_tables import document, document_version, feed_item, news_score, poll
from crawlers.reasons import COPIES, Reason, parsed
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

if TYPE_CHECKING:
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
        return [*facts_about(Topic.MISSION, [*lines, _document(stored)]), *events, *_versions(connection, stored)]
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
        said("%(length)s, found by %(extractor)s", length=_characters(row.text), extractor=row.extractor),
        *([said("published %(published)s", published=row.published)] if row.published else ()),
        *([said("by %(authors)s", authors=authors)] if authors else ()),
        *([said("in the section %(section)s", section=row.section)] if row.section else ()),
        *([said("language: %(language)s", language=row.language)] if row.language else ()),
        *([said("canonical URL %(url)s", url=Url(row.canonical))] if row.canonical not in (None, "", row.url) else ()),
    ]
    return said("document: %(title)s", further, title=row.title)


def _versions(connection: Connection, stored: Any) -> list[Fact]:
    """Return when the document and its latest versions were stored."""
    statement = (
        select(document_version)
        .where(document_version.c.page_id == stored.page_id)
        .order_by(document_version.c.version.desc())
        .limit(SHOWN)
    )
    rows = [(one.stored_at, one.version, one.text, one.title) for one in connection.execute(statement)]
    rows.append((stored.changed_at or stored.stored_at, stored.version, stored.text, stored.title))
    return [
        event(
            at,
            Topic.MISSION,
            "version %(version)s of the document stored, %(length)s: %(title)s",
            version=version,
            length=_characters(text),
            title=title,
        )
        for at, version, text, title in rows
    ]


def _characters(text: str) -> Count:
    return Count(len(text), "%(number)s character", "%(number)s characters")


def _without_document(connection: Connection, reason: str | None) -> Said:
    if not reason:
        return said("no document, because nothing indicates an article")
    why = because(reason)
    code, parts = parsed(reason)
    if code in COPIES:
        original = url_of(connection, int(parts["document"]))
        return said("no document: %(why)s, %(url)s", why=why, url=Url(original))
    return said("no document: %(why)s", why=why)
