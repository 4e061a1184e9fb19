"""A mission that adds nothing to the core, for tests of the core."""

from crawlers.spiders.base import SiteSpider


class PlainSpider(SiteSpider):
    name = "plain"
