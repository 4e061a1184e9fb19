"""The rounds of a running crawl: what this worker reports to the others by the store, and what it takes up from them.

A round is one transaction, in the writer's thread. Its result is taken up in the thread of the crawl: claimed sites,
pulls of the budget, those of others for the site rule, and messages.
"""

from __future__ import annotations

import logging
from asyncio import sleep, wrap_future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from crawlers.errors import StoreError
from crawlers.workers.recent_rate import RecentRate
from crawlers.workers.sharing import BLOCK
from crawlers.workers.worker_status import WorkerStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from crawlers.crawl.policy import CrawlPolicy
    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.site_policies import SitePolicies
    from crawlers.workers.membership import RoundResult
    from crawlers.workers.message_tables import Message
    from crawlers.workers.site_claims import SiteClaims

logger = logging.getLogger(__name__)

MANY_SITES = 2**31 - 1  # that a worker would claim: how many it gets depends on the others
MESSAGES_AT_ONCE = 100  # of other workers; each takes as long as a link of a page


@dataclass(eq=False)
class WorkerRounds:
    """The rounds of a worker; the crawl counts in `leased` and `ended`, and sets `has_room`, between them.

    *is_idle* says whether this worker has nothing to fetch; *finds_sites* whether the crawl discovers sites, so that
    there is always room for more. A crawl that *ends_after* a time, in seconds since 1970, does not wait for polls that
    are due later.
    """

    session: CrawlSession
    policy: CrawlPolicy
    sites: SitePolicies
    claims: SiteClaims
    is_idle: Callable[[], bool]
    finds_sites: bool
    ends_after: float | None

    def __post_init__(self) -> None:
        self.is_stopping = False  # then this worker takes nothing more
        self.is_running = False  # a round
        self._has_budget = self.session.members.report.page_budget > 0
        self.has_room = False  # nothing could be leased although more downloads may run, since the last round
        self.leased = 0  # pages, since the last round
        self.ended = 0  # pages, of this process
        self._rate = RecentRate()

    @property
    def is_due(self) -> bool:
        """Whether it is time for a round: now and then, and soon if URLs wait for pulls of the budget."""
        return self.session.members.is_round_due(lacks_pulls=self._lacks_pulls)

    @property
    def _lacks_pulls(self) -> bool:
        last = self.session.members.last
        if not self._has_budget or not last.others or last.is_budget_exhausted or self.session.frontier.budget.has_room:
            return False
        return self.session.frontier.best_index(self.session.clock()) is not None

    def begin(self) -> None:
        """Have the first round, and wait for it. Raises `StoreError`."""
        self._apply(self._submit().result())

    async def run(self) -> None:
        """Have a round, and take up the messages of other workers. Raises `StoreError`."""
        self.is_running = True
        try:
            found = await wrap_future(self._submit())
            self._apply(found)
            await self._receive(found.messages)
        finally:
            self.is_running = False

    async def _receive(self, messages: Sequence[Message]) -> None:
        """Take up messages, a few at a time, so that the crawl does not stall. Raises `StoreError`."""
        for first in range(0, len(messages), MESSAGES_AT_ONCE):
            some = messages[first : first + MESSAGES_AT_ONCE]
            here = [one for one in some if self.sites.open_site_id(one.site) is not None]
            taken = await self.policy.receive(here, self.session.reader.run, self.session.clock())
            self.session.frontier.receive(taken, self.session.clock())
            await sleep(0)

    def _submit(self) -> Future[RoundResult]:
        members, frontier, now = self.session.members, self.session.frontier, self.session.clock()
        is_idle = not self.is_stopping and self.claims.are_all_open and self.is_idle()
        has_room = (self.has_room or self.finds_sites) and not members.last.idle  # others need free sites more
        takes = not self.is_stopping and (is_idle or has_room or not members.last.others)
        best_index = frontier.best_index(now)
        wanted_pulls = max(BLOCK, 2 * self.leased) if best_index is not None else 0  # it could not use them
        lacks_pulls = self._lacks_pulls
        limit = frontier.budget.limit(wanted_pulls) if members.last.others and self._has_budget else -1
        self.has_room, self.leased = False, 0
        report = members.report._replace(
            wanted_sites=MANY_SITES if takes else 0,
            wanted_pulls=wanted_pulls,
            limit=limit,
            leases=frontier.leases,
            index_share=frontier.budget.index_share(now),
            best_index=best_index,
            is_idle=is_idle,
            ends_after=self.ends_after,
            status=WorkerStatus(self._rate.at(now, self.ended), frontier.schedule.wait_counts()).to_json(),
        )
        return members.submit(self.session.writer, report, lacks_pulls=lacks_pulls)

    def _apply(self, found: RoundResult) -> None:
        self.session.members.record_round(found.round, found.took_s)
        self.claims.ahead_s = found.ahead_s
        self.claims.add_claimed(found.claimed)
        self.sites.refuse(found.refused)
        if found.parts is not None:
            self.session.frontier.apply_parts(found.parts, self.session.clock())
        self.session.frontier.learn(found.round.pulls)
        if self._has_budget:
            self.session.frontier.budget.grant(found.round.granted)
        if not self.is_stopping:
            self.claims.give_up_sources(found.round.idle, found.round.others + 1)
        if (reason := self.session.members.stop_reason) is not None and not self.is_stopping:
            self.is_stopping = True
            logger.info("Crawl %s was asked to stop", self.session.name)
            self.session.control.stop(reason)

    def ask_to_stop(self, reason: str) -> None:
        """Let all workers of the crawl stop for *reason*."""
        self.is_stopping = True
        with suppress(StoreError):  # then it is stopped anyway
            self.session.writer.run(partial(self.session.members.ask_to_stop, reason))
