"""The common base of the missions' spiders: the list of sites, and reading a response."""

from __future__ import annotations

import logging
import re
import time
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider

from crawlers.errors import ConfigError
from crawlers.items import LEASE, REDIRECT, Page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from crawlers.crawl.control import CrawlControl
    from crawlers.crawl.run import Run
    from crawlers.crawl.spec import CrawlSpec
    from crawlers.items import SiteLimits
    from crawlers.pages.response import WebResponse
    from crawlers.urls.resolution import Redirect

PAGE_FIELDS = (  # of a page, in feeds (-o, -O); others are for the crawl itself
    "url",
    "status",
    "state",
    "reason",
    "level",
    "title",
    "canonical",
    "content_type",
    "size_bytes",
    "moved_to",
    "content_hash",
)
LIST_FIELDS = ("links", "cross_site_links", "external", "bad")  # likewise, but no format of tables can hold them
TABLE_FORMATS = frozenset({"csv"})
COMPONENTS = "crawlers.extensions.default_components.DefaultComponents"  # the add-on that chooses them
_READ = (b"Content-Type", b"Retry-After", b"Etag", b"Last-Modified")  # headers of responses, as Scrapy has them
_CONDITIONS = (b"If-None-Match", b"If-Modified-Since")  # of requests, RFC 9110 section 13.1
MAX_REDIRECTS = 5  # of what a mission fetches before its pages
HOSTS_FILE = "hosts.txt"  # of the folder where a crawl is started, if it is given no sites
NAME_SITES = f"list them in {HOSTS_FILE} in this folder, or name them or a file with -a hosts=example.org"

logger = logging.getLogger(__name__)


class SiteSpider(Spider):
    """Crawls the sites of `-a hosts=`: a file, or the sites themselves with commas between them."""

    arguments = ("hosts",)  # of -a
    read_types: tuple[str, ...] = ()  # parts of content types whose bodies are read besides pages
    components: Mapping[str, Mapping[str, int]] = MappingProxyType({})  # that other missions don't need, by setting
    hosts: str | None = None
    spec: CrawlSpec
    run: Run | None = None  # the mission at work; None: the crawl could not begin
    control: CrawlControl  # of the crawl, if it could
    custom_settings = {  # noqa: RUF012 - Scrapy's convention
        "CONCURRENT_ITEMS": 1,  # a page is one item; Scrapy starts that many tasks per response
        "WARN_ON_GENERATOR_RETURN_VALUE": False,  # it reads the source of each callback
    }

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        # The settings of users replace this one as a whole, and nothing else would add the components of the mission.
        addons = {COMPONENTS: 0} | settings.getdict("ADDONS")
        settings.set("ADDONS", addons, priority=(settings.getpriority("ADDONS") or 0) + 1)
        feeds = {
            uri: {**cls.feed_options(settings, given.get("format", "")), **given}
            for uri, given in settings.getdict("FEEDS").items()
        }
        if feeds:  # one above, because Scrapy applies the command line once more before the crawl
            settings.set("FEEDS", feeds, priority=(settings.getpriority("FEEDS") or 0) + 1)

    @classmethod
    def feed_options(cls, settings: BaseSettings, format_: str) -> dict[str, Any]:
        """Return the default options of feeds in a format: pages with their readable fields."""
        if settings.get("FEED_EXPORT_FIELDS"):
            return {}
        return {"fields": [*PAGE_FIELDS, *(() if format_ in TABLE_FORMATS else LIST_FIELDS)]}

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        known = ", ".join(cls.arguments)
        unknown = [name for name in kwargs if name not in cls.arguments and not name.startswith("_")]  # scrapyd: _job
        if unknown:
            raise ConfigError(f"unknown argument {unknown[0]}; -a takes {known}; settings are given with -s NAME=value")
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.spec = spider.crawl_spec(crawler.settings)
        return spider

    def crawl_spec(self, settings: BaseSettings) -> CrawlSpec:
        """Return the specification of the crawl, by arguments and settings. Raises `ConfigError`."""
        from crawlers.crawl.spec import crawl_of

        return crawl_of(self.name, self.sites(self.hosts, settings), settings)

    @classmethod
    def sites(cls, hosts: str | None, settings: BaseSettings) -> list[SiteLimits]:
        """Return the sites to crawl: if no *hosts* are given, those of the file hosts.txt. Raises `ConfigError`."""
        if hosts is None and Path(HOSTS_FILE).is_file():
            logger.info("No sites are given: those of %s are crawled", Path(HOSTS_FILE).absolute())
            hosts = HOSTS_FILE
        return read_hosts(hosts)

    async def start(self) -> AsyncIterator[Any]:
        """Yield nothing: the crawl knows the sites, and the URLs that wait."""
        if self.run is not None:
            await self._call(self.run, "begin", self._fetch)
        return
        yield  # makes this a generator

    async def _call(self, run: Run, method: str, *arguments: Any) -> None:
        """Call a *method* of the mission; if it raises, the crawl is aborted, or has failed after all."""
        from crawlers.crawl.control import naming

        try:
            with naming(run, method):
                await getattr(run, method)(*arguments)
        except Exception as error:
            self.control.abort_for(f"the mission failed in {method}", error)

    async def _fetch(self, url: str) -> WebResponse:
        """Return the response to a request of the mission, wherever it redirects; raises what a downloader raises."""
        engine = self.crawler.engine
        assert engine is not None
        for _ in range(MAX_REDIRECTS):
            request = Request(url, meta={"handle_httpstatus_all": True, "dont_redirect": True})
            response = await engine.download_async(request)
            redirect: Redirect | None = request.meta.get(REDIRECT)
            if redirect is None or redirect.target is None:
                break
            url = redirect.target.url
        return web_response(response, request)

    def parse(self, response: Response) -> Iterable[Page] | AsyncIterator[Page]:
        page = self.read(response)
        return [page] if isinstance(page, Page) else _awaited(page)

    def read(self, response: Response) -> Page | Awaitable[Page]:
        """Return the page in a *response* to a request for one."""
        assert response.request is not None
        assert self.run is not None
        return self.run.read(web_response(response, response.request), response.request.meta[LEASE], time.time())

    async def closed(self, reason: str) -> None:
        if self.run is not None:
            await self._call(self.run, "close")


async def _awaited(page: Awaitable[Page]) -> AsyncIterator[Page]:
    yield await page


def web_response(response: Response, request: Request) -> WebResponse:
    """Return the *response* to *request* without Scrapy."""
    from crawlers.pages.response import WebResponse

    headers = dict(dict.items(response.headers))  # Scrapy makes each name anew, and looks up every value twice
    last = {name: headers[name][-1].decode("latin-1") for name in _READ if headers.get(name)}
    return WebResponse(
        response.url,
        response.status,
        response.body,
        last.get(b"Content-Type"),
        request.meta.get(REDIRECT),
        last.get(b"Retry-After"),
        "dataloss" in response.flags,
        last.get(b"Etag"),
        last.get(b"Last-Modified"),
        request.meta.get("download_latency"),
        b", ".join(headers.get(b"X-Robots-Tag", ())).decode("latin-1"),
        not request.headers.keys().isdisjoint(_CONDITIONS),
    )


def header(response: Response, name: str) -> str | None:
    """Return the last header of that name as text; None if there is none."""
    values = dict.get(response.headers, _key(name))
    return values[-1].decode("latin-1") if values else None


@cache
def _key(name: str) -> bytes:
    """Return the *name* of a header as Scrapy has it, which makes it anew at each look-up."""
    return name.title().encode()


def read_hosts(hosts: str | None) -> list[SiteLimits]:
    """Return the sites in *hosts*: a path, or a comma-separated list.

    Raises `ConfigError` if it is missing or can't be read, or for its content.
    """
    from crawlers.sites.hosts_file import parse_host_list, parse_hosts

    if not hosts:
        raise ConfigError(f"no sites are given: {NAME_SITES}")
    path = Path(hosts)
    if not path.is_file():
        if _names_sites(hosts):
            return parse_host_list(hosts)
        if path.is_dir():
            raise ConfigError(f"hosts={hosts} is a folder; name a file in it, or write http:// in front of a site")
        where, remedy = ("", "check") if path.is_absolute() else (f" in {Path.cwd()}", "give")
        raise ConfigError(
            f"hosts={hosts}: there is no such file{where}; {remedy} its full path, or write http:// in front of a site"
        )
    try:
        return parse_hosts(path.read_text("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"hosts={hosts} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from error
    except OSError as error:
        raise ConfigError(f"hosts={hosts} can't be read: {error.strerror}; check its permissions") from error


def _names_sites(hosts: str) -> bool:
    """Return whether *hosts*, which is no file, is a list of sites rather than the wrong path of a file."""
    if "," in hosts or "://" in hosts:
        return True
    address = hosts.partition(";")[0]
    host, slash, _ = address.partition("/")
    if host.startswith(".") or address.endswith(".txt") or (slash and Path(host).is_dir()):
        return False
    return "." in host or bool(re.fullmatch(r"[\w-]+:\d+", host))
