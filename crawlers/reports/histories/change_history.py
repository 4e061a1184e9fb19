"""The changes of a page between visits, and the sitemap that lists it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, text

from crawlers.items import State
from crawlers.reports.histories.history import SHOWN, Fact, Moment, Topic, Url, counted_times, event, said, url_of
from crawlers.store.reading.queries import listing_of
from crawlers.store.reading.url_counts import kind_of
from crawlers.store.schema.score_tables import link_change, page_change

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from crawlers.reports.histories.history import Part, Said

# The count of a link before and after each change.
_LINKS = """
    SELECT c.target_id, c.changed_at, c.last_seen, c.count AS before, coalesce(
            lead(c.count) OVER (PARTITION BY c.target_id ORDER BY c.changed_at), l.count, 0) AS after
    FROM link_change c LEFT JOIN link l ON l.source_id = c.source_id AND l.target_id = c.target_id
    WHERE c.source_id = :page ORDER BY c.changed_at DESC, c.target_id LIMIT :shown"""


def change_events(connection: Connection, page_id: int) -> list[Fact]:
    """Return how often a page and its links changed, and the latest of these changes."""
    of_page = page_change.c.page_id == page_id
    changes = connection.execute(select(func.count()).where(of_page)).scalar_one()
    if not changes:
        return []
    some = said("changed %(times)s; the last %(shown)s are shown", times=counted_times(changes), shown=SHOWN)
    found = [Fact(Topic.CHANGE, some if changes > SHOWN else said("changed %(times)s", times=counted_times(changes)))]
    previous = select(page_change).where(of_page).order_by(page_change.c.changed_at.desc()).limit(SHOWN)
    found += [Fact(Topic.CHANGE, _previous(row), row.changed_at) for row in connection.execute(previous)]
    number = connection.execute(
        select(func.count()).select_from(link_change).where(link_change.c.source_id == page_id)
    ).scalar_one()
    if number:
        times = counted_times(number)
        some = said("its links changed %(times)s; the last %(shown)s are shown", times=times, shown=SHOWN)
        found.append(Fact(Topic.CHANGE, some if number > SHOWN else said("its links changed %(times)s", times=times)))
        rows = connection.execute(text(_LINKS), {"page": page_id, "shown": SHOWN}).all()
        found += [
            Fact(Topic.CHANGE, _link(row, Url(url_of(connection, row.target_id))), row.changed_at) for row in rows
        ]
    return found


def _previous(row: Any) -> Said:
    was: list[str] = [kind_of(State(row.state), row.status)]
    was += [f"status {row.status}"] if row.status else []
    was += [f"content {row.content_hash[:8]}"] if row.content_hash else []
    if row.last_seen is None:
        return said("found changed; before that: %(before)s", before=", ".join(was))
    return said("found changed; until %(seen)s: %(before)s", seen=Moment(row.last_seen), before=", ".join(was))


def _link(row: Any, target: Url) -> Said:
    if not row.before:
        return said("new link to %(url)s", url=target)
    parts: dict[str, Part] = {"url": target, "before": row.before}
    if row.after:
        parts["after"] = row.after
        if row.last_seen is None:
            return said("%(after)s links to %(url)s, earlier %(before)s", **parts)
        return said("%(after)s links to %(url)s, until %(seen)s %(before)s", seen=Moment(row.last_seen), **parts)
    if row.last_seen is None:
        return said("no link to %(url)s any more", url=target)
    return said("no link to %(url)s any more, last seen %(seen)s", url=target, seen=Moment(row.last_seen))


def sitemap_events(connection: Connection, site_id: int, key: int) -> list[Fact]:
    """Return the first sitemap of a site that lists the page *key*; nothing if none does."""
    found = listing_of(connection, site_id, key)
    if found is None or found.read_at is None:
        return []
    further = (
        [] if found.modified_at is None else [said("last change, as listed: %(at)s", at=Moment(found.modified_at))]
    )
    return [event(found.read_at, Topic.FOUND, "listed in the sitemap %(sitemap)s", further, sitemap=Url(found.sitemap))]
