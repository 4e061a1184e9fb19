"""The downloads of a crawl as pulls of its site rule: their rewards, and the remaining budget.

Every download is a pull, whatever its result; a URL that was never requested costs no pull. Where rewards are
counted, each pull is a row, written together with its page: when a crawl resumes, its rule receives them again
and chooses as if the crawl had never stopped.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crawlers.algorithms.bandits.patience import NO_PATIENCE, Patience
from crawlers.storage.schema.tables import CountedKeyRow, PullRow

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from crawlers.algorithms.bandits.site_rules import SiteRule
    from crawlers.frontier.protocols import Earned, Lease
    from crawlers.frontier.site_queue import SiteQueue
    from crawlers.storage.change_set import ChangeSet


class PullBudget:
    """Reports every pull to *rule*, and to the rule of the site's groups.

    *page_budget* 0 means no limit; with *records* pulls are written to the store. With a budget, *patience* says
    whether the crawl waits for good sites. Without one, all pages are read sooner or later: waiting would only cost
    time.
    """

    def __init__(self, rule: SiteRule, page_budget: int, patience: Patience = NO_PATIENCE, *, records: bool) -> None:
        self._rule = rule
        self._page_budget = page_budget
        self._patience = patience
        self._waits = page_budget > 0 and patience.waits
        self._records = records
        self._in_flight = 0
        self._recalled = 0  # pulls of earlier runs
        self._began_at: float | None = None  # when the first pull of this run was chosen
        self.ended_pulls = 0

    @property
    def has_room(self) -> bool:
        """Whether the budget allows another pull now."""
        return not self._page_budget or self.ended_pulls + self._in_flight < self._page_budget

    @property
    def is_spent(self) -> bool:
        """Whether the budget is used up, without counting pulls in flight, which may be cancelled."""
        return 0 < self._page_budget <= self.ended_pulls

    def patient_until(self, now: float) -> float:
        """Return the time until which the crawl waits for good sites if no further pull starts; minus infinity: never.

        *now* is the time of the choice.
        """
        if not self._waits:
            return -math.inf
        if self._began_at is None:
            self._began_at = now
        started = self.ended_pulls + self._in_flight - self._recalled
        return self._patience.ends_at(self._began_at, started / max(1, self._page_budget - self._recalled))

    def awaited_until(self, now: float) -> float:
        """Return the time until which the crawl waits for a site of which a pull starts *now*."""
        return now + self._patience.longest_s if self._waits else -math.inf

    def is_near(self, arm: Hashable) -> bool:
        """Return whether the index of the site *arm* is so near the best that a patient crawl chooses it."""
        return self._rule.is_near(arm, self._patience.index_share)

    def recall(self, sites: Mapping[int, SiteQueue], pulls: Iterable[tuple[int, int, float]]) -> int:
        """Report the pulls of earlier runs to the rules: (site id, group, reward), in the order in which they ended.

        The site rule also receives pulls of sites that are missing from *sites*, because the host list omits them.
        Returns the number of pulls.
        """
        before = self.ended_pulls
        for site_id, group, reward in pulls:
            self._rule.started(site_id)
            self._rule.rewarded(site_id, reward)
            site = sites.get(site_id)
            if site is not None and site.rule is not None:
                site.rule.started(group)
                site.rule.rewarded(group, reward)
            self.ended_pulls += 1
        self._recalled = self.ended_pulls
        return self.ended_pulls - before

    def started(self, site: SiteQueue, lease: Lease) -> None:
        self._in_flight += 1
        self._rule.started(site.id)
        if site.rule is not None:
            site.rule.started(lease.group)

    def ended(self, site: SiteQueue, lease: Lease, earned: Earned, now: float, changes: ChangeSet) -> None:
        """End the pull of *lease*, and add its rows to *changes*."""
        self._in_flight -= 1
        self.ended_pulls += 1
        self._rule.rewarded(site.id, earned.reward)
        if site.rule is not None:
            site.rule.rewarded(lease.group, earned.reward)
        if self._records:
            changes.add(PullRow(site.id, lease.id, earned.reward, now))
            changes.add(*(CountedKeyRow(site.id, key) for key in sorted(earned.keys)))

    def cancelled(self, site: SiteQueue, lease: Lease) -> None:
        self._in_flight -= 1
        self._rule.cancelled(site.id)
        if site.rule is not None:
            site.rule.cancelled(lease.group)
