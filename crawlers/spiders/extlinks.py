"""As many external links as possible within a budget, over the sites on a subject (BeeBot)."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError
from crawlers.spiders.base import HOSTS_FILE, NAME_SITES, SiteSpider, read_hosts

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from crawlers.crawl.spec import CrawlSpec
    from crawlers.items import SiteLimits


class ExtLinksSpider(SiteSpider):
    """`scrapy crawl extlinks -s RULE=auto -s PAGE_BUDGET=2000`: the seeds of the store, or of hosts.txt."""

    name = "extlinks"
    custom_settings = {  # noqa: RUF012 - Scrapy's convention
        **SiteSpider.custom_settings,
        "ORDER": "learnt",
        "MAX_LEVEL": 5,
        "LINK_TAGS": "a,area,link,frame,iframe,meta",  # every element with an href; frames are pages of the site
        "GRAPH_FORMATS": [],  # sites are not read completely; see `scrapy graph --level site`
        "RESULT_TABLES": ["external-links"],  # one of all sites
    }

    def crawl_spec(self, settings: BaseSettings) -> CrawlSpec:
        from crawlers.missions.extlinks.rewards import harvest_of

        return harvest_of(self.name, self.sites(self.hosts, settings), settings)

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        if not settings.get("PROFILE"):  # which chooses the rule
            settings.set("RULE", "auto", priority="spider")

    @classmethod
    def sites(cls, hosts: str | None, settings: BaseSettings) -> list[SiteLimits]:
        """Return the sites of `-a hosts=`, else the enabled seeds, else those of hosts.txt; raises `ConfigError`."""
        from crawlers.store.database import Database
        from crawlers.store.sites.seeds import crawl_seeds

        if hosts:
            return read_hosts(hosts)
        limits: list[SiteLimits] = []
        try:
            with closing(Database(settings.get("DATABASE_URL"), create=False)) as database:
                limits, missing = crawl_seeds(database), f"{database.name} has no enabled site"
        except ConfigError as error:
            missing = str(error).rsplit("; ", 1)[0]  # without its remedy
        if limits:
            return limits
        if not Path(HOSTS_FILE).is_file():
            raise ConfigError(
                f"no sites are given, and {missing}; {NAME_SITES}, or add them to the store with scrapy sites add URL"
            )
        return super().sites(None, settings)
