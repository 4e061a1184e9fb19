"""A crawl for external links at work: rewards pages by what they lead to that their sites were not rewarded for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from crawlers.bandits.site_rules import REWARDS
from crawlers.crawl.run import Run
from crawlers.crawl.spec import crawl_of
from crawlers.frontier.values import NO_REWARD, Decision, LinkFacts, Reward
from crawlers.items import Page, State
from crawlers.missions.extlinks.link_places import PageLinkPlaces, with_places
from crawlers.ranking import page_orders
from crawlers.store.writing.pulls import counted
from crawlers.store.writing.uncommitted import Uncommitted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from crawlers.bandits.site_rules import RewardKind
    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.spec import CrawlSpec
    from crawlers.frontier.values import Lease
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.items import SiteLimits
    from crawlers.store.sites.site_opening import SiteRow

URLS_PER_KEY = 12  # known URLs in memory for each external URL there that was rewarded


def harvest_of(name: str, sites: Sequence[SiteLimits], settings: SettingValues) -> CrawlSpec:
    """Return the specification of a crawl of *sites* for their external links. Raises `ConfigError`."""
    spec = crawl_of(name, sites, settings, gives={page_orders.REWARDS: True}, has_rewards=True)
    assert spec.reader is not None
    reader = spec.reader
    if settings.get("ORDER") in page_orders.LEARNING:
        reader = replace(reader, analysis=with_places)
    keys = max(1, settings.getint("FRONTIER_CACHE_URLS") // URLS_PER_KEY)
    return replace(spec, reader=reader, open=partial(Rewards, REWARDS[settings.get("REWARD")], cache_keys=keys))


class Rewards(Run):
    """Each page has a *reward*; *cache_keys* bounds the keys in memory: other keys are looked up in the store."""

    def __init__(self, reward: RewardKind, session: CrawlSession, *, cache_keys: int) -> None:
        super().__init__(session.spec.reader, session.reader.run)
        self._reward = reward
        self._database = session.database
        self._recalled: set[int] = set()  # sites of which the store may have keys that were never in memory
        self._paid: Uncommitted[int, set[int]] = Uncommitted(session.writer, max(cache_keys // 2, 1))  # by site

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
