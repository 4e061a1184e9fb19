"""Compares a page with its previous visit: it is unchanged, has changed, or is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.items import State
from crawlers.pages.retries import REST_STATUSES
from crawlers.store.schema.message_tables import ChangedLinks
from crawlers.store.schema.tables import LinkChangeRow, OutdatedBadLinks, PageChangeRow, UnchangedPage

if TYPE_CHECKING:
    from crawlers.frontier.values import Lease, PreviousVisit
    from crawlers.items import Page
    from crawlers.store.writing.change_set import ChangeSet


def is_unchanged(page: Page, previous: PreviousVisit) -> bool:
    """Whether the visit brought nothing new: 304, the same content, or no usable response.

    A page that can't be fetched today is not gone: its host may be down.
    """
    if page.state is State.DONE:
        return page.is_unchanged or page.content_hash.hex() == previous.content_hash
    if previous.state == State.REFUSED and page.state is State.REFUSED and page.status == previous.status:
        return True
    return page.state is State.REJECTED or may_pass(page)


def may_pass(page: Page) -> bool:
    """Whether a download failed for a reason that says nothing of the page: its host may be down."""
    return page.state is State.FAILED or page.status >= 500 or page.status in REST_STATUSES


def add_unchanged(changes: ChangeSet, lease: Lease, page: Page, previous: PreviousVisit) -> None:
    """Add the row of an unchanged page."""
    was_seen = page.state is State.DONE or (page.state is State.REFUSED and page.status == previous.status)
    seen_at = lease.leased_at if was_seen else previous.fetched_at
    validators = (page.etag or previous.etag, page.last_modified or previous.last_modified)
    changes.add(UnchangedPage(lease.id, page.reason or None, seen_at, *validators))


def add_change(
    changes: ChangeSet, lease: Lease, previous: PreviousVisit, links: dict[int, int], now: float
) -> dict[int, int]:
    """Add the rows of a changed page, which now has *links*; return the links that are not stored yet.

    Its previous state is kept with the time of the previous visit; see the tables `page_change` and `link_change`.
    """
    page_id, seen = lease.id, previous.fetched_at
    changes.add(
        PageChangeRow(page_id, now, seen, previous.state, previous.status, previous.content_hash),
        OutdatedBadLinks(page_id),
        ChangedLinks(page_id, [target for target, count in links.items() if previous.links.get(target) == count]),
    )
    for target, count in previous.links.items():
        if links.get(target) != count:
            changes.add(LinkChangeRow(page_id, target, now, seen, count))
    new = {target: count for target, count in links.items() if previous.links.get(target) != count}
    changes.add(*(LinkChangeRow(page_id, target, now, None, 0) for target in new if target not in previous.links))
    return new
