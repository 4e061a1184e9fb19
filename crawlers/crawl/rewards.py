"""Counts what pages earn, with a memory of bounded size of what their sites were paid for already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.frontier.protocols import NOTHING, Earned
from crawlers.items import Page, State
from crawlers.storage.pulls import counted

if TYPE_CHECKING:
    from crawlers.algorithms.bandits.reward_kinds import Reward
    from crawlers.storage.database import Database
    from crawlers.storage.writer import Writer


class Rewards:
    """The rewards of one run; without a *reward* pages earn nothing.

    *cache_keys* bounds the keys in memory; behind them the store is asked. *resumed* says that the store knows
    keys of earlier runs.
    """

    def __init__(
        self, reward: Reward | None, database: Database, writer: Writer, *, cache_keys: int, resumed: bool
    ) -> None:
        self._reward = reward
        self._database = database
        self._writer = writer
        self._generation_keys = max(cache_keys // 2, 1)
        self._is_complete = not resumed
        self._young: dict[int, set[int]] = {}  # by site
        self._old: dict[int, set[int]] = {}
        self._cached = 0  # keys of the young generation

    def of(self, site_id: int, page: Page) -> Earned:
        """What *page* of the site earns. Whoever asks must submit the keys that it is told: they count as paid."""
        if self._reward is None or page.state is not State.DONE or not page.external:
            return NOTHING
        keys = self._reward.keys(link for link, _ in page.external)
        if not self._reward.only_new:
            return Earned(float(len(keys)))
        self._trim()
        young = self._young.setdefault(site_id, set())
        unknown = keys - young
        old = self._old.get(site_id)
        if old:
            unknown -= old
        new = unknown
        if unknown and not self._is_complete:
            new = unknown - counted(self._database, site_id, unknown)
        before = len(young)
        young |= keys
        self._cached += len(young) - before
        return Earned(float(len(new)), new)

    def _trim(self) -> None:
        """Forget what was not met for longest. All earlier keys must be submitted by now."""
        if self._cached > self._generation_keys:
            if self._old:
                self._writer.flush()  # the store must be able to answer for what is forgotten
                self._is_complete = False
            self._old, self._young = self._young, {}
            self._cached = 0
