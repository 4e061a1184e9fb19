"""Computes the rewards of pages, with a bounded cache of the keys for which their sites were rewarded already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.frontier.values import NO_REWARD, Reward
from crawlers.items import Page, State
from crawlers.store.writing.pulls import counted
from crawlers.store.writing.uncommitted import Uncommitted

if TYPE_CHECKING:
    from crawlers.bandits.reward_kinds import RewardKind
    from crawlers.store.database import Database
    from crawlers.store.writing.writer import Writer


class Rewards:
    """The rewards of one run. That of a page of a topic crawl is its similarity; of others, without a *reward*, 0.

    *cache_keys* bounds the keys in memory; other keys are looked up in the store.
    """

    def __init__(self, reward: RewardKind | None, database: Database, writer: Writer, *, cache_keys: int) -> None:
        self._reward = reward
        self._database = database
        self._recalled: set[int] = set()  # sites of which the store may have keys that were never in memory
        self._paid: Uncommitted[int, set[int]] = Uncommitted(writer, max(cache_keys // 2, 1))  # by site

    def recall(self, site_id: int) -> None:
        """Look up the keys of a site from now on, because pages of it were rewarded before it was opened."""
        self._recalled.add(site_id)

    def forget(self, site_id: int) -> None:
        """Forget the keys of a site that was closed."""
        self._recalled.discard(site_id)
        self._paid.young.pop(site_id, None)
        self._paid.old.pop(site_id, None)

    def of(self, site_id: int, page: Page) -> Reward:
        """Return the reward of *page*. The caller must submit its keys, which count as rewarded now."""
        if page.similarity is not None and page.state is State.DONE:
            return Reward(page.similarity)
        if self._reward is None or page.state is not State.DONE or not page.external:
            return NO_REWARD
        keys = self._reward.keys(link for link, _ in page.external)
        if not self._reward.only_new:
            return Reward(float(len(keys)))
        self._paid.make_room()
        young = self._paid.young.setdefault(site_id, set())
        new = unknown = keys - young - self._paid.old.get(site_id, set())
        if unknown and (site_id in self._recalled or self._paid.forgotten):
            new = unknown - counted(self._database, site_id, unknown)
        before = len(young)
        young |= keys
        self._paid.count(len(young) - before)
        return Reward(float(len(new)), new)
