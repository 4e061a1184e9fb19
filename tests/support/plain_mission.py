"""Missions that add nothing to the core, for its tests: those of the project can be removed."""

from crawlers.mission import Mission
from crawlers.ranking.page_orders import REWARDS
from crawlers.spiders.base import SiteSpider

MISSIONS = (
    Mission(
        "plain",
        place=0,  # the first, which messages propose
        stays_within_sites=True,
        after="For other formats of the graph: {graph} --format csv --format graphml",
        tables=("pages", "broken-links", "redirects", "external-links"),
        reports=("sitemaps", "in-sitemap-only", "sitemap-errors", "not-in-sitemap"),
    ),
    Mission("wide", reports=("important-pages",)),
    Mission("harvest", reads_store=True, stays_within_sites=True, gives=frozenset({REWARDS})),
)


class PlainSpider(SiteSpider):
    """Reads the listed sites, each page once."""

    name = "plain"

    def crawl_spec(self, settings):
        from crawlers.crawl.spec import crawl_of

        sites = self.sites(self.hosts, settings)
        return crawl_of(self.name, sites, settings, reads_sitemaps=settings.getbool("SITEMAPS_ENABLED"))


class WideSpider(SiteSpider):
    """Reads the sites of SCOPE again and again."""

    name = "wide"
    custom_settings = {  # noqa: RUF012 - Scrapy's convention
        **SiteSpider.custom_settings,
        **{"RULE": "best", "ORDER": "aopic", "GRAPH_FORMATS": [], "RESULT_TABLES": []},
    }

    def crawl_spec(self, settings):
        from crawlers.crawl.spec import crawl_of
        from crawlers.urls.scope import Scope

        sites = self.sites(self.hosts, settings)
        scope = Scope(settings.get("SCOPE"), [limits.site for limits in sites])
        return crawl_of(self.name, sites, settings, scope, revisits=True)
