"""Site rules: which site is asked next. Nothing here reads a clock or knows what a site is.

A rule sees sites as arms that sleep while they have nothing to fetch or are not due, and wake again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


class SiteRule(Protocol):
    """What the frontier asks of a rule."""

    def wake(self, arm: Hashable) -> None:
        """*arm* may be chosen from now on; waking a waking arm changes nothing."""

    def sleep(self, arm: Hashable) -> None:
        """*arm* may not be chosen; so for one that sleeps already."""

    def select(self) -> Hashable | None:
        """The arm to pull next, or None when all sleep. Choosing is not pulling: see `started`."""

    def started(self, arm: Hashable) -> None:
        """*arm* was pulled; its reward comes later or never."""

    def rewarded(self, arm: Hashable, reward: float) -> None:
        """A pull of *arm* earned *reward* >= 0."""

    def cancelled(self, arm: Hashable) -> None:
        """A pull of *arm* turned out to be none: it costs nothing and earns nothing."""


class RoundRobin:
    """Every waking arm in turn, whatever it earns; O(1) a choice.

    >>> rule = RoundRobin()
    >>> rule.wake("a"), rule.wake("b")
    (None, None)
    >>> [(arm := rule.select(), rule.started(arm))[0] for _ in range(3)]
    ['a', 'b', 'a']
    """

    def __init__(self) -> None:
        self._awake: dict[Hashable, None] = {}  # a dict keeps the order in which they came

    def wake(self, arm: Hashable) -> None:
        self._awake.setdefault(arm)

    def sleep(self, arm: Hashable) -> None:
        self._awake.pop(arm, None)

    def select(self) -> Hashable | None:
        return next(iter(self._awake), None)

    def started(self, arm: Hashable) -> None:
        if arm in self._awake:
            del self._awake[arm]
            self._awake[arm] = None

    def rewarded(self, arm: Hashable, reward: float) -> None:
        pass

    def cancelled(self, arm: Hashable) -> None:
        pass


RULES: dict[str, Callable[[], SiteRule]] = {"roundrobin": RoundRobin}
