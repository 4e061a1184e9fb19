"""External links: the reward of a page is what it leads to on other sites."""

from crawlers.mission import Mission
from crawlers.ranking.page_orders import REWARDS

MISSION = Mission(
    "extlinks",
    "scrapy crawl extlinks",
    gives=frozenset({REWARDS}),
    summary="link_summary:links_summary",
    after="To see which site links to which: {graph} --level site",
    tables=("external-links",),
    joined=("external-links",),
)
