"""Finds the chains and the final targets of stored redirects, the URLs that can't be loaded, and redirects to these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawlers.items import REDIRECT, State
from crawlers.reasons import Reason
from crawlers.store.reading.url_counts import MIN_ERROR_STATUS, UrlKind, kind_of
from crawlers.store.schema.tables import page, site
from crawlers.store.streaming import streamed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from sqlalchemy import Connection


def redirects_of(connection: Connection, crawl_id: int) -> dict[int, int]:
    """Return the redirects of a crawl: page number to target page number."""
    statement = (
        select(page.c.id, page.c.moved_to)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id, page.c.state == int(State.MOVED), page.c.moved_to.is_not(None))
    )
    return {page_id: target for page_id, target in connection.execute(statement)}


def final_target(page_id: int, moved: Mapping[int, int]) -> int | None:
    """Return the final target of *page_id*; None if its redirects form a loop.

    >>> final_target(1, {1: 2, 2: 3}), final_target(4, {1: 2}), final_target(1, {1: 2, 2: 1})
    (3, 4, None)
    """
    passed = set()
    while page_id in moved:
        if page_id in passed:
            return None
        passed.add(page_id)
        page_id = moved[page_id]
    return page_id


def redirect_cells(connection: Connection, pages: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield what the report `redirects` and the file of that name say of each of *pages*, which redirect."""
    known = hops_after(connection, [one.id for one in pages])
    # The targets of redirects to other sites, which were not requested.
    outward = {page_id: url for page_id, url in streamed(connection, _OUTWARD, ids=known)}
    for one in pages:
        chain = [one.id]
        while (target := known[chain[-1]].moved_to) in known and target not in chain:
            chain.append(target)
        urls, last = [known[hop].url for hop in chain], known[chain[-1]]
        status = last.status
        if last.id in outward:
            urls.append(outward[last.id])
            status = None
        problem = Reason.REDIRECT_LOOP if target in chain else last.reason
        if last.state == State.WAITING:
            problem = Reason.NOT_REQUESTED_YET
        final_url = None if len(urls) == 1 else urls[-1]
        yield (one.url, one.status, len(urls) - 1, final_url, status, problem, one.level, " > ".join(urls))


def hops_after(connection: Connection, page_ids: Collection[int]) -> dict[int, Any]:
    """Return the pages *page_ids* and all that follow them in their chains; a statement for each redirect in a row."""
    known: dict[int, Any] = {}
    missing = set(page_ids)
    while missing:
        found = {row.id: row for row in streamed(connection, _HOPS, ids=missing)}
        known |= found
        missing = {row.moved_to for row in found.values() if row.moved_to is not None} - known.keys()
    return known


_HOPS = "SELECT id, url, status, state, moved_to, reason FROM page WHERE id {ids}"
_BROKEN_OR_MOVED = f"""
    SELECT id FROM page WHERE site_id = :site AND (state IN ({State.FAILED:d}, {State.MOVED:d})
    OR (state = {State.REFUSED:d} AND status >= {MIN_ERROR_STATUS}))"""  # noqa: S608
_OUTWARD = f"""
    SELECT e.page_id, min(u.url) FROM external_link e JOIN external_url u ON u.id = e.url_id
    JOIN link_context k ON k.id = e.context_id AND k.tag = '{REDIRECT}' WHERE e.page_id {{ids}} GROUP BY e.page_id"""  # noqa: S608


def broken_ends(connection: Connection, site_id: int) -> dict[int, int]:
    """Return the broken pages of a site, and the redirects that end at one, with the broken page."""
    found = streamed(connection, _BROKEN_OR_MOVED, site=site_id)
    return broken_ends_of(connection, {page_id for (page_id,) in found})


def broken_ends_of(connection: Connection, page_ids: Collection[int]) -> dict[int, int]:
    """Return those of the pages that are broken, or redirect to such a page, with the broken page."""
    hops = hops_after(connection, page_ids)
    moved = {
        page_id: hop.moved_to for page_id, hop in hops.items() if hop.state == State.MOVED and hop.moved_to is not None
    }
    ends = ((page_id, final_target(page_id, moved)) for page_id in page_ids)
    broken = {number for number, hop in hops.items() if kind_of(State(hop.state), hop.status) is UrlKind.ERROR}
    return {page_id: end for page_id, end in ends if end in broken}


def problems_of(
    connection: Connection, ends: dict[int, int], page_ids: Collection[int]
) -> dict[int, tuple[str, int | None, str | None]]:
    """Return URL, status and reason of *page_ids*, links to which are broken; *ends* are where they lead."""
    wanted = {*page_ids, *(ends[page_id] for page_id in page_ids)}
    known = {row.id: row for row in streamed(connection, _HOPS, ids=wanted)}
    problems = {}
    for page_id in page_ids:
        url, end = known[page_id].url, known[ends[page_id]]
        reason = end.reason if end.id == page_id else Reason.REDIRECT_TO_BROKEN.of(end.url, end.reason)
        problems[page_id] = url, end.status, reason
    return problems
