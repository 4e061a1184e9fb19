"""Site rules: which site is crawled next. Nothing here reads a clock or depends on what a site is.

To a rule, sites are arms that sleep while they have nothing to fetch or are not due. Its choice is a function of the
order of discovery of the arms, of the pulls started, rewarded and cancelled so far, and of the awake arms: a rule to
which the pulls of an interrupted crawl are replayed continues exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from crawlers.bandits.arms import ArmRule
from crawlers.bandits.beebot import UCB1, BatchGreedy
from crawlers.bandits.best_site import Best
from crawlers.bandits.recent_means import OPTIMISM, REWARD_CAP, RecentUCB
from crawlers.bandits.turns import EqualShares, RoundRobin, Sequential, TimedRoundRobin
from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

SiteRule: TypeAlias = ArmRule[Any]


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
