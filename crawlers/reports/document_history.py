"""Describes a page of a news crawl: its announcements, the rule that it matches, its document and its polls."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from sqlalchemy import or_, select

from crawlers.algorithms.plurals import plural
from crawlers.algorithms.ranking.page_scores import REVISIT
from crawlers.algorithms.url_rules.url_expressions import UrlExpressions
from crawlers.algorithms.urls.domains import rule_domain
from crawlers.algorithms.urls.resolution import site_of
from crawlers.items import FEED, SITEMAP, State
from crawlers.reports.history_wording import SHOWN, url_of, when
from crawlers.storage.schema.news_tables import document, document_version, feed_item, poll, url_rule
from crawlers.storage.schema.score_tables import news_score
from crawlers.storage.schema.tables import page, site

if TYPE_CHECKING:
    from sqlalchemy import Connection

_COPY = re.compile(r"(.+) as document (\d+)$")


def document_history(connection: Connection, crawl_id: int, row: Any) -> list[str]:
    """Return lines about the page of *row*; none in crawls of other missions."""
    queue = connection.execute(select(news_score.c.queue).where(news_score.c.page_id == row.id)).scalar()
    if queue is None:
        return []
    polled = connection.execute(select(poll).where(poll.c.page_id == row.id)).one_or_none()
    if polled is not None and polled.kind in (FEED, SITEMAP):
        return [*_announcements(connection, crawl_id, row), *_poll(polled)]
    announcements = _announcements(connection, crawl_id, row)
    lines = [*announcements, *_rule(connection, row), *_poll(polled)]
    stored = connection.execute(select(document).where(document.c.page_id == row.id)).one_or_none()
    if stored is not None:
        return [*lines, *_document(stored), *_versions(connection, row.id)]
    if announcements and queue == REVISIT and not row.reason:
        lines.append("  no document yet: announced after it was read, so it waits to be read again")
    elif row.state == State.DONE:
        lines.append(f"  no document{_why(connection, row.reason)}")
    return lines


def _announcements(connection: Connection, crawl_id: int, row: Any) -> list[str]:
    """Return a line for each feed that announced the page, or a page that redirects to it."""
    redirect = page.alias()
    sources = select(redirect.c.key).where(redirect.c.moved_to == row.id, redirect.c.state == State.MOVED)
    statement = (
        select(page.c.url, feed_item.c.found_at, feed_item.c.published_at, feed_item.c.title)
        .join(page, page.c.id == feed_item.c.feed_id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id, or_(feed_item.c.key == row.key, feed_item.c.key.in_(sources)))
        .order_by(feed_item.c.found_at, page.c.url)
    )
    lines = []
    for url, found_at, published_at, title in connection.execute(statement.limit(SHOWN)):
        published = f", as published {when(published_at)}" if published_at is not None else ""
        lines.append(f"  announced by {url} {when(found_at)}{published}{f': {title}' if title else ''}")
    return lines


def _rule(connection: Connection, row: Any) -> list[str]:
    """Describe the deciding rule of the nearest domain with rules: one that excludes, or that of highest weight."""
    name = site_of(row.url)
    parts = rule_domain(name).split(".")
    domains = [".".join(parts[number:]) for number in range(len(parts))]
    statement = select(url_rule).where(url_rule.c.domain.in_(domains))
    rules = connection.execute(statement.order_by(url_rule.c.weight.desc(), url_rule.c.id)).all()
    nearest = max((rule.domain for rule in rules), key=len, default=None)
    its = [rule for rule in rules if rule.domain == nearest]
    fitting = UrlExpressions([rule.regex for rule in its]).matching(row.url[len(name) :])
    matching = [its[place] for place in sorted(fitting)]
    if not matching:
        return ["  matches no rule"]
    rule = matching[-1] if matching[-1].weight == 0.0 else matching[0]
    if rule.weight == 0.0:
        return [f"  rule {rule.id} excludes it from articles: {rule.regex} ({rule.origin})"]
    return [f"  matches rule {rule.id}: {rule.regex} ({rule.origin}, weight {rule.weight:g})"]


def _poll(row: Any) -> list[str]:
    if row is None:
        return []
    failures = f", failed {row.failures} {plural(row.failures, 'time')} in a row" if row.failures else ""
    problem = f": {row.problem}" if row.problem else ""
    new = f"{row.new_items} new {plural(row.new_items, 'item')}"
    polls = f"polled {row.polls} {plural(row.polls, 'time')}, {new}, next {when(row.due_at)}"
    return [f"  scheduled {row.kind}: {polls}{failures}{problem}"]


def _document(row: Any) -> list[str]:
    published = f", published {row.published}" if row.published else ""
    authors = ", ".join(json.loads(row.authors))
    language = f"language: {row.language}" if row.language else ""
    about = [f"by {authors}" if authors else "", f"in {row.section}" if row.section else "", language]
    lines = [
        f"  document: {row.title}",
        f"    stored {when(row.stored_at)}{published}, {len(row.text):,} characters, found by {row.extractor}",
    ]
    if any(about):
        lines.append(f"    {', '.join(part for part in about if part)}")
    if row.canonical and row.canonical != row.url:
        lines.append(f"    canonical URL {row.canonical}")
    if row.version > 1:
        lines.append(f"    version {row.version}, since {when(row.changed_at)}; before that:")
    return lines


def _versions(connection: Connection, page_id: int) -> list[str]:
    statement = (
        select(document_version)
        .where(document_version.c.page_id == page_id)
        .order_by(document_version.c.version.desc())
        .limit(SHOWN)
    )
    return [
        f"      version {row.version}, since {when(row.stored_at)}, {len(row.text):,} characters: {row.title}"
        for row in connection.execute(statement)
    ]


def _why(connection: Connection, reason: str | None) -> str:
    copy = _COPY.match(reason or "")
    if copy is not None:
        return f": {copy[1]} as {url_of(connection, int(copy[2]))}"
    return f": {reason}" if reason else ", because nothing indicates an article"
