"""Checks that a mission has what the page order needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.ranking.link_values import LinkValues
from crawlers.algorithms.ranking.page_orders import ARTICLES, REWARDS, TOPIC
from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from crawlers.algorithms.bandits.site_rules import SiteRule
    from crawlers.algorithms.ranking.page_orders import PageOrder
    from crawlers.crawl.spec import CrawlSpec

_MISSIONS = {
    ARTICLES: "scrapy crawl news -a sources=sources.yaml",
    REWARDS: "scrapy crawl extlinks",
    TOPIC: "scrapy crawl topic -a topic=topic.yaml",
}


def check_order(name: str, order: PageOrder, mission: CrawlSpec, rule: SiteRule) -> None:
    """Raise `ConfigError` if *order*, called *name*, needs what the mission does not have, or another *rule*."""
    given = {ARTICLES: mission.start_slot, REWARDS: mission.counts_rewards, TOPIC: mission.topic}
    if order.needs is not None and not given[order.needs]:
        is_learnt_topic = order.needs == REWARDS and mission.topic is not None
        use = "write strategy: learnt in its file" if is_learnt_topic else f"use it with {_MISSIONS[order.needs]}"
        raise ConfigError(f"ORDER={name} needs {order.needs}, which {mission.name} does not have; {use}")
    if isinstance(order.link_values, LinkValues) and rule.weighs_pages:
        raise ConfigError(
            f"RULE=best compares the best pages of all sites, whose values change with every page under ORDER={name}; "
            "use RULE=auto"
        )
