"""Turns an acknowledged page into rows of the page and its links, discovered pages, and scores.

A page that was fetched before is compared with its previous visit: it is unchanged, has changed, or is gone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawlers.frontier.values import Origin
from crawlers.items import REVISIT, State
from crawlers.pages.retries import REST_STATUSES
from crawlers.store.schema.tables import (
    ChangedLinks,
    LinkAnchorRow,
    LinkChangeRow,
    LinkTextRow,
    OutdatedBadLinks,
    PageChangeRow,
    PageLinks,
    SiteAvailability,
    UnchangedPage,
)
from crawlers.store.writing.page_rows import add_contexts, add_page_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from crawlers.frontier.discovery import UrlDiscovery
    from crawlers.frontier.scoring import Scoring
    from crawlers.frontier.site_queue import SiteQueue
    from crawlers.frontier.values import Decision, Lease, OutgoingLinks, PreviousVisit
    from crawlers.items import Page, Target
    from crawlers.store.writing.change_set import ChangeSet


@dataclass(eq=False)
class Acknowledgements:
    """Writes pages into change sets."""

    discovery: UrlDiscovery
    scoring: Scoring | None
    _known: dict[str, int] = field(default_factory=dict, init=False)  # see `add_page_rows`

    def record_page(self, site: SiteQueue, lease: Lease, decision: Decision, sent: OutgoingLinks, now: float) -> int:
        """Add all rows of a page to those of *decision*, with what is *sent* to other workers, and update the scores.

        Returns the number of URLs that were never seen before.
        """
        page, changes, previous, moved_to, new = decision.page, decision.changes, lease.previous, None, 0
        if page.moved_to is not None and (there := self.discovery.schedule.by_name(page.moved_to.site)) is not None:
            origin = Origin(lease.level, lease.hops + 1, lease.id, hints=decision.hints, follows=lease.id)
            numbers, new = self.discovery.discover(there, [(page.moved_to, 1)], origin, now, changes)
            moved_to = numbers[page.moved_to.key]
        is_the_same = previous is not None and is_unchanged(page, previous)
        if previous is not None and is_the_same:
            add_unchanged(changes, lease, page, previous)
            link_values: Mapping[int, float] = previous.links
        else:
            links, link_values, found = self._discover(site, lease, decision, now)
            new += found
            links |= sent.known
            if previous is not None and decision.records_changes:
                links = add_change(changes, lease, previous, links, now)
            elif previous is not None:
                links = {}
                changes.add(OutdatedBadLinks(lease.id))
            if links:
                changes.add(PageLinks(lease.id, links))
            was_requested = page.state is not State.REJECTED
            add_page_rows(
                changes,
                page,
                self._known,
                attempts=lease.attempts + was_requested,
                fetched_at=lease.leased_at if was_requested else None,
                now=now,
                moved_to=moved_to,
            )
            site.counts[State.WAITING if previous is None else State(previous.state)] -= 1
            site.counts[page.state] = site.counts.get(page.state, 0) + 1
        tells_of_site = page.state is State.DONE or (previous is None and page.state is not State.MOVED)
        if lease.level == 0 and tells_of_site and not site.is_available:
            # In the same transaction as the page: a kill must not keep one and lose the other.
            site.is_available = page.state is State.DONE  # of several roots, one is enough
            changes.add(SiteAvailability(site.id, None if site.is_available else page.reason))
        messages = sent.messages
        if self.scoring is not None:
            # A vanished page has no links; it is revisited as its cash grows, because it may reappear.
            is_there = page.state is State.DONE or is_the_same or (lease.is_revisit and page.state is State.REFUSED)
            carried = self._score(
                self.scoring, lease, decision, moved_to, link_values if is_there else None, len(messages)
            )
            returns = self.scoring.scores.queue(lease.id) == REVISIT
            site.revisiting += returns - (previous is not None)
            messages = [message._replace(carried=carried) for message in messages]
        if messages:
            changes.add(*messages)
        return new

    def _discover(
        self, site: SiteQueue, lease: Lease, decision: Decision, now: float
    ) -> tuple[dict[int, int], Mapping[int, float], int]:
        """Return {page id: number of links to it}, {page id: value of the links}, and the number of new pages."""
        page, changes = decision.page, decision.changes
        origin = Origin(lease.level + 1, 0, lease.id, hints=decision.hints, places=decision.links.places)
        links: dict[int, int] = {}
        new = 0
        across: dict[str, list[tuple[Target, int]]] = {}
        for target, count in page.cross_site_links:
            across.setdefault(target.site, []).append((target, count))
        by_site = [(site, page.links)]
        for name, its in across.items():
            if (there := self.discovery.schedule.by_name(name)) is not None:
                by_site.append((there, its))
        ids: dict[int, int] = {}  # of the targets, by key
        for there, found in by_site:
            numbers, found_new = self.discovery.discover(there, found, origin, now, changes)
            new += found_new
            ids |= numbers
            for target, count in found:
                number = numbers[target.key]
                links[number] = links.get(number, 0) + count
        link_values: Mapping[int, float] = links
        if decision.links.values is not None:
            contexts = add_contexts(changes, decision.links.texts, ids, self._known)
            changes.add(*(LinkTextRow(page.id, ids[key], context) for key, context in contexts))
            link_values = _values_of(links, ids, decision.links.values)
        elif page.anchors:
            changes.add(*[LinkAnchorRow(page.id, ids[key], text) for key, text in page.anchors.items() if key in ids])
        return links, link_values, new

    def _score(
        self,
        scoring: Scoring,
        lease: Lease,
        decision: Decision,
        moved_to: int | None,
        link_values: Mapping[int, float] | None,
        elsewhere: int,
    ) -> float:
        """Update the scores; *link_values* contains the values of the page's links, and is None if the page is gone.

        Returns what each of the messages to pages *elsewhere* carries.
        """
        carried, scores = 0.0, scoring.scores
        changed: Collection[int] = ()
        if link_values is not None and decision.page.state is not State.REJECTED:
            carried = scores.carries(lease.id, link_values, elsewhere) if elsewhere else 0.0
            changed = scores.fetched(lease.id, link_values, elsewhere)
        elif elsewhere:
            carried = scores.moved_away(lease.id)
        elif moved_to is not None:
            changed = scores.record_alias(lease.id, moved_to)
        else:
            scores.remove_page(lease.id)
        if decision.revisit_at is not None:
            scores.schedule_visit(lease.id)
        scoring.note([lease.id, *changed])
        return carried


def _values_of(links: Iterable[int], ids: Mapping[int, int], values: Mapping[int, float]) -> dict[int, float]:
    """Return the greatest value of the links to each page; *ids* has its number, *values* the value, by key."""
    link_values = dict.fromkeys(links, 0.0)
    for key, value in values.items():
        if key in ids:  # else it is on a site of another worker
            link_values[ids[key]] = max(value, link_values[ids[key]])
    return link_values


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
