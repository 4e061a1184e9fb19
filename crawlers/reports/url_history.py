"""Describes the history of a URL: its discovery, its requests, its state, and the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import collate, func, select

from crawlers.algorithms.plurals import plural
from crawlers.algorithms.robots_groups import is_unreachable
from crawlers.algorithms.urls.resolution import site_of
from crawlers.items import State
from crawlers.reports.change_history import change_history
from crawlers.reports.document_history import document_history
from crawlers.reports.history_wording import SHOWN, url_of, when
from crawlers.reports.score_history import score_history
from crawlers.storage.queries import addresses_of
from crawlers.storage.schema.tables import bad_link, external_link, external_url, link, page, site
from crawlers.storage.schema.tables import crawl as crawled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from crawlers.items import Target
    from crawlers.storage.database import Database
    from crawlers.storage.queries import NamedCrawl


def url_history(database: Database, crawl: NamedCrawl, targets: Sequence[Target]) -> list[str]:
    """Return lines about the first of *targets* that *crawl* has found, or about the first; the state comes first."""
    addresses = addresses_of(database, crawl.id)
    targets = [addresses.of_site(target) for target in targets]
    with database.read() as connection:
        for target in targets:
            row = connection.execute(
                select(page)
                .join(site, site.c.id == page.c.site_id)
                .where(site.c.crawl_id == crawl.id, site.c.site == target.site, page.c.key == target.key)
            ).one_or_none()
            if row is not None:
                return _known(connection, crawl, target, row)
        for target in targets:
            if (lines := _external(connection, crawl, target)) is not None:
                return lines
        return _unknown(connection, crawl, targets)


def bad_link_history(database: Database, crawl: NamedCrawl, raw: str) -> list[str] | None:
    """Return lines about the invalid URL *raw*; None if no page of *crawl* links to it."""
    statement = (
        select(func.sum(bad_link.c["count"]), func.min(page.c.url), func.min(bad_link.c.reason))
        .join(page, page.c.id == bad_link.c.page_id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl.id, bad_link.c.raw == raw)
    )
    with database.read() as connection:
        number, url, reason = connection.execute(statement).one()
    if not number:
        return None
    return [
        raw,
        f"  a bad link: {reason}",
        f"  found in {number} {plural(number, 'place')}, for example on {url}; not followed",
    ]


def _known(connection: Connection, crawl: NamedCrawl, target: Target, row: Any) -> list[str]:
    state = State(row.state)
    lines = [
        f"{row.url}",
        f"  {state.name.lower()}{': ' + row.reason if row.reason else ''}, since {when(row.state_at)}",
        f"  in crawl {crawl.name} (number {crawl.id}), level {row.level}, page {row.id}",
        f"  known as {target.normalized}",
        f"  found {when(row.found_at)}{_found_on(connection, row.found_on)}",
    ]
    if state is State.WAITING:
        lines += _resting(connection, row.site_id)
    if row.fetched_at is not None and state is not State.REJECTED:
        response = (
            f"status {row.status}, {row.content_type or 'no content type'}, {row.size_bytes} bytes"
            if row.status
            else "no response"
        )
        lines.append(f"  requested {when(row.fetched_at)}, attempt {row.attempts}, {response}")
    if row.moved_to is not None:
        lines.append(f"  moved to {url_of(connection, row.moved_to)}")
    if row.title:
        lines.append(f"  title: {row.title}")
    lines += _copies(connection, row)
    lines += _linking(connection, row)
    lines += score_history(connection, crawl.id, row.id)
    lines += document_history(connection, crawl.id, row)
    lines += change_history(connection, row.id)
    return lines


def _resting(connection: Connection, site_id: int) -> list[str]:
    robots = connection.execute(select(site.c.robots_status, site.c.robots_text).where(site.c.id == site_id)).one()
    if robots.robots_status is None or not is_unreachable(robots.robots_status):
        return []
    reason = f"status {robots.robots_status}" if robots.robots_status else robots.robots_text
    return [f"  waits until the robots.txt of its site can be read, which was not possible: {reason}"]


def _copies(connection: Connection, row: Any) -> list[str]:
    if row.content_hash is None:
        return []
    same = (page.c.site_id == row.site_id) & (page.c.content_hash == row.content_hash)
    urls = connection.execute(
        select(page.c.id, page.c.url).where(same).order_by(page.c.level, _url_order(connection))
    ).all()
    if row.duplicates:
        further = f"{row.duplicates} further {plural(row.duplicates, 'URL')}"
        return [f"  represents {further} with the same content, whose rows were deleted"]
    if len(urls) == 1:
        return ["  no other page has the same content"]
    first = urls[0]
    if first.id == row.id:
        others = [one.url for one in urls[1:]]
        further = f"{len(others)} further {plural(len(others), 'URL')}"
        return [f"  represents {further} with the same content: {_some(others)}"]
    return [f"  a duplicate of {first.url}, which represents it in the graph"]


def _linking(connection: Connection, row: Any) -> list[str]:
    """Return the pages that link to the page or to one with the same content, that is to its node in the graph."""
    meant = link.c.target_id == row.id
    if row.content_hash is not None:
        same = (page.c.site_id == row.site_id) & (page.c.content_hash == row.content_hash)
        meant = link.c.target_id.in_(select(page.c.id).where(same))
    number, times = connection.execute(
        select(func.count(link.c.source_id.distinct()), func.coalesce(func.sum(link.c.count), 0)).where(meant)
    ).one()
    if not number:
        return ["  no stored page links to it"]
    sources = connection.execute(
        select(page.c.url)
        .where(page.c.id.in_(select(link.c.source_id).where(meant)))
        .order_by(page.c.level, _url_order(connection))
        .limit(SHOWN)
    ).scalars()
    counts = f"{times} {plural(times, 'time')} from {number} {plural(number, 'page')}"
    return [f"  linked to {counts}: {_some(list(sources), number)}"]


def _external(connection: Connection, crawl: NamedCrawl, target: Target) -> list[str] | None:
    sites = {target.site, site_of(target.url)}  # external links keep the address, whichever site has it
    number, example = connection.execute(
        select(func.count(), func.min(page.c.url))
        .select_from(external_url)
        .join(external_link, external_link.c.url_id == external_url.c.id)
        .join(page, page.c.id == external_link.c.page_id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl.id, external_url.c.site.in_(sites), external_url.c.url == target.url)
    ).one()
    if not number:
        return None
    places = f"{number} {plural(number, 'place')}"
    return [target.url, f"  external: linked to from {places}, for example {example}; not followed"]


def _unknown(connection: Connection, crawl: NamedCrawl, targets: Sequence[Target]) -> list[str]:
    target = targets[0]
    lines = [
        target.url,
        f"  never found in the crawl {crawl.name} (number {crawl.id})",
        f"  known as {target.normalized}",
    ]
    other = connection.execute(
        select(crawled.c.id, crawled.c.name)
        .join(site, site.c.crawl_id == crawled.c.id)
        .join(page, page.c.site_id == site.c.id)
        .where(site.c.site.in_([one.site for one in targets]), page.c.key.in_([one.key for one in targets]))
        .order_by(crawled.c.id.desc())
        .limit(1)
    ).one_or_none()
    if other is not None:
        lines.append(f"  found in the crawl {other.name} (number {other.id}): add --crawl {other.id}")
    return lines


def _found_on(connection: Connection, page_id: int | None) -> str:
    return f" on {url_of(connection, page_id)}" if page_id is not None else " in the list of sites"


def _some(urls: list[str], total: int | None = None) -> str:
    total = total or len(urls)
    more = f" and {total - SHOWN} more" if total > SHOWN else ""
    return ", ".join(urls[:SHOWN]) + more


def _url_order(connection: Connection) -> Any:
    """Return the order of URLs by code points, as in graphs: PostgreSQL would use the database's language."""
    return page.c.url if connection.dialect.name == "sqlite" else collate(page.c.url, "C")
