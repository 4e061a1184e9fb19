"""Which stored pages of a site wait, and on which levels they are.

Pages are selected by the limit of levels of their site, and by the URLs that users select. Both may change when a crawl
is resumed: pages that are not selected any more are rejected, and those that were not before wait again, as if today's
limits had always applied. Orders that are not breadth-first reach pages by longer paths; when no URL waits, the levels
are corrected, and pages that only seemed too deep are detected.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Integer, String, bindparam, cast, func, literal, select, text, update

from crawlers.items import REDIRECT, State
from crawlers.reasons import NOT_SELECTED, Reason, code_of
from crawlers.store.reading.url_counts import has_reason
from crawlers.store.schema.tables import REVISITED, external_link, external_url, link, link_context, page, site
from crawlers.store.streaming import among

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from sqlalchemy import Connection

    from crawlers.store.database import Database

LEVELS = 2**31 - 1  # the largest value of the column in PostgreSQL
RESELECTED = 10_000  # pages that are read at a time when the selection of a site changed


def move_level_limit(connection: Connection, site_id: int, max_level: int | None, now: float) -> None:
    """Queue or reject pages that were found under another limit, as if *max_level* had always applied."""
    deepest = max_level if max_level is not None else LEVELS
    of_site = page.c.site_id == site_id
    waits, is_too_deep = page.c.state == int(State.WAITING), has_reason(page.c.reason, [Reason.TOO_DEEP])
    connection.execute(
        update(page)
        .where(of_site, page.c.state == int(State.REJECTED), is_too_deep, page.c.level <= deepest)
        .values(state=int(State.WAITING), reason=None, state_at=now)
    )
    reason = literal(f"{Reason.TOO_DEEP} ") + cast(page.c.level, String) + literal(f" {max_level}")
    connection.execute(
        update(page)
        .where(of_site, waits, page.c.level > deepest)
        .values(state=int(State.REJECTED), reason=reason, state_at=now)
    )


def reselect_pages(
    connection: Connection,
    site_id: int,
    max_level: int | None,
    reason_against: Callable[[str, int], str | None],
    now: float,
) -> bool:
    """Queue or reject the pages of a site; return whether any wait that did not before.

    *reason_against* returns why a URL on a level is not selected, or None.
    """
    has_grown = False
    waits = page.c.state == int(State.WAITING)
    not_selected = (page.c.state == int(State.REJECTED)) & has_reason(page.c.reason, NOT_SELECTED)
    columns = (page.c.id, page.c.url, page.c.level, page.c.state, page.c.reason)
    changed = (
        update(page)
        .where(page.c.id == bindparam("number"))
        .values(state=bindparam("new_state"), reason=bindparam("why"), state_at=now)
    )
    after = 0
    while True:
        some = select(*columns).where(page.c.site_id == site_id, waits | not_selected, page.c.id > after)
        found = connection.execute(some.order_by(page.c.id).limit(RESELECTED)).all()
        if not found:
            return has_grown
        after = found[-1].id
        changes = []
        for number, url, level, state, before in found:
            why = reason_against(url, level)
            if why is None and max_level is not None and level > max_level:
                why = Reason.TOO_DEEP.of(level, max_level)
            if why != (before if state == State.REJECTED else None):
                new_state = int(State.WAITING if why is None else State.REJECTED)
                has_grown = has_grown or why is None
                changes.append({"number": number, "new_state": new_state, "why": why})
        if changes:
            connection.execute(changed, changes)


def retry_home_page(connection: Connection, site_id: int, now: float) -> None:
    """Queue the home page of an unavailable site again, as if it had never been requested."""
    ended = (int(State.REFUSED), int(State.FAILED), int(State.REJECTED))
    again = update(page).where(page.c.site_id == site_id, page.c.level == 0, page.c.state.in_(ended))
    for scores in REVISITED:  # a page whose revisit is scheduled there is not queued twice
        returns = select(scores.c.page_id).where(scores.c.site_id == site_id, scores.c.queue >= 0)
        again = again.where(page.c.id.not_in(returns))
    waits = again.values(state=int(State.WAITING), reason=None, attempts=0, state_at=now)
    if connection.execute(waits).rowcount:
        connection.execute(update(site).where(site.c.id == site_id).values(availability=None))


def correct_levels(connection: Connection, site_id: int, max_level: int | None) -> list[tuple[str, int]]:
    """Correct the levels of read pages; return (URL, level) of rejected pages that are not too deep after all.

    Everything must be committed. Holds the links of the site in memory, some 100 bytes each.
    """
    columns = (page.c.id, page.c.url, page.c.level, page.c.state, page.c.reason, page.c.found_on)
    pages = connection.execute(select(*columns).where(page.c.site_id == site_id)).all()
    levels = _levels(connection, site_id, [row.id for row in pages if row.found_on is None])
    true = [(row, levels.get(row.id, row.level)) for row in pages]
    wrong = [
        {"page": row.id, "true": level}
        for row, level in true
        if level != row.level and row.state not in (State.WAITING, State.REJECTED)
    ]
    if wrong:
        statement = update(page).where(page.c.id == bindparam("page")).values(level=bindparam("true"))
        connection.execute(statement, wrong)
    return [
        (row.url, level)
        for row, level in true
        if row.state == State.REJECTED
        and code_of(row.reason) is Reason.TOO_DEEP
        and (max_level is None or level <= max_level)
    ]


def _levels(connection: Connection, site_id: int, homes: list[int]) -> dict[int, int]:
    """Return the clicks from *homes* to every page; following a redirect is not a click."""
    of_site = page.c.site_id == site_id
    links: dict[int, list[int]] = {}
    statement = select(link.c.source_id, link.c.target_id).join(page, page.c.id == link.c.source_id).where(of_site)
    for source, target in connection.execute(statement):
        links.setdefault(source, []).append(target)
    moved = dict(
        connection.execute(select(page.c.id, page.c.moved_to).where(of_site, page.c.moved_to.is_not(None))).all()
    )
    levels = dict.fromkeys(homes, 0)
    queue = deque(homes)
    while queue:
        number = queue.popleft()
        level = levels[number]
        target = moved.get(number)
        if target is not None and level < levels.get(target, level + 1):
            levels[target] = level
            queue.appendleft(target)
        for target in links.get(number, ()):
            if level + 1 < levels.get(target, level + 2):
                levels[target] = level + 1
                queue.append(target)
    return levels


# External links to addresses that a site got later become links of the site.
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
