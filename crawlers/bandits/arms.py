"""Arms: the state of a rule for each site, in the order of discovery.

The state of a rule depends on pulls alone. Choosing changes nothing (except for turns measured in seconds), and neither
does sleeping: a rule to which the pulls of an interrupted crawl are replayed has the state of the interrupted one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from crawlers.bandits.indexed_heap import IndexedHeap
from crawlers.bandits.patience import is_near_best

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from crawlers.bandits.indexed_heap import Priority


class Arm:
    """Pulls and rewards of one site; a pull in flight counts with reward 0."""

    __slots__ = ("is_awake", "is_resting", "name", "number", "pending", "pulls", "total")

    def __init__(self, name: Hashable, number: int) -> None:
        self.name = name
        self.number = number  # in the order of discovery
        self.is_awake = False
        self.is_resting = False  # asleep for a short time
        self.pulls = 0
        self.pending = 0  # pulls in flight, included in `pulls`
        self.total = 0.0  # sum of the rewards

    def earn(self, reward: float) -> None:
        """Record the *reward* of a pull in flight."""
        self.pending -= 1
        self.total += reward


A = TypeVar("A", bound=Arm)


class ArmRule(ABC, Generic[A]):
    """A rule that chooses the arm to pull next; *make* creates an arm from its name and number.

    A rule overrides `select`, and any of `_record_pull`, `_record_reward`, `_cancel_pull`, which are called after the
    arm is updated, and `_changed`, which is called after these, and when an arm wakes or sleeps.
    """

    #: Whether `set_arm_value` must be called with the score of the best page of each site that wakes.
    weighs_pages = False
    #: Whether the rule computes an index for each arm and chooses the largest.
    has_index = False

    def __init__(self, make: Callable[[Hashable, int], A]) -> None:
        self._make = make
        self._known: dict[Hashable, A] = {}
        self._arms: list[A] = []  # by number

    def _arm(self, name: Hashable) -> A:
        arm = self._known.get(name)
        if arm is None:
            arm = self._known[name] = self._make(name, len(self._arms))
            self._arms.append(arm)
        return arm

    @abstractmethod
    def select(self, now: float) -> Hashable | None:
        """Return the arm to pull next, or None if all sleep. Choosing is not pulling: see `record_pull`."""

    def index(self, arm: Hashable) -> float | None:
        """Return the current index of *arm*, infinity for one that comes before all indices; None without indices."""
        return None

    def wake(self, arm: Hashable) -> None:
        """Make *arm* available; the first call registers it."""
        self._set(arm, is_awake=True)

    def sleep(self, arm: Hashable) -> None:
        """Make *arm* unavailable; the first call registers it."""
        self._set(arm, is_awake=False)

    def pause(self, arm: Hashable) -> None:
        """Make *arm* unavailable for a short time: it still counts in `is_close_to_best`."""
        self._set(arm, is_awake=False, is_resting=True)

    def _set(self, arm: Hashable, *, is_awake: bool, is_resting: bool = False) -> None:
        found = self._arm(arm)
        found.is_awake, found.is_resting = is_awake, is_resting
        self._changed(found)

    def is_close_to_best(self, arm: Hashable, share: float) -> bool:
        """Return whether the value of *arm* is at least *share*, in [0, 1], of the greatest one of all other sites.

        Sites that sleep do not count, but those that rest do.
        """
        values = self._compare(self._arm(arm))
        return values is None or is_near_best(*values, share)

    def best_index(self, is_wanted: Callable[[Hashable], bool]) -> float | None:
        """Return 0: to rules without an index, all arms are equal."""
        return 0.0

    def set_arm_value(self, arm: Hashable, value: float, base: float = 0.0) -> None:
        """Do nothing: most rules do not use the scores of pages."""

    def record_pull(self, arm: Hashable) -> None:
        """Record a pull of *arm*, which counts with reward 0 until its reward is known."""
        found = self._arm(arm)
        found.pulls += 1
        found.pending += 1
        self._record_pull(found)
        self._changed(found)

    def record_reward(self, arm: Hashable, reward: float) -> None:
        """Record the *reward* >= 0 of a pull of *arm*, which is started first if that was not recorded."""
        found = self._arm(arm)
        if not found.pending:
            self.record_pull(arm)
        found.earn(reward)
        self._record_reward(found, reward)
        self._changed(found)

    def cancel_pull(self, arm: Hashable) -> None:
        """Undo a pull of *arm* that is in flight; ignored if none is."""
        found = self._arm(arm)
        if found.pending:
            found.pulls -= 1
            found.pending -= 1
            self._cancel_pull(found)
            self._changed(found)

    def _compare(self, arm: A) -> tuple[float, float] | None:
        """Return the value of *arm* and the greatest one of other sites that are awake or rest.

        None if *arm* may be pulled whatever these promise, as under rules that do not value sites.
        """
        return None

    def _changed(self, arm: A) -> None: ...

    def _record_pull(self, arm: A) -> None: ...

    def _record_reward(self, arm: A, reward: float) -> None: ...

    def _cancel_pull(self, arm: A) -> None: ...


class HeapRule(ArmRule[A]):
    """The awake arm with the smallest priority; ties: the order of discovery. O(log K) per choice, for K sites."""

    def __init__(self, make: Callable[[Hashable, int], A]) -> None:
        super().__init__(make)
        self._heap = IndexedHeap()  # awake arms

    @abstractmethod
    def _priority(self, arm: A) -> Priority: ...

    def select(self, now: float) -> Hashable | None:
        """Return the arm to pull next, or None if all sleep."""
        first = self._heap.first()
        return None if first is None else self._arms[first].name

    def _changed(self, arm: A) -> None:
        if arm.is_awake:
            self._heap.put(arm.number, self._priority(arm))
        else:
            self._heap.remove(arm.number)
