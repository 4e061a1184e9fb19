"""How the sites of a crawl did over time, and what its rule thought of them: told again from its pulls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from crawlers.algorithms.bandits.site_rules import SiteRule


@runtime_checkable
class Indexed(Protocol):
    """A rule that gives each arm a number and takes the largest."""

    def index(self, arm: Hashable) -> float:
        """What the rule would maximise now; infinite for an arm that is due anyway."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One arm after so many pulls of all."""

    pulls: int  # of all arms
    arm: Hashable
    own_pulls: int
    earned: float
    index: float | None  # None: the rule has none


def trace(
    rule: SiteRule, arms: Sequence[Hashable], pulls: Iterable[tuple[Hashable, float]], every: int
) -> Iterator[Moment]:
    """All *arms* after each *every* pulls, and after the last; *rule* must be new.

    >>> from crawlers.algorithms.bandits.turns import Sequential
    >>> [(m.arm, m.own_pulls, m.earned) for m in trace(Sequential(), "ab", [("a", 2.0), ("b", 1.0)], 9)]
    [('a', 1, 2.0), ('b', 1, 1.0)]
    """
    own = dict.fromkeys(arms, 0)
    earned = dict.fromkeys(arms, 0.0)
    for arm in arms:
        rule.sleep(arm)  # makes it known, in this order

    def moments(number: int) -> Iterator[Moment]:
        for arm in arms:
            index = rule.index(arm) if isinstance(rule, Indexed) else None
            yield Moment(number, arm, own[arm], earned[arm], index)

    number = 0
    for arm, reward in pulls:
        rule.started(arm)
        rule.rewarded(arm, reward)
        own[arm] += 1
        earned[arm] += reward
        number += 1
        if number % every == 0:
            yield from moments(number)
    if number % every:
        yield from moments(number)
