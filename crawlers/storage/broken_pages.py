"""The URLs of a site that can't be loaded, and the redirects that end at one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.items import State
from crawlers.reasons import Reason
from crawlers.storage.crawl_results import MIN_ERROR_STATUS
from crawlers.storage.redirect_chains import final_target, hops_after
from crawlers.storage.streaming import streamed

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Connection

    from crawlers.storage.redirect_chains import Hop

_BROKEN = f"""
    SELECT id FROM page WHERE site_id = :site
    AND (state = {State.FAILED:d} OR (state = {State.REFUSED:d} AND status >= {MIN_ERROR_STATUS}))"""  # noqa: S608
_MOVED = f"SELECT id, moved_to FROM page WHERE site_id = :site AND state = {State.MOVED:d}"  # noqa: S608


class Problem(NamedTuple):
    """Why a URL can't be loaded."""

    url: str
    status: int | None
    reason: str | None


def broken_ends(connection: Connection, site_id: int) -> dict[int, int]:
    """Return the broken pages of a site, and the redirects that end at one, with the broken page."""
    broken = {page_id: page_id for (page_id,) in streamed(connection, _BROKEN, site=site_id)}
    moved: dict[int, int] = {page_id: target for page_id, target in streamed(connection, _MOVED, site=site_id)}
    ends = ((page_id, final_target(page_id, moved)) for page_id in moved)
    return broken | {page_id: end for page_id, end in ends if end in broken}


def broken_ends_of(connection: Connection, page_ids: Collection[int]) -> dict[int, int]:
    """Return those of the pages that are broken, or redirect to such a page, with the broken page."""
    hops = hops_after(connection, page_ids)
    moved = {
        page_id: hop.moved_to for page_id, hop in hops.items() if hop.state == State.MOVED and hop.moved_to is not None
    }
    ends = ((page_id, final_target(page_id, moved)) for page_id in page_ids)
    return {page_id: end for page_id, end in ends if end in hops and _is_broken(hops[end])}


def _is_broken(page: Hop) -> bool:
    is_error = page.state == State.REFUSED and (page.status or 0) >= MIN_ERROR_STATUS
    return is_error or page.state == State.FAILED


def problems_of(connection: Connection, ends: dict[int, int], page_ids: Collection[int]) -> dict[int, Problem]:
    """Return why links to *page_ids* are broken; *ends* are the broken pages to which they lead."""
    wanted = {*page_ids, *(ends[page_id] for page_id in page_ids)}
    rows = streamed(connection, "SELECT id, url, status, reason FROM page WHERE id {ids}", ids=wanted)
    known = {page_id: Problem(url, status, reason) for page_id, url, status, reason in rows}
    problems = {}
    for page_id in page_ids:
        end = known[ends[page_id]]
        problems[page_id] = (
            end
            if ends[page_id] == page_id
            else Problem(known[page_id].url, end.status, Reason.REDIRECT_TO_BROKEN.of(end.url, end.reason))
        )
    return problems
