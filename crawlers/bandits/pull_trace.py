"""The history of the sites of a crawl and of their indices under a rule, reconstructed from the pulls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from crawlers.bandits.site_rules import SiteRule


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of one arm after a number of pulls."""

    pulls: int  # of all arms
    arm: Hashable
    own_pulls: int
    earned: float  # sum of its rewards
    index: float | None  # None: the rule has no indices


def trace(
    rule: SiteRule,
    arms: Sequence[Hashable],
    pulls: Iterable[tuple[Hashable, float]],
    every: int,
    shown: Iterable[Hashable] | None = None,
) -> Iterator[Moment]:
    """Yield the state of all *arms*, or of those that are *shown*, after every *every* >= 1 pulls and after the last.

    *pulls* are arms with their rewards, in the order of the crawl; *rule* must be new.

    >>> from crawlers.bandits.turns import Sequential
    >>> [(m.arm, m.own_pulls, m.earned) for m in trace(Sequential(), "ab", [("a", 2.0), ("b", 1.0)], 9)]
    [('a', 1, 2.0), ('b', 1, 1.0)]
    """
    shown = arms if shown is None else list(shown)
    own = dict.fromkeys(arms, 0)
    earned = dict.fromkeys(arms, 0.0)
    for arm in arms:
        rule.sleep(arm)  # registers it, in the order of discovery

    def moments(number: int) -> Iterator[Moment]:
        for arm in shown:
            yield Moment(number, arm, own[arm], earned[arm], rule.index(arm))

    number = 0
    for arm, reward in pulls:
        rule.record_pull(arm)
        rule.record_reward(arm, reward)
        own[arm] += 1
        earned[arm] += reward
        number += 1
        if number % every == 0:
            yield from moments(number)
    if number % every:
        yield from moments(number)
