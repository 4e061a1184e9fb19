"""The downloads of a crawl as pulls of its site rule: their rewards, and what this worker may still pull.

Every download is a pull, whatever its result; a URL that was never requested costs no pull. Where rewards are
counted, each pull is a row, written together with its page: when a crawl resumes, its rule receives them again
and chooses as if the crawl had never stopped. The page budget belongs to the crawl; each of its workers is granted
parts of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crawlers.bandits.arms import NO_PATIENCE, Patience
from crawlers.store.schema.tables import CountedKeyRow, PullRow

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from crawlers.bandits.site_rules import SiteRule
    from crawlers.frontier.site_queue import SiteQueue
    from crawlers.frontier.values import Lease, Reward
    from crawlers.store.writing.change_set import ChangeSet
    from crawlers.store.writing.pulls import Pull


UNLIMITED = -1


class PullBudget:
    """Reports every pull to *rule*, and to what divides the downloads of its site among queues.

    *page_budget* 0 means no limit; with one, nothing may be pulled before the first `grant`. With *records* pulls are
    written to the store, as those of the worker *worker_id*. With a budget, *patience* says whether the crawl waits for
    good sites. Without one, all pages are read sooner or later: waiting would only cost time.
    """

    def __init__(
        self,
        rule: SiteRule,
        page_budget: int,
        patience: Patience = NO_PATIENCE,
        *,
        records: bool,
        worker_id: int | None = None,
    ) -> None:
        self.rule = rule
        self._page_budget = page_budget
        self._patience = patience
        # Whether the crawl may wait for better sites; a rule that does not compare sites has none.
        self.waits = page_budget > 0 and patience.waits and (rule.has_index or rule.weighs_pages)
        self.records = records
        self.worker_id = worker_id
        self._granted = 0 if page_budget else UNLIMITED
        self._in_flight = 0
        self._ended = 0
        self._learnt = 0  # pulls of earlier runs and of other workers
        self._known_before = 0  # those of them that were learnt before the first pull was chosen
        self._began_at: float | None = None  # when the first pull of this run was chosen

    @property
    def has_room(self) -> bool:
        """Whether what was granted allows another pull now, besides those in flight."""
        return self._granted == UNLIMITED or self._ended + self._in_flight < self._granted

    @property
    def is_exhausted(self) -> bool:
        """Whether what is granted is used up, without counting pulls in flight, which may be cancelled."""
        return self._granted != UNLIMITED and self._granted <= self._ended

    def grant(self, total: int) -> None:
        """Allow *total* pulls of this worker, those before included; -1: any number. Less than before has no effect."""
        if self._granted != UNLIMITED:
            self._granted = UNLIMITED if total == UNLIMITED else max(self._granted, total)

    def limit(self, block: int) -> int:
        """Allow at most *block* further pulls, besides those that ended or are in flight; return the total allowed."""
        most = self._ended + self._in_flight + block
        self._granted = most if self._granted == UNLIMITED else min(self._granted, most)
        return self._granted

    def patient_until(self, now: float) -> float:
        """Return the time until which the crawl waits for good sites if no further pull starts; minus infinity: never.

        *now* is the time of the choice.
        """
        if not self.waits:
            return -math.inf
        if self._began_at is None:
            self._began_at = now
        left_at_first = max(1, self._page_budget - self._known_before)
        started = self._ended + self._in_flight + self._learnt - self._known_before
        return self._patience.ends_at(self._began_at, started / left_at_first)

    def index_share(self, now: float) -> float:
        """Return the share of the best index that a site needs to be fetched from now, in [0, 1]; 0: any site may be.

        It is 0 unless the crawl has a budget, waits for better sites, and is not behind the pace of its time limit.
        """
        is_hurried = self._began_at is not None and now >= self.patient_until(now)
        return 0.0 if is_hurried or not self.waits else self._patience.index_share

    def awaited_until(self, now: float) -> float:
        """Return the time until which a crawl that waits does so for a site of which a pull starts *now*."""
        return now + self._patience.longest_s

    def must_wait(self, arm: Hashable, now: float) -> bool:
        """Return whether to wait for better sites, or for results, rather than to choose the awake site *arm*."""
        return now < self.patient_until(now) and not self.rule.is_close_to_best(arm, self._patience.index_share)

    def learn(self, pulls: Iterable[Pull]) -> int:
        """Report pulls of earlier runs or of other workers to the site rule; return their number.

        *pulls* are in the order in which they ended, whether their sites are open or not. The shares of a site's
        queues receive them when the site is opened.
        """
        before = self._learnt
        for pull in pulls:
            self.rule.record_pull(pull.site_id)
            self.rule.record_reward(pull.site_id, pull.reward)
            self._learnt += 1
        if self._began_at is None:
            self._known_before = self._learnt
        return self._learnt - before

    @property
    def has_pulled(self) -> bool:
        """Whether any pull has ended since the frontier was created."""
        return self._ended > 0

    def record_pull(self, site: SiteQueue, lease: Lease) -> None:
        self._in_flight += 1
        self.rule.record_pull(site.id)
        if site.shares is not None:
            site.shares.record_request(lease.queue)

    def record_reward(self, site: SiteQueue, lease: Lease, reward: Reward, now: float, changes: ChangeSet) -> None:
        """End the pull of *lease*, and add its rows to *changes*."""
        self._in_flight -= 1
        self._ended += 1
        self.rule.record_reward(site.id, reward.amount)
        if self.records:
            changes.add(PullRow(site.id, lease.id, reward.amount, now, self.worker_id))
            if reward.keys:
                changes.add(*[CountedKeyRow(site.id, key) for key in sorted(reward.keys)])

    def cancel_pull(self, site: SiteQueue, lease: Lease) -> None:
        self._in_flight -= 1
        self.rule.cancel_pull(site.id)
        if site.shares is not None:
            site.shares.cancel_request(lease.queue)
