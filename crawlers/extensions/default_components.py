"""Chooses the components of a crawl: those of users, and of the others only those that it uses.

Scrapy replaces such a setting as a whole: without this add-on, `-s ITEM_PIPELINES={"mine.Pages": 100}` would remove
the store's pipeline, and the crawl would silently store nothing. And it imports what is switched off, which took a
third of the time in which a crawl begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers import settings as defaults
from crawlers.inputs.setting_readers import are_any_rendered, shows_progress
from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

_OURS: Mapping[str, Mapping[str, int | None]] = {
    "DOWNLOADER_MIDDLEWARES": defaults.DOWNLOADER_MIDDLEWARES,
    "EXTENSIONS": defaults.EXTENSIONS,
    "ITEM_PIPELINES": defaults.ITEM_PIPELINES,
    "SPIDER_MIDDLEWARES": defaults.SPIDER_MIDDLEWARES,
}
# Components that a crawl uses only if one of these settings is not empty.
_ONLY_WITH = {
    "crawlers.extensions.metrics_server.MetricsServer": "METRICS_PORT",
    "crawlers.extensions.warc.Warc": "WARC_FILE",
    "crawlers.extensions.worker_feeds.WorkerFeeds": "FEEDS FEED_URI",
    "crawlers.pipelines.graphs.GraphPipeline": "GRAPH_FORMATS RESULT_TABLES",
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": "COOKIES_ENABLED",
    "scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware": "HTTPCACHE_ENABLED",
    "scrapy.extensions.memdebug.MemoryDebugger": "MEMDEBUG_ENABLED",
    "scrapy.extensions.remote_control.RemoteControl": "REMOTE_CONTROL_ENABLED",
    "scrapy.extensions.spiderstate.SpiderState": "JOBDIR",
    "scrapy.extensions.telnet.TelnetConsole": "TELNETCONSOLE_ENABLED",
    "scrapy.extensions.throttle.AutoThrottle": "AUTOTHROTTLE_ENABLED",
}
_PROGRESS = "crawlers.extensions.progress.Progress"
_RENDERING = frozenset({"crawlers.downloader.browser.Browser", "crawlers.middlewares.rendering.RenderingMiddleware"})
# Of plain Scrapy spiders. For missions, these are tasks of the frontier (retries, redirects, depth, limits to sites),
# or for requests that a spider yields, which missions do not: each would cost some 10 µs per page.
_OF_PLAIN_SPIDERS = frozenset(
    {
        "crawlers.extensions.pending_callbacks.PendingCallbacks",
        "crawlers.middlewares.callbacks.CallbackMiddleware",
        "scrapy.extensions.corestats.CoreStats",
        "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",
        "scrapy.downloadermiddlewares.retry.RetryMiddleware",
        "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware",
        "scrapy.downloadermiddlewares.redirect.RedirectMiddleware",
        "scrapy.spidermiddlewares.start.StartSpiderMiddleware",
        "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware",
        "scrapy.spidermiddlewares.referer.RefererMiddleware",
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware",
        "scrapy.spidermiddlewares.depth.DepthMiddleware",
        "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware",
    }
)


class DefaultComponents:
    """An add-on that adds missing components, keeps named ones with their number, and leaves out what is not used."""

    def __init__(self, crawler: Crawler) -> None:
        self._spider = crawler.spider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        of_mission = self._spider.components if isinstance(self._spider, SiteSpider) else {}
        unused = self._unused(settings)
        for name, ours in _OURS.items():
            named = settings.getdict(name)
            known = {_path(part) for part in named}
            missing = {path: at for path, at in {**ours, **of_mission.get(name, {})}.items() if path not in known}
            parts = named | missing
            off = unused.union(_path(part) for part, place in parts.items() if place is None)
            for setting, found in ((name, parts), (f"{name}_BASE", settings.getdict(f"{name}_BASE"))):
                kept = {part: place for part, place in found.items() if _path(part) not in off}
                settings.set(setting, kept, settings.getpriority(setting) or 0)
        if isinstance(self._spider, SiteSpider):
            handlers = settings.getdict("DOWNLOAD_HANDLERS_BASE")
            kept = {scheme: handlers[scheme] for scheme in ("http", "https") if scheme in handlers}
            settings.set("DOWNLOAD_HANDLERS_BASE", kept, settings.getpriority("DOWNLOAD_HANDLERS_BASE") or 0)

    def _unused(self, settings: BaseSettings) -> frozenset[str]:
        unused = {
            path for path, names in _ONLY_WITH.items() if not any(_is_on(settings.get(name)) for name in names.split())
        }
        if not shows_progress(settings):
            unused.add(_PROGRESS)
        if not isinstance(self._spider, SiteSpider):
            return _RENDERING.union(unused)
        rendering = () if are_any_rendered(settings, self._spider.spec.sites) else _RENDERING
        return _OF_PLAIN_SPIDERS.union(unused, rendering)


def _is_on(value: Any) -> bool:
    return bool(value) and str(value).lower() not in ("0", "false", "none")


def _path(part: Any) -> str:
    """Return the import path of a component, which users also give as a class."""
    return part if isinstance(part, str) else f"{part.__module__}.{part.__qualname__}"
