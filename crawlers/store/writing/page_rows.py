"""Turns a page into its rows.

External links become links of the site, if they lead to addresses that the site got later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Integer, cast, func, select, text

from crawlers.items import REDIRECT, State
from crawlers.store.schema.tables import (
    BadLinkRow,
    EndedPage,
    ExternalLinkRow,
    ExternalUrlRow,
    LinkContextRow,
    external_link,
    external_url,
    link_context,
    page,
)
from crawlers.store.streaming import among
from crawlers.urls.keys import url_key

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping

    from sqlalchemy import Connection

    from crawlers.items import ExternalLink, LinkText, Page
    from crawlers.store.database import Database
    from crawlers.store.writing.change_set import ChangeSet

MOST_KNOWN = 20_000  # external URLs, and texts around links; some 500 bytes each
_STATEMENTS = (
    f"""INSERT INTO link (source_id, target_id, count)
        SELECT e.page_id, o.target_id, sum(e.count)
        FROM page p JOIN external_link e ON e.page_id = p.id JOIN own_url o ON o.url_id = e.url_id
        WHERE p.site_id = :site AND p.state = {int(State.DONE)} GROUP BY e.page_id, o.target_id
        ON CONFLICT (source_id, target_id) DO UPDATE SET count = link.count + excluded.count""",  # noqa: S608
    # A refused page has an external link only if it redirects there.
    f"""UPDATE page SET state = {int(State.MOVED)}, reason = NULL, moved_to = (
            SELECT min(o.target_id) FROM external_link e JOIN own_url o ON o.url_id = e.url_id
            WHERE e.page_id = page.id)
        WHERE site_id = :site AND state = {int(State.REFUSED)} AND id IN (
            SELECT e.page_id FROM external_link e JOIN own_url o ON o.url_id = e.url_id)""",  # noqa: S608
    """DELETE FROM external_link WHERE url_id IN (SELECT url_id FROM own_url)
        AND page_id IN (SELECT id FROM page WHERE site_id = :site)""",
)


class OwnUrl(NamedTuple):
    """An external URL that is a page of the site from whose pages links lead to it."""

    id: int
    url: str
    level: int  # by the nearest of these pages
    found_on: int  # one of them


def own_urls(database: Database, site_id: int, addresses: Collection[str]) -> list[OwnUrl]:
    """Return the external URLs at the *addresses* of a site to which its own pages link or redirect, by level."""
    redirects = link_context.c.tag == REDIRECT
    level = page.c.level + 1 - func.max(cast(redirects, Integer))
    columns = (external_url.c.id, external_url.c.url, page.c.id, level)
    statement = (
        select(*columns)
        .join(external_link, external_link.c.url_id == external_url.c.id)
        .join(page, page.c.id == external_link.c.page_id)
        .join(link_context, link_context.c.id == external_link.c.context_id)
        .where(external_url.c.site.in_(addresses), page.c.site_id == site_id)
        .group_by(external_url.c.id, external_url.c.url, page.c.id, page.c.level)
        .order_by(level, page.c.id)
    )
    found: dict[int, OwnUrl] = {}
    for number, url, source, nearest in database.rows(statement):
        found.setdefault(number, OwnUrl(number, url, nearest, source))
    return list(found.values())


def adopt_links(connection: Connection, site_id: int, keys: Mapping[int, int]) -> None:
    """Make links of a site to external URLs links to its pages; *keys* are those of the pages, by number of the URL."""
    of_site = select(page.c.key, page.c.id).where(page.c.site_id == site_id, among(page.c.key, keys.values()))
    numbers = {key: number for key, number in connection.execute(of_site)}
    rows = [{"url": number, "target": numbers[key]} for number, key in keys.items()]
    connection.execute(text("CREATE TEMPORARY TABLE own_url (url_id BIGINT PRIMARY KEY, target_id BIGINT NOT NULL)"))
    connection.execute(text("INSERT INTO own_url VALUES (:url, :target)"), rows)
    for statement in _STATEMENTS:
        connection.execute(text(statement), {"site": site_id})
    connection.execute(text("DROP TABLE own_url"))


def add_page_rows(
    changes: ChangeSet,
    page: Page,
    known: dict[str, int],
    *,
    attempts: int,
    fetched_at: float | None,
    now: float,
    moved_to: int | None,
) -> None:
    """Add the rows of a page that ended, and of its external and bad links.

    *known* has the numbers of the external URLs, and of the texts around links, that were added before: pages repeat
    them. *fetched_at* and *now* in seconds since 1970; *fetched_at* is None if the page was never requested.
    """
    if len(known) > MOST_KNOWN:
        known.clear()
    changes.add(
        EndedPage(
            page.id,
            int(page.state),
            page.reason or None,
            attempts,
            fetched_at,
            now,
            page.status or None,
            moved_to,
            page.content_hash.hex() or None,
            page.content_signature or None,
            page.title or None,
            page.canonical or None,
            page.content_type or None,
            page.size_bytes,
            page.etag or None,
            page.last_modified or None,
            latency_s=page.latency_s,
            is_indexable=page.is_indexable if page.state is State.DONE else None,
        )
    )
    if page.external:
        _add_external_rows(changes, page.id, page.external, known)
    if page.bad:
        changes.add(*[BadLinkRow(page.id, *bad) for bad in page.bad])


def _add_external_rows(
    changes: ChangeSet, page_id: int, links: Iterable[tuple[ExternalLink, int]], known: dict[str, int]
) -> None:
    """Add the rows of external links of a page, each with the number of its occurrences."""
    counts: dict[tuple[int, int], int] = {}
    for link, count in links:
        url_id = known.get(link.url)
        if url_id is None:
            url_id = known[link.url] = url_key(link.url)
            changes.add(ExternalUrlRow(url_id, link.site, link.url, link.key))
        pair = url_id, _context_id(changes, link[3:], known)
        counts[pair] = counts.get(pair, 0) + count
    changes.add(*[ExternalLinkRow(page_id, *pair, count) for pair, count in counts.items()])


def add_contexts(
    changes: ChangeSet, texts: Iterable[LinkText], keys: Container[int], known: dict[str, int]
) -> list[tuple[int, int]]:
    """Add those of the *texts* of links that lead to *keys*; return key and number of each. For *known* see above."""
    return [(key, _context_id(changes, parts, known)) for key, *parts in texts if key in keys]


def _context_id(changes: ChangeSet, texts: Iterable[str], known: dict[str, int]) -> int:
    """Return the number of the *texts* of a link, whose row is added if they are not *known*."""
    text = "\x1f".join(texts)
    context_id = known.get(text)
    if context_id is None:
        context_id = known[text] = url_key(text)
        changes.add(LinkContextRow(context_id, *texts))
    return context_id
