"""Arms: what a rule knows of each site, in the order in which the sites became known.

A rule's memory is made of pulls alone. Asking for a choice changes nothing (but for turns that are measured in
seconds), and neither does sleeping: so the rule that is told the pulls of an interrupted crawl is the rule that was
interrupted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


class Arm:
    """What was pulled and earned of one site; a pull in flight counts as one that earned nothing."""

    __slots__ = ("is_awake", "name", "number", "pending", "pulls", "total")

    def __init__(self, name: Hashable, number: int) -> None:
        self.name = name
        self.number = number  # its place in the order of becoming known
        self.is_awake = False
        self.pulls = 0
        self.pending = 0  # of these, in flight
        self.total = 0.0

    def earn(self, reward: float) -> None:
        """One pull in flight has earned *reward*."""
        self.pending -= 1
        self.total += reward


A = TypeVar("A", bound=Arm)


class ArmRule(Generic[A]):
    """The bookkeeping that all rules share; *make* makes an arm of its name and number.

    A rule overrides `select`, and what it wants to hear of: `_woke`, `_slept`, `_started`, `_rewarded`, `_cancelled`,
    each called when the arm's figures are those after the event.
    """

    weighs_pages = False

    def __init__(self, make: Callable[[Hashable, int], A]) -> None:
        self._make = make
        self._known: dict[Hashable, A] = {}
        self._arms: list[A] = []  # by number
        self._awake: dict[int, A] = {}

    def _arm(self, name: Hashable) -> A:
        arm = self._known.get(name)
        if arm is None:
            arm = self._known[name] = self._make(name, len(self._arms))
            self._arms.append(arm)
        return arm

    def wake(self, arm: Hashable) -> None:
        """*arm* may be chosen from now on; the first call makes it known."""
        found = self._arm(arm)
        if not found.is_awake:
            found.is_awake = True
            self._awake[found.number] = found
            self._woke(found)

    def sleep(self, arm: Hashable) -> None:
        """*arm* may not be chosen; the first call makes it known."""
        found = self._arm(arm)
        if found.is_awake:
            found.is_awake = False
            del self._awake[found.number]
            self._slept(found)

    def valued(self, arm: Hashable, value: float) -> None:
        """Most rules don't ask what pages score."""

    def started(self, arm: Hashable) -> None:
        """*arm* was pulled: until its reward is known that counts as a pull that earned nothing."""
        found = self._arm(arm)
        found.pulls += 1
        found.pending += 1
        self._started(found)

    def rewarded(self, arm: Hashable, reward: float) -> None:
        """A pull of *arm* earned *reward* >= 0; one that nobody announced is started first."""
        found = self._arm(arm)
        if not found.pending:
            self.started(arm)
        found.earn(reward)
        self._rewarded(found, reward)

    def cancelled(self, arm: Hashable) -> None:
        """A pull of *arm* in flight was none: all is as if it had not been started."""
        found = self._arm(arm)
        if found.pending:
            found.pulls -= 1
            found.pending -= 1
            self._cancelled(found)

    def _woke(self, arm: A) -> None: ...

    def _slept(self, arm: A) -> None: ...

    def _started(self, arm: A) -> None: ...

    def _rewarded(self, arm: A, reward: float) -> None: ...

    def _cancelled(self, arm: A) -> None: ...
