"""Large parts of the web, by the importance of pages, computed as they are fetched (AOPIC)."""

from crawlers.mission import Mission

MISSION = Mission(
    "broad", "scrapy crawl broad -a hosts=hosts.txt", after="To list the most important pages: {graph} --top 100"
)
