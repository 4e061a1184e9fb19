"""The indices of the sites of a crawl under a rule, reconstructed from the pulls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Iterator

    from crawlers.bandits.site_rules import SiteRule


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of one arm after a number of pulls."""

    pulls: int  # of all arms
    arm: Hashable
    index: float | None  # None: the rule has no indices


def trace(
    rule: SiteRule,
    arms: Iterable[Hashable],
    pulls: Iterable[tuple[Hashable, float]],
    every: int,
    shown: Collection[Hashable],
) -> Iterator[Moment]:
    """Yield the state of those of *arms* that are *shown* after every *every* >= 1 pulls and after the last.

    *pulls* are arms with their rewards, in the order of the crawl; *rule* must be new.

    >>> from crawlers.bandits.turns import Sequential
    >>> [(m.pulls, m.arm, m.index) for m in trace(Sequential(), "ab", [("a", 2.0), ("b", 1.0)], 9, "b")]
    [(2, 'b', None)]
    """
    for arm in arms:
        rule.sleep(arm)  # registers it, in the order of discovery

    def moments(number: int) -> Iterator[Moment]:
        for arm in shown:
            yield Moment(number, arm, rule.index(arm))

    number = 0
    for arm, reward in pulls:
        rule.record_pull(arm)
        rule.record_reward(arm, reward)
        number += 1
        if number % every == 0:
            yield from moments(number)
    if number % every:
        yield from moments(number)
