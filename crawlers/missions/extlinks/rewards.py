"""Computes the rewards of pages, with a bounded cache of the keys for which their sites were rewarded already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.bandits.reward_kinds import REWARDS
from crawlers.crawl.policy import CrawlPolicy
from crawlers.frontier.values import NO_REWARD, Decision, LinkFacts, Reward
from crawlers.items import Page, State
from crawlers.pages.page_links import PageLinkPlaces
from crawlers.store.writing.pulls import counted
from crawlers.store.writing.uncommitted import Uncommitted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from crawlers.bandits.reward_kinds import RewardKind
    from crawlers.crawl.session import CrawlSession
    from crawlers.frontier.values import Lease
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.store.database import Database
    from crawlers.store.sites.site_rows import SiteRow
    from crawlers.store.writing.writer import Writer

URLS_PER_KEY = 12  # known URLs in memory for each external URL there that was rewarded


def rewards_of(session: CrawlSession, settings: SettingValues) -> Rewards:
    """Return the policy of a crawl."""
    keys = max(1, settings.getint("FRONTIER_CACHE_URLS") // URLS_PER_KEY)
    return Rewards(REWARDS[settings.get("REWARD")], session.database, session.writer, cache_keys=keys)


class Rewards(CrawlPolicy):
    """The policy of external links: each page has a *reward*.

    *cache_keys* bounds the keys in memory; other keys are looked up in the store.
    """

    def __init__(self, reward: RewardKind, database: Database, writer: Writer, *, cache_keys: int) -> None:
        self._reward = reward
        self._database = database
        self._recalled: set[int] = set()  # sites of which the store may have keys that were never in memory
        self._paid: Uncommitted[int, set[int]] = Uncommitted(writer, max(cache_keys // 2, 1))  # by site

    def load_sites(self, rows: Sequence[SiteRow]) -> Callable[[float], None]:
        """Look up the keys of sites whose pages may have been rewarded before these were opened."""
        return lambda now: self._recalled.update(row.id for row in rows if not row.is_new)

    def close_sites(self, site_ids: Collection[int]) -> None:
        for site_id in site_ids:
            self._recalled.discard(site_id)
            self._paid.young.pop(site_id, None)
            self._paid.old.pop(site_id, None)

    def decide(self, lease: Lease, page: Page, now: float) -> Decision:
        places = page.facts if isinstance(page.facts, PageLinkPlaces) else {}
        return Decision(page, links=LinkFacts(places), reward=self.of(lease.site_id, page))

    def of(self, site_id: int, page: Page) -> Reward:
        """Return the reward of *page*. The caller must submit its keys, which count as rewarded now."""
        if page.state is not State.DONE or not page.external:
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
