"""Large parts of the web, by the importance of pages, computed as they are fetched (AOPIC)."""

from crawlers.mission import Mission

MISSION = Mission(
    "broad",
    "the most important pages of many sites, again and again",
    further="-s SCOPE=all -s PAGE_BUDGET=20000",
    place=3,
    after="To list the most important pages: {graph} --top 100",
    reports=("important-pages",),
)
