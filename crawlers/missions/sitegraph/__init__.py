"""All pages and links of sites, as graphs."""

from crawlers.mission import Mission

MISSION = Mission(
    "sitegraph",
    "scrapy crawl sitegraph -a hosts=hosts.txt",
    after="For other formats of the graph: {graph} --format csv --format graphml",
    tables=("pages", "broken-links", "redirects", "external-links"),
)
