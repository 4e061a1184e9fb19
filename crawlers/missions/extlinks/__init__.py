"""External links: the reward of a page is what it leads to on other sites."""

from crawlers.mission import Mission
from crawlers.ranking.page_orders import REWARDS

MISSION = Mission(
    "extlinks",
    "as many links to other sites as a budget of pages can give",
    further="-s PAGE_BUDGET=2000",
    reads_store=True,
    place=2,
    stays_within_sites=True,
    gives=frozenset({REWARDS}),
    after="To see which site links to which: {graph} --level site",
    reports=("link-features",),
    tables=("external-links",),
    joined=("external-links",),
    parts={"summary": "link_summary:links_summary"},
)
