"""This process as one of the workers of a crawl: its rounds with the store, and what they say about the others.

A lone process is a worker, too: there is no second code path. The protocol is described in
docs/explanation/workers.md.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from crawlers.items import State
from crawlers.reasons import Reason
from crawlers.store.locks import is_free
from crawlers.store.schema.tables import EndedPage, PullRow
from crawlers.store.sites.site_rows import site_rows
from crawlers.workers import messages, workers
from crawlers.workers.order_parts import hand_out
from crawlers.workers.workers import PAUSE, STOP, Report, Round

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from sqlalchemy import Connection

    from crawlers.crawl.spec import CrawlSpec
    from crawlers.ranking.page_scores import PageScores
    from crawlers.store.database import Database
    from crawlers.store.reading.crawls import CrawlRow
    from crawlers.store.sites.site_rows import SiteRow
    from crawlers.store.writing.change_set import ChangeSet
    from crawlers.store.writing.writer import Writer
    from crawlers.workers.message_tables import Message
    from crawlers.workers.new_sites import SiteLimit
    from crawlers.workers.order_parts import StoredPart

ROUND_S = 1.0  # between two rounds
BUDGET_ROUNDS_PER_S = 12  # at most, of all workers of a crawl with a budget, to hear soon where the best sites are
PAUSE_TIMES = 100  # the pause after a quick round, in durations of the round, so that rounds take 1 % of the time
SOON_S = 0.1  # between two rounds of a worker that lacks pulls of the budget; twice as long after each that grants none
ROUNDS_PER_DEADLINE = 5  # at least, so that a slow round is no reason to be declared lost
MOST_MESSAGES = 5_000  # in a round; each is at most a new page
SILENT_ROUNDS = 2  # without a heartbeat, before the lock of another worker is tried


class RoundResult(NamedTuple):
    """The result of a round."""

    round: Round
    took_s: float
    claimed: list[SiteRow]
    ahead_s: float  # of our clock to that of the server
    messages: Sequence[Message] = ()  # to the sites that this worker holds
    parts: Mapping[int, StoredPart] | None = None  # of the pages of the crawl; None: they are not divided
    refused: Sequence[str] = ()  # sites that this worker discovered when the crawl had enough


class Membership:
    """A worker of a crawl, from `workers.workers.join` on.

    *row* is that with which it began; *scores* are those of the page order, if it has any. A worker that is silent for
    more than *deadline_s* is lost. *clock* is that of the crawl, which is never set.

    Methods that take a connection are called in the writer's thread.
    """

    def __init__(
        self,
        database: Database,
        row: CrawlRow,
        spec: CrawlSpec,
        scores: PageScores | None,
        site_limit: SiteLimit,
        deadline_s: float,
        clock: Callable[[], float],
    ) -> None:
        self.worker_id = row.worker_id
        self.report = Report(row.worker_id, row.id, spec.page_budget)  # one without contents
        self.after_pulls: Mapping[int, int] | None = None  # the last ones that the rules know; None: they need none
        self._database = database
        self._crawl_id = row.id
        self._deadline_s = deadline_s
        self._clock = clock
        self._site_limit = site_limit
        self._began_at = self._beat_at = clock()  # of the latest round, and of the latest that succeeded
        self.last = Round()  # the latest round that succeeded; before the first one, nothing is known of others
        self._lacked_pulls = False  # in the latest round
        self._has_indexes = False  # of sites, according to the latest report: only rules with indexes compare them
        self._soon_s = SOON_S
        self._fenced_at = 0.0  # when the latest transaction began
        self._took_s = 0.0  # by the latest round
        self._distribute = scores.hand_out if scores is not None and scores.is_shared else None
        self._gets_messages = spec.scope is not None  # links lead from one site to another
        self.is_divided = row.is_divided  # others work on the crawl, or did so before in this run

    @property
    def round_s(self) -> float:
        """The seconds between two rounds; with a budget and several workers, they are often fewer."""
        return min(ROUND_S, self._deadline_s / ROUNDS_PER_DEADLINE)

    def is_round_due(self, *, lacks_pulls: bool) -> bool:
        """Return whether it is time for a round of a worker that *lacks_pulls* of the budget, or does not."""
        pause_s = self.round_s
        if self.report.page_budget and self.last.others and self._has_indexes:
            pause_s = min(pause_s, max((1 + self.last.others) / BUDGET_ROUNDS_PER_S, PAUSE_TIMES * self._took_s))
        return self._clock() - self._began_at >= (min(self._soon_s, pause_s) if lacks_pulls else pause_s)

    def fence(self, connection: Connection, changes: ChangeSet) -> None:
        """Begin a transaction that writes *changes*. Raises `ClaimsLost` if this worker was declared lost."""
        self._fenced_at = self._clock()
        now = workers.server_time(connection)
        requested = sum(one.state != State.REJECTED for one in changes[EndedPage])
        workers.fence(connection, self.worker_id, now, len(changes[PullRow]), requested, idle_s=self._deadline_s)
        self._site_limit.apply(connection, changes)

    def submit(self, writer: Writer, report: Report, *, lacks_pulls: bool) -> Future[RoundResult]:
        """Begin a round with a *report*, made of `report`; call `record_round` with its result."""
        self._began_at = self._clock()
        self._lacked_pulls = lacks_pulls
        self._has_indexes = report.best_index not in (None, 0.0)
        report = report._replace(after_pulls=self.after_pulls)
        # A worker that was frozen itself can't tell whether the others were.
        is_regular = self._began_at - self._beat_at < self._deadline_s
        return writer.run(partial(self._exchange, report, self._deadline_s if is_regular else None))

    def send_heartbeat(self, writer: Writer) -> None:
        """Let the others know that this worker is alive, if its last transaction may be as old as a round."""
        if self.is_round_due(lacks_pulls=False):
            self._began_at = self._clock()
            writer.run(lambda _: None)  # its fence is the heartbeat

    def _exchange(self, report: Report, deadline_s: float | None, connection: Connection) -> RoundResult:
        now = workers.server_time(connection)
        ahead_s = self._clock() - now
        is_dead = partial(is_free, self._database)
        silent_s = SILENT_ROUNDS * self.round_s
        workers.lose_dead(connection, self._crawl_id, now, deadline_s, is_dead, self.worker_id, silent_s=silent_s)
        found = workers.exchange(connection, report, now)
        claimed = site_rows(connection, found.claimed, ahead_s) if found.claimed else []
        sent: Sequence[Message] = ()
        if self._gets_messages:
            sent = messages.of_worker(connection, self._crawl_id, self.worker_id, MOST_MESSAGES)
        parts: Mapping[int, StoredPart] | None = None
        if self._distribute is not None and (found.others or self.is_divided):
            parts = hand_out(connection, self._crawl_id, now, self.round_s, self._distribute)
        took_s = self._clock() - self._fenced_at
        return RoundResult(found, took_s, claimed, ahead_s, sent, parts, self._site_limit.take_refused())

    def record_round(self, found: Round, took_s: float) -> None:
        """Note the result of a round that took the writer *took_s* seconds."""
        self._beat_at = self._began_at
        self._took_s = took_s
        is_refused = self._lacked_pulls and found.granted <= self.last.granted
        self._soon_s = min(2 * self._soon_s, ROUND_S) if is_refused else SOON_S
        self.last = found
        self.is_divided = self.is_divided or found.others > 0
        if self.after_pulls is not None:
            self.after_pulls = found.last_pulls

    def ask_to_stop(self, reason: str, connection: Connection) -> None:
        """Let all workers of the crawl stop for *reason*."""
        workers.ask(connection, self._crawl_id, STOP, reason)

    def leave(self, connection: Connection) -> bool:
        """Give up everything; return whether this worker ends the crawl, as the last one. Raises `ClaimsLost`.

        Workers that died a moment ago do not count: nobody would be the last one.
        """
        now = workers.server_time(connection)
        is_dead = partial(is_free, self._database)
        workers.lose_dead(connection, self._crawl_id, now, None, is_dead, self.worker_id, waits=True)
        return workers.leave(connection, self.worker_id, now)

    # The others -------------------------------------------------------------------------------------

    @property
    def stop_reason(self) -> str | None:
        """Why somebody asked the workers of the crawl to stop; None if nobody did."""
        if self.last.control != STOP:
            return None
        return self.last.reason or Reason.SHUTDOWN

    @property
    def may_lease(self) -> bool:
        """Whether this worker may request anything: not while somebody asked the workers of the crawl to pause.

        If it could not reach the store for half of the deadline, others may soon hold its sites.
        """
        return self.last.control != PAUSE and self._clock() - self._beat_at <= self._deadline_s / 2
