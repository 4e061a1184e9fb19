"""Feed exports (`-o`, `-O`) of crawls with several workers: each worker that joins others writes files of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.extensions.feedexport import FeedExporter

from crawlers.extensions.crawl_owner import owner_of
from crawlers.storage.files.names import of_worker

if TYPE_CHECKING:
    from scrapy import Spider

STDOUT = "stdout:"


class WorkerFeeds(FeedExporter):
    """Scrapy's feed exports; of `pages.csv`, worker 17, which joined others, writes `pages.17.csv`.

    A crawl that could not begin opens no file: with `-O` it would empty that of an earlier crawl, or of one that runs.
    """

    def open_spider(self, spider: Spider) -> None:
        owner = owner_of(self.crawler)
        if owner.failure is not None:
            return
        number = owner.joined_as
        if number is not None:
            names = {uri: uri if uri == STDOUT else of_worker(uri, number) for uri in self.feeds}
            self.feeds = {names[uri]: options for uri, options in self.feeds.items()}
            self.filters = {names[uri]: chosen for uri, chosen in self.filters.items()}
        super().open_spider(spider)
