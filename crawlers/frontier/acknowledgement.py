"""Turns an acknowledged page into rows of the page and its links, discovered pages, and scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawlers.frontier import link_messages
from crawlers.frontier.link_messages import Details
from crawlers.frontier.revisits import add_change, add_unchanged, is_unchanged
from crawlers.frontier.values import Origin
from crawlers.items import LinkPlace, QueueSlot, State
from crawlers.ranking.page_orders import MAX_HOPS
from crawlers.ranking.page_scores import REVISIT
from crawlers.reasons import Reason
from crawlers.store.schema.message_tables import Message, MovedPage, ReceivedLink, TakenMessage
from crawlers.store.schema.tables import (
    LinkAnchorRow,
    LinkChangeRow,
    LinkTextRow,
    OutdatedBadLinks,
    PageLinks,
    SiteAvailability,
)
from crawlers.store.writing.page_rows import add_link_texts, add_page_rows
from crawlers.urls.resolution import variant_rank

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from crawlers.frontier.discovery import UrlDiscovery
    from crawlers.frontier.scoring import Scoring
    from crawlers.frontier.site_queue import SiteQueue
    from crawlers.frontier.sql_store import SqlFrontierStore
    from crawlers.frontier.values import Decision, Lease, PreviousVisit
    from crawlers.items import Anchors, Page, Target
    from crawlers.store.writing.change_set import ChangeSet


MAX_READ = 1_000_000  # pages, some 60 bytes each; texts of links to further pages are stored until the crawl ends


def redirects_to_variant(lease: Lease, page: Page) -> bool:
    """Return whether *page* redirects to another variant of its own URL, which is then requested instead."""
    target = page.moved_to
    return target is not None and target.key == lease.key and not _is_loop(lease, target)


def fail_loop(lease: Lease, page: Page) -> Page:
    """Return *page*; failed, and without a target, if it redirects in a loop."""
    if page.moved_to is None or not _is_loop(lease, page.moved_to):
        return page
    is_itself = page.moved_to.url == lease.url
    reason = Reason.REDIRECT_TO_ITSELF if is_itself else Reason.MANY_REDIRECTS.of(MAX_HOPS)
    return replace(page, state=State.FAILED, reason=reason, moved_to=None)


def _is_loop(lease: Lease, target: Target) -> bool:
    return target.url == lease.url or lease.hops >= MAX_HOPS


class Acknowledgements:
    """Writes pages into change sets.

    *site_by_name* returns a site by its name; None if it is not open. *elsewhere* contains the names of the sites of
    the crawl that this worker does not hold: links to them are sent as messages.
    """

    def __init__(
        self,
        discovery: UrlDiscovery,
        scoring: Scoring | None,
        site_by_name: Callable[[str], SiteQueue | None],
        store: SqlFrontierStore,
        elsewhere: Container[str],
    ) -> None:
        self._store = store
        self._elsewhere = elsewhere
        self._discovery = discovery
        self._scoring = scoring
        self._site_by_name = site_by_name
        self._known: dict[str, int] = {}  # see `add_page_rows`
        self._read: set[int] = set()  # numbers of pages that were read in this run, if texts of links are stored

    def record_page(
        self, site: SiteQueue, lease: Lease, decision: Decision, now: float, changes: ChangeSet
    ) -> tuple[int, Page]:
        """Add all rows of a page to *changes*, and update the scores.

        Returns the number of URLs that were never seen before, and the page as it was stored: redirects in a loop have
        failed.
        """
        page, previous, moved_to, new = fail_loop(lease, decision.page), lease.previous, None, 0
        if page is not decision.page:
            decision = replace(decision, page=page)
        sent: list[Message] = []
        if page.moved_to is not None:
            there = self._site_by_name(page.moved_to.site)
            if there is None and page.moved_to.site in self._elsewhere:
                sent.append(self._redirect(lease, page.moved_to, decision.slots, now))
            else:
                origin = Origin(lease.level, lease.hops + 1, lease.id, slots=decision.slots, follows=lease.id)
                numbers, new = self._discovery.discover(there or site, [(page.moved_to, 1)], origin, now, changes)
                moved_to = numbers[page.moved_to.key]
        is_the_same = previous is not None and is_unchanged(page, previous)
        if previous is not None and is_the_same:
            add_unchanged(changes, lease, page, previous)
            worth: Mapping[int, float] = previous.links
            sent += self._known_elsewhere(lease, previous, now)
        else:
            links, worth, found = self._discover(site, lease, decision, now, changes, sent)
            new += found
            if previous is not None:
                sent = self._numbered(sent, links, records_changes=decision.records_changes)
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
        is_news = page.state is State.DONE or (previous is None and page.state is not State.MOVED)
        if lease.level == 0 and is_news and not site.is_available:
            # In the same transaction as the page: a kill must not keep one and lose the other.
            site.is_available = page.state is State.DONE  # of several roots, one is enough
            changes.add(SiteAvailability(site.id, None if site.is_available else page.reason))
        if self._scoring is not None:
            # A vanished page has no links; it is revisited as its cash grows, because it may reappear.
            is_there = page.state is State.DONE or is_the_same or (lease.is_revisit and page.state is State.REFUSED)
            carried = self._score(self._scoring, lease, decision, moved_to, worth if is_there else None, len(sent))
            returns = self._scoring.scores.queue(lease.id) == REVISIT
            site.pending += returns
            site.revisiting += returns - lease.is_revisit
            sent = [message._replace(carried=carried) for message in sent]
        changes.add(*sent)
        changes.extend(decision.changes)
        return new, page

    def sites_of_links(self, site: SiteQueue, page: Page) -> list[SiteQueue]:
        """Return the sites on which *page*, of *site*, may have discovered URLs; *site* comes last."""
        names = {target.site for target, _ in page.cross_site_links}
        if page.moved_to is not None:
            names.add(page.moved_to.site)
        found = (self._site_by_name(name) for name in sorted(names))
        return [*(other for other in found if other is not None and other is not site), site]

    def _discover(
        self, site: SiteQueue, lease: Lease, decision: Decision, now: float, changes: ChangeSet, sent: list[Message]
    ) -> tuple[dict[int, int], Mapping[int, float], int]:
        """Return {page id: number of links to it}, {page id: value of the links}, and the number of new pages.

        Links to sites of others are added to *sent*.
        """
        page, slots = decision.page, decision.slots
        origin = Origin(lease.level + 1, 0, lease.id, slots=slots, places=decision.links.places)
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
        ids: dict[int, int] = {}  # of the targets, by key
        others: dict[int, tuple[Target, int]] = {}  # by key
        for queue, found in by_queue:
            if queue is None:
                for target, count in found:
                    if target.site in self._elsewhere:
                        first, before = others.get(target.key, (target, 0))
                        others[target.key] = (_better(first, target), before + count)
                continue
            numbers, found_new = self._discovery.discover(queue, found, origin, now, changes)
            new += found_new
            ids |= numbers
            for target, count in found:
                number = numbers[target.key]
                links[number] = links.get(number, 0) + count
        worth: Mapping[int, float] = links
        values: Mapping[int, float] = {}
        contexts: dict[int, list[int]] = {}
        if decision.links.values is not None:
            contexts = add_link_texts(changes, page.id, decision.links.texts, ids, others, self._known)
            values = decision.links.values
            worth = _worth(links, ids, values)
        elif page.anchors is not None:
            self._add_anchors(page, page.anchors, ids, changes)
        texts = page.anchors.texts(others) if page.anchors is not None and others else {}
        for key, (target, count) in others.items():
            details = Details(None, None, slots.get(key), texts.get(key), origin.places.get(key), contexts.get(key, ()))
            message = link_messages.link_message(self._store.crawl_id, lease.id, target, origin.level, 0, now, details)
            sent.append(message._replace(count=count, value=values.get(key, 0.0)))
        return links, worth, new

    # Links to sites of others -----------------------------------------------------------------------

    def _redirect(self, lease: Lease, target: Target, slots: Mapping[int, QueueSlot], now: float) -> Message:
        slot = slots.get(target.key)
        if slot is None and self._scoring is not None:
            slot = self._scoring.scores.passed_on(lease.id)
        details = Details(request=None, slot=slot, has_moved=True)
        return link_messages.link_message(
            self._store.crawl_id, lease.id, target, lease.level, lease.hops + 1, now, details
        )

    def _known_elsewhere(self, lease: Lease, previous: PreviousVisit, now: float) -> list[Message]:
        """Return the messages of an unchanged page: its links are stored, but carry cash again."""
        if self._scoring is None or not self._scoring.pays_again or not self._elsewhere:
            return []
        away = [number for number in previous.links if not self._scoring.holds(number)]
        found = self._store.waiting_elsewhere(self._scoring.scores.table, away) if away else ()
        crawl_id, level = self._store.crawl_id, lease.level + 1
        return [
            Message(crawl_id, site, lease.id, number, key, url, level, 0, 0, 0.0, 0.0, now, None)
            for number, site, key, url in found
            if site in self._elsewhere
        ]

    def _numbered(self, sent: Sequence[Message], links: dict[int, int], *, records_changes: bool) -> list[Message]:
        """Return the messages of a page that was visited before, with the numbers of the targets that are known.

        The links to these are added to *links*: they may have been stored at an earlier visit. Messages that say
        nothing new are left out.
        """
        pays_again = self._scoring is None or self._scoring.pays_again
        numbers = self._store.numbers([(message.site, message.key) for message in sent]) if sent else {}
        numbered = []
        for message in sent:
            number = numbers.get(message.key)
            if number is not None and message.count:
                links[number] = message.count
                message = message._replace(target_id=number, count=0)
                if not pays_again and link_messages.details_of(message).slot is None:
                    continue
            elif message.count and records_changes:
                details = link_messages.details_of(message)._replace(is_new=True)
                message = message._replace(details=link_messages.text_of(details))
            elif message.count:
                message = message._replace(count=0)
            numbered.append(message)
        return numbered

    def receive(self, site: SiteQueue, message: Message, now: float, changes: ChangeSet) -> None:
        """Take up a message to a page of *site*."""
        details, source_id = link_messages.details_of(message), message.source_id
        number = message.target_id
        if number is None:
            target = link_messages.target_of(message, details)
            slots = {message.key: QueueSlot(*details.slot)} if details.slot else {}
            places = {message.key: LinkPlace(*details.place)} if details.place is not None else {}
            origin = Origin(message.level, message.hops, source_id or None, details.request, slots, places)
            numbers, _ = self._discovery.discover(site, [(target, 1)], origin, now, changes)
            number = numbers[target.key]
        elif details.slot is not None and self._scoring is not None:
            self._scoring.queued(number, QueueSlot(*details.slot))
        changes.add(TakenMessage(message.id))
        if message.count:
            changes.add(ReceivedLink(source_id, number, message.id))
            if details.is_new:
                changes.add(LinkChangeRow(source_id, number, message.sent_at, None, 0))
        changes.add(*(LinkTextRow(source_id, number, context) for context in details.contexts))
        if details.anchor is not None:
            changes.add(LinkAnchorRow(source_id, number, details.anchor))
        if details.has_moved:
            changes.add(MovedPage(source_id, number))
        if self._scoring is not None:
            self._scoring.received(number, message.carried, message.value)

    def _add_anchors(self, page: Page, anchors: Anchors, ids: Mapping[int, int], changes: ChangeSet) -> None:
        """Add the texts of the links whose targets may turn out to be broken."""
        if len(self._read) < MAX_READ:
            self._read.add(page.id)
        read = self._read
        texts = anchors.texts([key for key, number in ids.items() if number not in read])
        changes.add(*[LinkAnchorRow(page.id, ids[key], text) for key, text in texts.items()])

    def _score(
        self,
        scoring: Scoring,
        lease: Lease,
        decision: Decision,
        moved_to: int | None,
        worth: Mapping[int, float] | None,
        elsewhere: int,
    ) -> float:
        """Update the scores; *worth* contains the values of the page's links, and is None if the page is gone.

        Returns what each of the messages to pages *elsewhere* carries.
        """
        carried = 0.0
        if worth is not None and decision.page.state is not State.REJECTED:
            carried = scoring.read(lease.id, worth, elsewhere)
        elif elsewhere:
            carried = scoring.moved_away(lease.id)
        elif moved_to is not None:
            scoring.record_alias(lease.id, moved_to)
        else:
            scoring.remove_page(lease.id)
        if decision.revisit_at is not None:
            scoring.scores.schedule_visit(lease.id)
        return carried


def _better(one: Target, other: Target) -> Target:
    """Return the better one of two variants of a URL."""
    return min(one, other, key=lambda target: (variant_rank(target), target.url))


def _worth(links: Iterable[int], ids: Mapping[int, int], values: Mapping[int, float]) -> dict[int, float]:
    """Return the greatest value of the links to each page; *ids* has its number, *values* the value, by key."""
    worth = dict.fromkeys(links, 0.0)
    for key, value in values.items():
        if key in ids:  # else it is on a site of another worker
            worth[ids[key]] = max(value, worth[ids[key]])
    return worth
