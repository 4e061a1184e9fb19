"""Site rules: which site is asked next. Nothing here reads a clock or knows what a site is.

A rule sees sites as arms that sleep while they have nothing to fetch or are not due, and wake again. What it
chooses is a function of the order in which the arms became known, of what was started, rewarded and cancelled since,
and of who is awake: so a rule that is told the pulls of an interrupted crawl goes on as if nothing had happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from crawlers.algorithms.bandits.beebot import UCB1, BatchGreedy
from crawlers.algorithms.bandits.best_site import Best
from crawlers.algorithms.bandits.gittins_rule import GittinsIndex
from crawlers.algorithms.bandits.posterior import KLUCB, Thompson
from crawlers.algorithms.bandits.recent_means import RecentUCB
from crawlers.algorithms.bandits.rotting import RAWUCB, SlidingWindowUCB
from crawlers.algorithms.bandits.turns import EqualShares, RoundRobin, Sequential, TimedRoundRobin
from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


class SiteRule(Protocol):
    """What the frontier asks of a rule."""

    #: Whether it wants to be told, by `valued`, what the best page of each site that wakes scores.
    weighs_pages: bool

    def wake(self, arm: Hashable) -> None:
        """*arm* may be chosen from now on; waking a waking arm changes nothing. The first call makes it known."""

    def sleep(self, arm: Hashable) -> None:
        """*arm* may not be chosen; so for one that sleeps already. The first call makes it known, too."""

    def valued(self, arm: Hashable, value: float) -> None:
        """The best page of *arm*, which is awake, scores *value* now."""

    def select(self, now: float) -> Hashable | None:
        """The arm to pull next, or None when all sleep. Choosing is not pulling: see `started`."""

    def started(self, arm: Hashable) -> None:
        """*arm* was pulled; its reward comes later or never. Until then it counts as a pull that earned nothing."""

    def rewarded(self, arm: Hashable, reward: float) -> None:
        """A pull of *arm* earned *reward* >= 0."""

    def cancelled(self, arm: Hashable) -> None:
        """A pull of *arm* turned out to be none: it costs nothing, earns nothing and leaves no trace."""


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """What a rule may be told beforehand. Pages are pulls."""

    page_budget: int = 0  # pages of the whole crawl; 0: no limit is known
    seed: int = 0  # of the rules that draw lots
    quantum_pages: int = 1  # roundrobin: pages of a turn
    quantum_s: float = 0.0  # roundrobin: seconds of a turn instead; 0: the pages count
    gittins_batch: int = 10  # gittins: n, pages read of a site at a time
    ucb1_initial: int = 5  # ucb1: m, pages read of every site at first
    raw_ucb_c: float = 1.0  # raw-ucb: how optimistic it is


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
    "auto": lambda options: RecentUCB(),
    "raw-ucb": lambda options: RAWUCB(options.raw_ucb_c),
    "swucb": lambda options: SlidingWindowUCB(),
    "thompson": lambda options: Thompson(options.seed),
    "kl-ucb": lambda options: KLUCB(),
    "gittins-index": lambda options: GittinsIndex(),
}
