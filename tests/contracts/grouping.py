"""A model of the choices of the order `groups`, which knows only what was committed.

It shares the bandit with the frontier, but neither queues nor caches: pages are in a list in order of discovery.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawlers.algorithms.ranking.link_groups import GroupBandit
from crawlers.frontier.url_cache import MAX_GROUP

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class KnownUrl:
    id: int
    group: int
    rank: tuple[int, int]  # level and redirects within it
    state: str = "waiting"  # leased, ended, deep


class Model:
    """Predicts choices from what was committed: *log* has one entry per change set of the store."""

    def __init__(self, max_level: int | None) -> None:
        self._max_level = max_level
        self.log: list[tuple[Any, ...]] = []
        self._forget()

    def _forget(self) -> None:
        self.pages: dict[str, KnownUrl] = {}
        self._names: dict[str, int] = {}
        self._bandit = GroupBandit()

    def lose(self, number: int) -> None:
        """The process was killed before the last *number* were committed; its leases are lost with it."""
        kept = self.log[: len(self.log) - number]
        self._forget()
        self.log = []
        for name, *values in kept:
            if name != "add":
                self._bandit.record_request(self.pages[values[0]].group)
            getattr(self, name)(*values)

    @property
    def pulls(self) -> list[tuple[int, float]]:
        return [(self.pages[path].group, reward) for name, path, reward, *_ in self.log if name != "add"]

    def leased(self, path: str) -> None:
        page = self.pages[path]
        assert page.state == "waiting"
        oldest: dict[int, int] = {}
        for other in self.pages.values():
            if other.state == "waiting":
                oldest[other.group] = min(other.id, oldest.get(other.group, other.id))
        assert page.group == self._bandit.choose(oldest.items())
        assert page.id == oldest[page.group], "within a group, in order of discovery"
        page.state = "leased"
        self._bandit.record_request(page.group)

    def released(self, path: str) -> None:
        self.pages[path].state = "waiting"
        self._bandit.cancel_request(self.pages[path].group)

    def add(self, path: str, _: float = 0.0) -> None:
        self.log.append(("add", path, 0.0))
        self._find(path, (0, 0), lambda: 0)

    def failed(self, path: str, _: float = 0.0) -> None:
        self.log.append(("failed", path, 0.0))
        self._bandit.record_reward(self.pages[path].group, 0.0)
        self.pages[path].state = "waiting"

    def moved(self, path: str, _: float, target: str) -> None:
        self.log.append(("moved", path, 0.0, target))
        page = self.pages[path]
        page.state = "ended"
        self._find(target, (page.rank[0], page.rank[1] + 1), lambda: page.group)
        self._bandit.record_reward(page.group, 0.0)

    def read(self, path: str, reward: float, links: list[tuple[str, str]]) -> None:
        self.log.append(("read", path, reward, links))
        page = self.pages[path]
        page.state = "ended"
        for link, name in links:
            self._find(link, (page.rank[0] + 1, 0), lambda name=name: self._number(name))
        self._bandit.record_reward(page.group, reward)

    def _number(self, name: str) -> int:
        if name not in self._names and len(self._names) < MAX_GROUP:
            self._names[name] = len(self._names) + 1
        return self._names.get(name, 0)

    def _find(self, path: str, rank: tuple[int, int], group: Callable[[], int]) -> None:
        is_deep = self._max_level is not None and rank[0] > self._max_level
        page = self.pages.get(path)
        if page is None:
            self.pages[path] = KnownUrl(len(self.pages), group(), rank, "deep" if is_deep else "waiting")
        elif page.state in ("waiting", "deep") and rank < page.rank:
            page.rank = rank
            if not is_deep:
                page.state = "waiting"
