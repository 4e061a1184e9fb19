"""The claims of a worker that shares its crawl: its rounds with the store, and what it gives up to others.

A round is one transaction, in the writer's thread: a report, and what others reported. Its result is taken up in the
thread of the crawl: claimed sites, links, pulls of the budget, and those of others for the site rule. Links to pages of
sites that others hold, or nobody, are messages, written in the transaction of the page with the link, and deleted in
the one that stores the link. The protocol is described in docs/explanation/workers.md.
"""

from __future__ import annotations

import json
from asyncio import sleep, wrap_future
from collections import deque
from functools import partial
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from crawlers.crawl.held_sites import SITES_AT_ONCE
from crawlers.frontier.acknowledgement import is_unchanged
from crawlers.frontier.values import IncomingLink, Origin, OutgoingLinks
from crawlers.items import Hint, LinkPlace, Target
from crawlers.store import worker_rows
from crawlers.store.schema.message_rows import NO_PAGE, Message, MovedPage, ReceivedLink, TakenMessage
from crawlers.store.schema.tables import LinkAnchorRow, LinkChangeRow, LinkTextRow
from crawlers.store.sites.site_opening import site_rows
from crawlers.store.streaming import AMONG
from crawlers.store.worker import ROUND_S
from crawlers.store.worker_rows import Round, Wait
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.page_rows import add_contexts
from crawlers.urls.resolution import variant_rank
from crawlers.workers import exchange
from crawlers.workers.exchange import BLOCK, Report, to_give

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from sqlalchemy import Connection

    from crawlers.crawl.held_sites import HeldSites
    from crawlers.crawl.open_sites import OpenSites
    from crawlers.crawl.run import Run
    from crawlers.crawl.session import CrawlSession
    from crawlers.frontier.frontier import Frontier
    from crawlers.frontier.site_queue import SiteQueue
    from crawlers.frontier.values import Decision, Lease
    from crawlers.store.database import Database
    from crawlers.store.reading.importance import StoredPart
    from crawlers.store.schema.rows import Row
    from crawlers.store.sites.site_opening import SiteRow

_WAITING = """
    SELECT p.id, site.site, p.key, p.url FROM page AS p JOIN {table} AS s ON s.page_id = p.id
    JOIN site ON site.id = p.site_id WHERE site.is_open AND s.queue >= 0 AND p.id"""


class Details(NamedTuple):
    """What few messages contain."""

    normalized: str | None = None  # of the target, if it differs from the URL
    request: str | None = None
    hint: Hint | None = None  # for the target
    anchor: str | None = None  # text of the first link, if it is stored
    place: Sequence[str] | None = None  # what the page shows of the link, if the order learns from links
    contexts: Sequence[int] = ()  # numbers of the texts of the links
    is_new: bool = False  # the page did not have the link when it was last visited
    has_moved: bool = False  # the page redirects to the target


def link_message(
    crawl_id: int, source_id: int, target: Target, level: int, hops: int, now: float, details: Details
) -> Message:
    """Return the message that a page leads to *target*; it carries no links and nothing else yet."""
    if target.normalized != target.url:
        details = details._replace(normalized=target.normalized)
    where = (target.key, target.url, level, hops)
    return Message(crawl_id, target.site, source_id, None, *where, 0, 0.0, 0.0, now, text_of(details))


def root_message(crawl_id: int, target: Target, hint: Hint | None, now: float) -> Message:
    """Return the message that *target*, on level 0, is to be fetched; no page of the crawl has a link to it."""
    return link_message(crawl_id, NO_PAGE, target, 0, 0, now, Details(hint=hint))


def text_of(details: Details) -> str | None:
    """Return *details* as JSON; None if there are none."""
    given = {name: one for name, one in details._asdict().items() if one or one == ""}
    return json.dumps(given) if given else None


def details_of(message: Message) -> Details:
    """Return the details of a message."""
    return Details(**json.loads(message.details)) if message.details else Details()


class SentLinks:
    """Makes the messages of pages, which the *frontier* acknowledges, to the sites that are not open in it."""

    def __init__(self, frontier: Frontier, database: Database) -> None:
        self._frontier = frontier
        self._scoring = frontier.scoring
        self._database = database
        self._crawl_id = frontier.store.crawl_id

    def of_page(self, lease: Lease, decision: Decision, now: float) -> OutgoingLinks:
        """Return what the page of *decision* says to other workers; the numbers of texts are added to its changes."""
        previous = lease.previous
        if previous is not None and is_unchanged(decision.page, previous):
            return OutgoingLinks(list(self._again(lease, previous.links, now)))
        messages = [*self._redirect(lease, decision, now), *self._links(lease, decision, now)]
        return OutgoingLinks(messages) if previous is None or not messages else self._numbered(messages, decision)

    def _is_away(self, site: str) -> bool:
        return self._frontier.schedule.by_name(site) is None

    def _redirect(self, lease: Lease, decision: Decision, now: float) -> Iterator[Message]:
        target = decision.page.moved_to
        if target is not None and self._is_away(target.site):
            hint = decision.hints.get(target.key)
            if hint is None and self._scoring is not None:
                hint = self._scoring.scores.passed_on(lease.id)
            details = Details(hint=hint, has_moved=True)
            yield link_message(self._crawl_id, lease.id, target, lease.level, lease.hops + 1, now, details)

    def _links(self, lease: Lease, decision: Decision, now: float) -> Iterator[Message]:
        page, places, values = decision.page, decision.links.places, decision.links.values or {}
        found: dict[int, tuple[Target, int]] = {}  # by key
        for target, count in page.cross_site_links:
            if self._is_away(target.site):
                first, before = found.get(target.key, (target, 0))
                best = min(first, target, key=lambda one: (variant_rank(one), one.url))
                found[target.key] = best, before + count
        contexts: dict[int, list[int]] = {}
        for key, number in add_contexts(decision.changes, decision.links.texts, found, {}):
            contexts.setdefault(key, []).append(number)
        for key, (target, count) in found.items():
            of_link = (decision.hints.get(key), page.anchors.get(key), places.get(key), contexts.get(key, ()))
            details = Details(None, None, *of_link)
            message = link_message(self._crawl_id, lease.id, target, lease.level + 1, 0, now, details)
            yield message._replace(count=count, value=values.get(key, 0.0))

    def _again(self, lease: Lease, links: Collection[int], now: float) -> Iterator[Message]:
        """Yield the messages of an unchanged page: its *links* are stored, but carry cash again."""
        if self._scoring is None or not self._scoring.scores.is_shared:
            return
        away = [number for number in links if not self._scoring.holds(number)]
        statement = _WAITING.format(table=self._scoring.scores.table) + AMONG[self._database.engine.dialect.name]
        for number, site, key, url in self._database.rows(text(statement), ids=json.dumps(away)) if away else ():
            if self._is_away(site):
                where = (site, lease.id, number, key, url, lease.level + 1, 0)
                yield Message(self._crawl_id, *where, 0, 0.0, 0.0, now, None)

    def _numbered(self, sent: Sequence[Message], decision: Decision) -> OutgoingLinks:
        """Return the messages of a page that was visited before, with the numbers of the targets that are known.

        Links to these may have been stored at an earlier visit. Messages that say nothing new are left out.
        """
        pays_again = self._scoring is None or self._scoring.scores.is_shared
        numbers = self._frontier.store.numbers([(message.site, message.key) for message in sent])
        known: dict[int, int] = {}
        numbered = []
        for message in sent:
            number = numbers.get(message.key)
            if number is not None and message.count:
                known[number] = message.count
                message = message._replace(target_id=number, count=0)
                if not pays_again and details_of(message).hint is None:
                    continue
            elif message.count and decision.records_changes:
                details = details_of(message)._replace(is_new=True)
                message = message._replace(details=text_of(details))
            elif message.count:
                message = message._replace(count=0)
            numbered.append(message)
        return OutgoingLinks(numbered, known)


def incoming(message: Message) -> IncomingLink:
    """Return the link of a message."""
    details = details_of(message)
    target = Target(message.url, details.normalized or message.url, message.key, message.site)
    hint = tuple(details.hint) if details.hint is not None else None
    place = LinkPlace(*details.place) if details.place is not None else None
    return IncomingLink(message, target, hint, place, details.request)


def receive(frontier: Frontier, links: Iterable[IncomingLink], now: float) -> None:
    """Let the *frontier* take up *links*, in this order; those to sites that are not open are ignored."""
    changes = ChangeSet()
    for link in links:
        if (site := frontier.schedule.by_name(link.target.site)) is not None:
            changes.add(*_rows(link.message, _target_id(frontier, site, link, now, changes)))
    frontier.submit(changes, now)


def _target_id(frontier: Frontier, site: SiteQueue, link: IncomingLink, now: float, changes: ChangeSet) -> int:
    """Take up a *link* to a page of an open *site*; return the number of that page."""
    key, source, number, scoring = link.target.key, link.message, link.message.target_id, frontier.scoring
    if number is None:
        hints = {key: link.hint} if link.hint is not None else {}
        places = {key: link.place} if link.place is not None else {}
        origin = Origin(source.level, source.hops, source.source_id or None, link.request, hints, places)
        number = frontier.discovery.discover(site, [(link.target, 1)], origin, now, changes)[0][key]
    elif link.hint is not None and scoring is not None:
        scoring.queued(number, link.hint)
    if scoring is not None:
        scoring.note(scoring.scores.received(number, source.carried, source.value))
    return number


def _rows(message: Message, number: int) -> Iterator[Row]:
    """Yield the rows by which a message to the page with that *number* is taken up."""
    details, source_id = details_of(message), message.source_id
    yield TakenMessage(message.id)
    if message.count:
        yield ReceivedLink(source_id, number, message.id)
        if details.is_new:
            yield LinkChangeRow(source_id, number, message.sent_at, None, 0)
    for context in details.contexts:
        yield LinkTextRow(source_id, number, context)
    if details.anchor is not None:
        yield LinkAnchorRow(source_id, number, details.anchor)
    if details.has_moved:
        yield MovedPage(source_id, number)


BUDGET_ROUNDS_PER_S = 12  # at most, of all workers of a crawl with a budget, to hear soon where the best sites are
PAUSE_TIMES = 100  # the pause after a quick round, in durations of the round, so that rounds take 1 % of the time
SOON_S = 0.1  # between two rounds of a worker that lacks pulls of the budget; twice as long after each that grants none
MANY_SITES = 2**31 - 1  # that a worker would claim: how many it gets depends on the others
MOST_MESSAGES = 5_000  # in a round; each is at most a new page
MESSAGES_AT_ONCE = 100  # of other workers; each takes as long as a link of a page
GIVING_ROUNDS = 2  # until the others have claimed what was given up, and no longer say that they have nothing to do


class _Result(NamedTuple):
    """The result of a round."""

    round: Round
    took_s: float
    claimed: Sequence[SiteRow]
    ahead_s: float  # of our clock to that of the server
    messages: Sequence[Message]  # to the sites that this worker holds
    parts: Mapping[int, StoredPart] | None  # of the pages of the crawl; None: they are not divided


class Shared:
    """The claims of one of several workers; those of a lone one become these as they are.

    *is_idle* says whether this worker has nothing to fetch. A crawl that *ends_after* a time, in seconds since 1970,
    does not wait for revisits that are due later.
    """

    is_shared = True

    def __init__(
        self,
        session: CrawlSession,
        mission: Run,
        sites: OpenSites,
        held: HeldSites,
        is_idle: Callable[[], bool],
        ends_after: float | None,
    ) -> None:
        self._session = session
        self._worker = session.worker
        self._frontier = session.frontier
        self._mission = mission
        self._sites = sites
        self._held = held
        self._is_idle = is_idle
        self._links = SentLinks(session.frontier, session.database)
        self._ends_after = ends_after
        self.last = Round()
        self.is_divided = session.row.is_divided
        self._budget = session.spec.page_budget
        self._finds_sites = session.spec.scope is not None  # so there is always room for more, and links lead to them
        scores = session.order.scores
        self._hand_out = scores.hand_out if scores is not None and scores.is_shared else None
        self._lacked_pulls = False  # in the latest round
        self._has_indexes = False  # of sites, according to the latest report: only rules with indexes compare them
        self._soon_s = SOON_S
        self._took_s = 0.0  # by the latest round
        self._claimed: deque[list[SiteRow]] = deque()  # by source, those that are not open yet
        self._is_opening = False
        self._parting: set[int] = set()  # sources that are given up when nothing of them is in flight
        self._pause_rounds = 0  # before more is given up

    # Rounds -----------------------------------------------------------------------------------------

    @property
    def is_due(self) -> bool:
        """Whether it is time for a round: now and then, and soon if URLs wait for pulls of the budget."""
        pause_s = self._worker.round_s
        if self._budget and self.last.others and self._has_indexes:
            pause_s = min(pause_s, max((1 + self.last.others) / BUDGET_ROUNDS_PER_S, PAUSE_TIMES * self._took_s))
        return self._worker.is_due(min(self._soon_s, pause_s) if self._lacks_pulls else pause_s)

    @property
    def _lacks_pulls(self) -> bool:
        if not self._budget or not self.last.others or self.last.is_budget_exhausted or self._frontier.budget.has_room:
            return False
        return self._frontier.best_index(self._session.clock()) is not None

    def begin(self) -> None:
        self._apply(self._submit().result())

    async def round(self) -> None:
        found = await wrap_future(self._submit())
        self._apply(found)
        await self._receive(found.messages)

    def _submit(self) -> Future[_Result]:
        worker, frontier, last, now = self._worker, self._frontier, self.last, self._session.clock()
        is_idle = not worker.is_stopping and self.are_all_open and self._is_idle()
        has_room = (worker.has_room or self._finds_sites) and not last.idle  # others need free sites more
        takes = not worker.is_stopping and (is_idle or has_room or not last.others)
        best_index = frontier.best_index(now)
        wanted_pulls = max(BLOCK, 2 * worker.leased) if best_index is not None else 0  # it could not use them
        self._lacked_pulls, self._has_indexes = self._lacks_pulls, best_index not in (None, 0.0)
        report = Report(
            worker.id,
            worker.crawl_id,
            self._budget,
            wanted_sites=MANY_SITES if takes else 0,
            wanted_pulls=wanted_pulls,
            limit=frontier.budget.limit(wanted_pulls) if last.others and self._budget else -1,
            leases=len(frontier.leases),
            index_share=frontier.budget.index_share(now),
            best_index=best_index,
            is_idle=is_idle,
            after_pulls=self._session.last_pulls,
            ends_after=self._ends_after,
            status=worker.status(frontier.schedule.wait_counts()),
        )
        worker.begin_round()
        return self._session.writer.run(partial(self._exchange, report))

    def _exchange(self, report: Report, connection: Connection) -> _Result:
        now, worker = worker_rows.server_time(connection), self._worker
        ahead_s = self._session.clock() - now
        worker.hold(is_alone=not self.last.others)
        worker.lose_others(connection)
        found = exchange.exchange(connection, report, now)
        claimed = site_rows(connection, found.claimed, ahead_s) if found.claimed else []
        sent: Sequence[Message] = ()
        if self._finds_sites:
            sent = exchange.links_to(connection, worker.crawl_id, worker.id, MOST_MESSAGES)
        parts = None
        if self._hand_out is not None and (found.others or self.is_divided):
            parts = exchange.hand_out(connection, worker.crawl_id, now, worker.round_s, self._hand_out)
        took_s = self._session.clock() - worker.fenced_at
        return _Result(found, took_s, claimed, ahead_s, sent, parts)

    def _apply(self, result: _Result) -> None:
        found, now = result.round, self._session.clock()
        self._worker.end_round()
        self._took_s = result.took_s
        is_refused = self._lacked_pulls and found.granted <= self.last.granted
        self._soon_s = min(2 * self._soon_s, ROUND_S) if is_refused else SOON_S
        self.last = found
        self.is_divided = self.is_divided or found.others > 0
        if self._session.last_pulls is not None:
            self._session.last_pulls = found.last_pulls
        self._held.ahead_s = result.ahead_s
        self._add_claimed(result.claimed)
        if result.parts is not None and self._frontier.scoring is not None:
            self._frontier.scoring.apply_parts(result.parts)
            self._frontier.submit(ChangeSet(), now)
        self._frontier.learn(found.pulls)
        if self._budget:
            self._frontier.budget.grant(found.granted)
        if not self._worker.is_stopping:
            self._give_up_sources(found.idle, found.others + 1)

    async def _receive(self, messages: Sequence[Message]) -> None:
        """Take up messages, a few at a time, so that the crawl does not stall. Raises `StoreError`."""
        for first in range(0, len(messages), MESSAGES_AT_ONCE):
            some = messages[first : first + MESSAGES_AT_ONCE]
            here = [incoming(one) for one in some if self._sites.open_site_id(one.site) is not None]
            links = await self._mission.receive(here, self._session.clock())
            receive(self._frontier, links, self._session.clock())
            await sleep(0)

    def links_of(self, lease: Lease, decision: Decision, now: float) -> OutgoingLinks:
        return self._links.of_page(lease, decision, now)

    def roots(self, targets: Iterable[Target], hint: Hint | None, now: float) -> Iterable[Row]:
        return [root_message(self._worker.crawl_id, target, hint, now) for target in targets]

    # Claimed sites ----------------------------------------------------------------------------------

    @property
    def are_all_open(self) -> bool:
        return not self._claimed

    def _add_claimed(self, rows: Sequence[SiteRow]) -> None:
        by_source: dict[int, list[SiteRow]] = {}
        for row in rows:
            by_source.setdefault(row.source_id or row.id, []).append(row)
        held = {row.id for its in (*self._claimed, rows) for row in its}
        for source, its in by_source.items():
            # Else they are new sites of a source that was given up after the claim, together with them.
            if source in self._sites.rows or source in held:
                self._claimed.append(its)

    async def open(self) -> None:
        """Open the claimed sites, some sources at a time, read in another thread. Raises `StoreError`."""
        if self._is_opening:
            return
        self._is_opening = True
        try:
            while self._claimed:
                some = list(islice(self._claimed, SITES_AT_ONCE))
                loaded, take_up = await self._session.reader.run(partial(self._held.load, some))
                opened = list(islice(self._claimed, len(loaded)))
                if any(one is not other for one, other in zip_longest(opened, loaded)):
                    continue  # some were given up in the meantime
                take_up()
                for rows in opened:
                    self._claimed.popleft()
                    if (source := self._sites.source(rows[0].id)) in self._parting:
                        self._pause(source)
        finally:
            self._is_opening = False

    # What is given up -------------------------------------------------------------------------------

    def _give_up_sources(self, idle: int, active: int) -> None:
        """Give up some sources, if *idle* of the *active* workers have nothing to do. Raises `StoreError`."""
        self._pause_rounds = max(0, self._pause_rounds - 1)
        if not idle or self._pause_rounds or self._parting:
            return
        sources, busy = self._waiting_sources(), self._sites.fetching
        free = (source for source in sources if busy.isdisjoint(self._sites.sites_of(source)))
        for source in [*islice(free, to_give(len(sources), idle, active))]:
            self._pause(source)
            self._parting.add(source)
            self._release_if_idle(source)
        self._pause_rounds = GIVING_ROUNDS

    def _waiting_sources(self) -> list[int]:
        """Return the sources of which something waits: first those of which nothing is leased, the idlest first."""
        waiting = [site for site in self._frontier.schedule.sites.values() if site.is_waiting]
        waiting.sort(key=lambda site: (site.gate.in_flight > 0, site.gate.asked_at))
        return [*dict.fromkeys(self._sites.source(site.id) for site in waiting)]

    def _pause(self, source: int) -> None:
        for site_id in self._sites.sites_of(source):
            self._frontier.schedule.pause(site_id, wait=Wait.RESPONSE)
            self._held.trials.forget_site(site_id)

    def release(self, site_id: int) -> None:
        if self._parting and (source := self._sites.source(site_id)) in self._parting:
            self._release_if_idle(source)

    def _release_if_idle(self, source: int) -> None:
        its = self._sites.sites_of(source)
        if any(self._frontier.site(site_id).gate.in_flight for site_id in its):
            return
        self._parting.discard(source)
        # New sites of the source may have been claimed, and are free with it.
        self._claimed = deque(rows for rows in self._claimed if (rows[0].source_id or rows[0].id) != source)
        self._held.close(source, its)
