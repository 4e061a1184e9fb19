"""The settings of the project for Scrapy: the defaults of our own, and what differs from Scrapy's.

Our own are declared in `crawlers.options`; docs/reference/settings.md has both.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

from crawlers import options

globals().update({name: one.default for name, one in options.SETTINGS.items()})

BOT_NAME = "crawlers"
SPIDER_MODULES = ["crawlers.spiders"]
NEWSPIDER_MODULE = "crawlers.spiders"
SPIDER_LOADER_CLASS = "crawlers.extensions.spider_loader.SpiderLoader"
COMMANDS_MODULE = "crawlers.commands"
_typed = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
if _typed.isidentifier() and find_spec(f"crawlers.commands.{_typed}") is not None:
    COMMANDS_MODULE += f".{_typed}"  # whose commands Scrapy all imports, to find the one that is typed
SCHEDULER = "crawlers.schedulers.adaptive.AdaptiveScheduler"
ITEM_PIPELINES = {
    "crawlers.pipelines.store.StorePipeline": 900,  # after those of users
    "crawlers.pipelines.graphs.GraphPipeline": 960,
}
SPIDER_MIDDLEWARES = {"crawlers.middlewares.callbacks.CallbackMiddleware": 10}  # the outermost: nearest to the engine
EXTENSIONS = {
    "crawlers.extensions.crawl_owner.CrawlOwner": 0,
    "crawlers.downloader.address_filter.AddressFilter": 0,
    "crawlers.extensions.pending_callbacks.PendingCallbacks": 0,
    "crawlers.extensions.quiet_scrapy.RunStats": 0,
    "crawlers.extensions.stopping.Stopping": 0,
    "crawlers.downloader.browser.Browser": 0,
    "crawlers.extensions.warc.Warc": 0,
    "crawlers.extensions.metrics_server.MetricsServer": 0,
    "scrapy.extensions.feedexport.FeedExporter": None,
    "crawlers.extensions.worker_feeds.WorkerFeeds": 0,
    "crawlers.extensions.progress.Progress": 0,
    "crawlers.extensions.summary.CrawlSummary": 10,  # below the live table
}
DOWNLOADER = "crawlers.middlewares.downloader.Downloader"
DOWNLOAD_HANDLERS = dict.fromkeys(("http", "https"), "crawlers.downloader.http.HTTPHandler")
DOWNLOADER_MIDDLEWARES = {
    # The scheduler obeys robots.txt, before a request exists.
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "crawlers.middlewares.rendering.RenderingMiddleware": 50,  # the last to see a response: complete and decompressed
    "crawlers.middlewares.responses.RedirectMiddleware": 610,  # next to Scrapy's own (600), which ours bypass
    "crawlers.middlewares.responses.ContentTypeMiddleware": 595,  # just before decompression, 590
}
ADDONS = {
    "crawlers.extensions.gc_tuning.GcTuning": 0,
    "crawlers.extensions.default_components.DefaultComponents": 0,  # keeps those of these that a crawl uses
    "crawlers.extensions.quiet_scrapy.DebugDumps": 0,
    "crawlers.extensions.json_log.JsonLog": 0,
}
STATS_CLASS = "crawlers.extensions.quiet_scrapy.PageStats"
LOG_FORMATTER = "crawlers.extensions.quiet_scrapy.PageLogFormatter"
CONCURRENT_REQUESTS_PER_DOMAIN = 1000  # the frontier's gates decide
DOWNLOAD_DELAY = 0.0  # likewise
DOWNLOAD_WARNSIZE = 0  # a large page has a state and a reason instead of a warning
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False  # no code is run in a crawl from outside
FEED_EXPORT_ENCODING = "utf-8"
FEED_EXPORTERS = {"csv": "crawlers.extensions.worker_feeds.GuardedCsvExporter"}  # no formulas of strangers
