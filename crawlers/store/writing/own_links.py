"""Turns external links into links of the site, if they lead to addresses that the site got later."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Integer, cast, func, select, text

from crawlers.items import REDIRECT, State
from crawlers.store.schema.tables import external_link, external_url, link_context, page
from crawlers.store.streaming import among

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sqlalchemy import Connection

    from crawlers.store.database import Database

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
