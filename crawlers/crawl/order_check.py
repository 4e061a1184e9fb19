"""Checks that a mission supports the page order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.ranking.link_values import LinkValues
from crawlers.algorithms.ranking.news_scores import NewsScores
from crawlers.algorithms.ranking.topic_scores import TopicScores
from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from crawlers.algorithms.bandits.site_rules import SiteRule
    from crawlers.algorithms.ranking.page_orders import PageOrder
    from crawlers.crawl.spec import CrawlSpec


def check_order(name: str, order: PageOrder, mission: CrawlSpec, rule: SiteRule) -> None:
    """Raise `ConfigError` if the mission does not support *order*, called *name*, or not with this *rule*.

    A mission with queue slots has checked its order itself, before it stored anything.
    """
    if isinstance(order.scores, NewsScores) and mission.start_slot is None:
        raise ConfigError(f"ORDER={name} is for articles: use it with scrapy crawl news -a sources=sources.yaml")
    if isinstance(order.link_values, LinkValues) and not mission.counts_rewards:
        use = "use the strategy learnt" if mission.topic is not None else "use it with scrapy crawl extlinks"
        raise ConfigError(f"ORDER={name} learns from external links, which {mission.name} does not count; {use}")
    if isinstance(order.link_values, LinkValues) and rule.weighs_pages:
        raise ConfigError(
            f"RULE=best compares the best pages of all sites, whose values change with every page under ORDER={name}; "
            "use RULE=auto"
        )
    if order.scores is None or mission.start_slot is not None:
        return
    if isinstance(order.scores, TopicScores) and mission.topic is None:
        raise ConfigError(f"ORDER={name} needs a topic: use it with scrapy crawl topic -a topic=topic.yaml")
    if not isinstance(order.scores, TopicScores) and mission.topic is not None:
        raise ConfigError(f"ORDER={name} does not use topics: use it with scrapy crawl broad -a hosts=hosts.txt")
    if mission.scope is None:
        raise ConfigError(
            f"ORDER={name} compares the pages of all sites and follows links between them, which {mission.name} does "
            "not; use scrapy crawl broad -a hosts=hosts.txt"
        )
