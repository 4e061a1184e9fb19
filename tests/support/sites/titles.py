"""A plain Scrapy spider that returns titles."""

from scrapy import Spider


class TitlesSpider(Spider):
    name = "titles"

    def parse(self, response):
        """Return the title of a page.

        @url data:,
        @returns items 1 1
        """
        yield {"title": response.css("title::text").get()}
