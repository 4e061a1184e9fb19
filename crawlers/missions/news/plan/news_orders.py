"""The orders of a news crawl: URLs by whether they look like articles, alone or times their OPIC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.missions.news.plan.news_scores import NewsScores
from crawlers.missions.news.plan.queue_shares import QueueShares
from crawlers.ranking.page_orders import PageOrder

if TYPE_CHECKING:
    from crawlers.inputs.setting_readers import SettingValues


def by_fit(*, weighs_links: bool, else_factor: float = 0.01, explore: float = 0.05, archive: float = 0.03) -> PageOrder:
    """Return the order by `NewsScores`, with the shares of other URLs and of archives in the downloads of a site."""
    scores = NewsScores(weighs_links=weighs_links, else_factor=else_factor)
    return PageOrder(scores, make_shares=lambda: QueueShares(explore, archive))


def fit(settings: SettingValues, given: object) -> PageOrder:
    """Return the order of the settings without the importance of pages."""
    return _chosen(settings, weighs_links=False)


def fit_opic(settings: SettingValues, given: object) -> PageOrder:
    """Return the order of the settings with the importance of pages."""
    return _chosen(settings, weighs_links=True)


def _chosen(settings: SettingValues, *, weighs_links: bool) -> PageOrder:
    else_factor, explore = settings.getfloat("FIT_ELSE_FACTOR"), settings.getfloat("EXPLORE_SHARE")
    return by_fit(weighs_links=weighs_links, else_factor=else_factor, explore=explore)
