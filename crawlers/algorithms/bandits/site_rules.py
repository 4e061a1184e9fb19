"""Site rules: which site is crawled next. Nothing here reads a clock or depends on what a site is.

To a rule, sites are arms that sleep while they have nothing to fetch or are not due. Its choice is a function of the
order of discovery of the arms, of the pulls started, rewarded and cancelled so far, and of the awake arms: a rule to
which the pulls of an interrupted crawl are replayed continues exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from crawlers.algorithms.bandits.beebot import UCB1, BatchGreedy
from crawlers.algorithms.bandits.best_site import Best
from crawlers.algorithms.bandits.recent_means import OPTIMISM, REWARD_CAP, RecentUCB
from crawlers.algorithms.bandits.turns import EqualShares, RoundRobin, Sequential, TimedRoundRobin
from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


class SiteRule(Protocol):
    """The interface of a site rule to the frontier."""

    #: Whether `set_arm_value` must be called with the score of the best page of each site that wakes.
    weighs_pages: bool

    def wake(self, arm: Hashable) -> None:
        """Make *arm* available; no effect if it is awake. The first call registers it."""

    def sleep(self, arm: Hashable) -> None:
        """Make *arm* unavailable; no effect if it sleeps. The first call registers it as well."""

    def pause(self, arm: Hashable) -> None:
        """Make *arm* unavailable for a short time, after which it will be available again; see `is_close_to_best`."""

    def is_close_to_best(self, arm: Hashable, share: float) -> bool:
        """Return whether *arm* may be pulled, because its index is near the best: at least *share*, in [0, 1], of it.

        If not, it is better to wait for a site that rests, or for the results of pulls in flight.
        """

    def best_index(self, is_wanted: Callable[[Hashable], bool]) -> float | None:
        """Return the largest index of the arms, awake or not, for which *is_wanted* returns True; None without any.

        Infinity for arms with initial pages left. Rules without an index return 0.
        """

    def set_arm_value(self, arm: Hashable, value: float, base: float = 0.0) -> None:
        """Record that the best page of *arm* has the score *value* now; *base* is to be added to all values."""

    def select(self, now: float) -> Hashable | None:
        """Return the arm to pull next, or None if all sleep. Choosing is not pulling: see `record_pull`."""

    def record_pull(self, arm: Hashable) -> None:
        """Record a pull of *arm*; its reward comes later or never. Until then it counts with reward 0."""

    def record_reward(self, arm: Hashable, reward: float) -> None:
        """Record the *reward* >= 0 of a pull of *arm*."""

    def cancel_pull(self, arm: Hashable) -> None:
        """Undo a pull of *arm*, as if it had never been started."""


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """The options of all rules. One page is one pull."""

    page_budget: int = 0  # pages of the whole crawl; 0: unlimited
    quantum_pages: int = 1  # roundrobin: pages per turn
    quantum_s: float = 0.0  # roundrobin: seconds per turn instead; 0: pages count
    gittins_batch: int = 10  # gittins: pages per batch, n in the paper
    ucb1_initial: int = 5  # ucb1: initial pages of every site, m in the paper
    optimism: float = OPTIMISM  # auto: factor of the bonus
    reward_cap: float = REWARD_CAP  # auto: most that a page counts, in good pages


def _roundrobin(options: RuleOptions) -> SiteRule:
    return TimedRoundRobin(options.quantum_s) if options.quantum_s else RoundRobin(options.quantum_pages)


def _trivial(options: RuleOptions) -> SiteRule:
    if not options.page_budget:
        raise ConfigError(
            "RULE=trivial needs PAGE_BUDGET: every site gets an equal share of it; set PAGE_BUDGET or another RULE"
        )
    return EqualShares(options.page_budget)


RULES: dict[str, Callable[[RuleOptions], SiteRule]] = {
    "roundrobin": _roundrobin,
    "best": lambda options: Best(),
    "sequential": lambda options: Sequential(),
    "trivial": _trivial,
    "gittins": lambda options: BatchGreedy(options.gittins_batch),
    "ucb1": lambda options: UCB1(options.ucb1_initial),
    "auto": lambda options: RecentUCB(options.optimism, options.reward_cap),
}
