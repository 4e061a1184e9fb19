"""Turns an acknowledged page into rows of the page and its links, discovered pages, and scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawlers.algorithms.ranking.page_orders import MAX_HOPS
from crawlers.algorithms.ranking.page_scores import REVISIT
from crawlers.frontier.protocols import Acknowledged
from crawlers.frontier.revisits import add_change, add_unchanged, is_unchanged
from crawlers.frontier.url_cache import id_of
from crawlers.items import State
from crawlers.storage.page_rows import add_analysis_rows, add_page_rows
from crawlers.storage.schema.tables import LinkAnchorRow, OutdatedBadLinks, PageLinks, SiteAvailability

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crawlers.frontier.discovery import UrlDiscovery
    from crawlers.frontier.protocols import Decision, Lease
    from crawlers.frontier.scoring import Scoring
    from crawlers.frontier.site_queue import SiteQueue
    from crawlers.items import Page, QueueSlot, Target
    from crawlers.storage.change_set import ChangeSet


MAX_READ = 1_000_000  # pages, some 60 bytes each; texts of links to further pages are stored until the crawl ends


def redirects_to_variant(lease: Lease, page: Page) -> bool:
    """Return whether *page* redirects to another variant of its own URL, which is then requested instead."""
    target = page.moved_to
    return target is not None and target.key == lease.key and not _is_loop(lease, target)


def _is_loop(lease: Lease, target: Target) -> bool:
    return target.url == lease.url or lease.hops >= MAX_HOPS


class Acknowledgements:
    """Writes pages into change sets. *site_by_name* returns a site by its name; None if the crawl does not have it."""

    def __init__(
        self,
        discovery: UrlDiscovery,
        scoring: Scoring | None,
        site_by_name: Callable[[str], SiteQueue | None],
    ) -> None:
        self._discovery = discovery
        self._scoring = scoring
        self._site_by_name = site_by_name
        self._read: set[int] = set()  # numbers of pages that were read in this run, if texts of links are stored

    def take(self, site: SiteQueue, lease: Lease, decision: Decision, now: float, changes: ChangeSet) -> Acknowledged:
        """Add all rows of a page to *changes*, and update the scores."""
        page, previous, moved_to, new = decision.page, lease.previous, None, 0
        if page.moved_to is not None and _is_loop(lease, page.moved_to):
            reason = "redirects to itself" if page.moved_to.url == lease.url else f"more than {MAX_HOPS} redirects"
            page = replace(page, state=State.FAILED, reason=reason)
        elif page.moved_to is not None:
            there = self._site_by_name(page.moved_to.site) or site
            moved_to, new = self._discovery.follow(there, lease, page.moved_to, now, changes, decision.slots)
        is_the_same = previous is not None and is_unchanged(page, previous)
        if previous is not None and is_the_same:
            add_unchanged(changes, lease, page, previous)
            worth: Mapping[int, float] = previous.links
        else:
            links, worth, found = self._discover(site, lease, page, decision.slots, now, changes)
            new += found
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
                attempts=lease.attempts + was_requested,
                fetched_at=lease.leased_at if was_requested else None,
                now=now,
                moved_to=moved_to,
            )
            site.counts[State.WAITING if previous is None else State(previous.state)] -= 1
            site.counts[page.state] = site.counts.get(page.state, 0) + 1
        is_news = page.state is State.DONE or (previous is None and page.state is not State.MOVED)
        if lease.level == 0 and is_news and not site.is_available:
            # In the same transaction as the page: a kill must not keep one and lose the other.
            site.is_available = page.state is State.DONE  # of several roots, one is enough
            changes.add(SiteAvailability(site.id, None if site.is_available else page.reason))
        if self._scoring is not None:
            # A vanished page has no links; it is revisited as its cash grows, because it may reappear.
            is_there = page.state is State.DONE or is_the_same or (lease.is_revisit and page.state is State.REFUSED)
            links_worth = worth if is_there else None
            self._score(self._scoring, site, lease, moved_to, links_worth, page, decision.revisit_at)
        changes.extend(decision.changes)
        return Acknowledged(new, page)

    def touched(self, site: SiteQueue, page: Page) -> list[SiteQueue]:
        """Return the sites on which *page*, of *site*, may have discovered URLs; *site* comes last."""
        names = {target.site for target, _ in page.cross_site_links}
        if page.moved_to is not None:
            names.add(page.moved_to.site)
        found = (self._site_by_name(name) for name in sorted(names))
        return [*(other for other in found if other is not None and other is not site), site]

    def _discover(
        self,
        site: SiteQueue,
        lease: Lease,
        page: Page,
        slots: Mapping[int, QueueSlot],
        now: float,
        changes: ChangeSet,
    ) -> tuple[dict[int, int], Mapping[int, float], int]:
        """Return {page id: number of links to it}, {page id: value of the links}, and the number of new pages."""
        level = lease.level + 1
        links: dict[int, int] = {}
        new = 0
        by_site: dict[str, list[tuple[Target, int]]] = {}
        for target, count in page.cross_site_links:
            by_site.setdefault(target.site, []).append((target, count))
        by_queue: list[tuple[SiteQueue | None, Sequence[tuple[Target, int]]]] = [
            (self._site_by_name(name), found) for name, found in by_site.items()
        ]
        if page.links:
            by_queue.insert(0, (site, page.links))
        ids: dict[int, int] = {}  # of the targets, by key, if their texts are stored
        for queue, found in by_queue:
            if queue is None:
                continue
            counts, found_new = self._discovery.discover(
                queue, found, level, 0, lease.id, now, changes, group_names=page.link_groups, slots=slots
            )
            new += found_new
            links.update(counts)
            if page.analysis is not None or page.anchors is not None:
                known = queue.seen.known([target.key for target, _ in found])
                ids.update((key, id_of(value)) for key, value in known.items())
        if page.analysis is None:
            if page.anchors is not None:
                self._add_anchors(page, page.anchors, ids, changes)
            return links, links, new
        add_analysis_rows(changes, page, page.analysis, ids)
        worth: dict[int, float] = dict.fromkeys(links, 0.0)
        for key, value in page.analysis.link_values.items():
            worth[ids[key]] = max(value, worth[ids[key]])
        return links, worth, new

    def _add_anchors(self, page: Page, anchors: Mapping[int, str], ids: Mapping[int, int], changes: ChangeSet) -> None:
        """Add the texts of the links whose targets may turn out to be broken."""
        if len(self._read) < MAX_READ:
            self._read.add(page.id)
        wanted = ((key, number) for key, number in ids.items() if number not in self._read)
        # A pipeline of the user may have added links that the page does not have.
        changes.add(*(LinkAnchorRow(page.id, number, anchors[key]) for key, number in wanted if key in anchors))

    def _score(
        self,
        scoring: Scoring,
        site: SiteQueue,
        lease: Lease,
        moved_to: int | None,
        worth: Mapping[int, float] | None,
        page: Page,
        revisit_at: float | None,
    ) -> None:
        """Update the scores; *worth* contains the values of the page's links, and is None if the page is gone."""
        if worth is not None and page.state is not State.REJECTED:
            scoring.read(lease.id, worth)
        elif moved_to is not None:
            scoring.moved(lease.id, moved_to)
        else:
            scoring.gone(lease.id)
        if revisit_at is not None:
            scoring.revisit(lease.id)
        returns = scoring.scores.queue(lease.id) == REVISIT
        site.pending += returns
        site.revisiting += returns - lease.is_revisit
