"""All pages and links of sites, as graphs."""

from crawlers.mission import Mission

MISSION = Mission(
    "sitegraph",
    "all pages of the sites, and the graph of their links",
    place=1,
    stays_within_sites=True,
    after="For other formats of the graph: {graph} --format csv --format graphml",
    tables=("pages", "broken-links", "redirects", "external-links"),
    reports=("sitemaps", "in-sitemap-only", "sitemap-errors", "not-in-sitemap"),
)
