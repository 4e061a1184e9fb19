"""Answers the requests that a rendered page makes, with what the crawl downloads.

What the links of a page may depend on is downloaded: scripts, and the data that they request. Images, fonts, styles,
media, frames and everything but GET is not. robots.txt of the host applies, and so do its delay, and its
limit of parallel downloads, since a page requests one thing at a time, in place of its own download. Other hosts are
requested likewise, with the default delay: for scripts, and if they have the same registered domain also for data. What
is kept in memory is not requested again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request
from scrapy.utils.datatypes import LocalCache

from crawlers.errors import BadUrl
from crawlers.extensions.crawl_owner import owner_of
from crawlers.frontier.politeness import HostGate
from crawlers.inputs.setting_readers import normalization
from crawlers.pages.robots_groups import UNREACHABLE
from crawlers.sites.robots_rules import MAX_REDIRECTS, RobotsCache, RobotsRules, robots_text
from crawlers.urls.domains import domain_group
from crawlers.urls.resolution import redirect_of, site_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.async_api import Request as BrowserRequest
    from playwright.async_api import Route
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlers.frontier.values import Lease
    from crawlers.urls.resolution import Redirect

logger = logging.getLogger(__name__)

SCRIPT = "script"
NEEDED = frozenset({SCRIPT, "xhr", "fetch"})
MAX_BYTES = 64_000_000  # of answers that are kept
MAX_HOSTS = 10_000  # outside the crawl whose last request is remembered
OWN_HEADERS = frozenset({"content-encoding", "content-length", "set-cookie", "transfer-encoding"})
PLAIN = {"handle_httpstatus_all": True, "dont_redirect": True, "dont_retry": True}


class Answer(NamedTuple):
    """The response to a request of a page."""

    status: int
    headers: dict[str, str]
    body: bytes


class Host:
    """The politeness towards a host: one request of pages at a time, and a delay if it is not a site of the crawl."""

    def __init__(self, delay_s: float) -> None:
        self.lock = asyncio.Lock()
        self.gate = HostGate(1, delay_s)


class Hosts:
    """The hosts that pages request something from, and their answers by URL: up to MAX_BYTES, the latest ones."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl = owner_of(crawler).crawl
        self._options = normalization(crawler.settings)
        self._delay_s = crawler.settings.getfloat("SITE_DELAY_SECONDS")
        self._longest_delay_s = crawler.settings.getfloat("ROBOTS_MAX_DELAY_SECONDS")
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._bytes = 0
        self._hosts: LocalCache[str, Host] = LocalCache(MAX_HOSTS)  # those that were used most recently
        self._rules = RobotsCache()  # of hosts that are not part of the crawl

    def _host(self, site: str) -> Host:
        host = self._hosts.setdefault(site, Host(self._delay_s))
        self._hosts.move_to_end(site)
        return host

    def lock(self, site: str) -> asyncio.Lock:
        """Return the lock that allows one request of pages to *site* at a time."""
        return self._host(site).lock

    def gate(self, site: str) -> HostGate:
        """Return the politeness of *site*, that of the frontier if it is a site of the crawl."""
        site_id = self._crawl.sites.open_site_id(site)
        return self._host(site).gate if site_id is None else self._crawl.frontier.site(site_id).gate

    async def reason_against(self, site: str, url: str) -> str | None:
        """Return why robots.txt of *site* forbids *url*, or None."""
        if not self._crawl.robots.are_obeyed:
            return None
        if self._crawl.robots.knows(site):
            return self._crawl.robots.reason_against(site, url)
        rules = self._rules.get(site)
        if rules is None:
            rules = await self._robots_of(site)
            self._rules.keep(site, rules)
            gate = self.gate(site)
            gate.ask_for_delay(min(rules.crawl_delay_s, self._longest_delay_s))
            gate.record_request(self._crawl.clock())
        return rules.reason_against(url)

    async def _robots_of(self, site: str) -> RobotsRules:
        url, answer = f"{site}/robots.txt", None
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self.download(url, keeps=False)
            redirect = None if answer is None else self.redirect(url, answer)
            if redirect is None or redirect.target is None:
                break
            url = redirect.target.url
        status, body = (UNREACHABLE, b"") if answer is None else (answer.status, answer.body)
        return RobotsRules(status, robots_text(body) if status == 200 else None, self._crawl.robots_token)

    def redirect(self, url: str, answer: Answer) -> Redirect | None:
        """Return where the *answer* for *url* redirects; None if it does not."""
        location = answer.headers.get("location")
        return redirect_of(url, answer.status, location.encode("latin-1") if location else None, self._options)

    def cached(self, url: str) -> Answer | None:
        """Return the answer for *url*; None if it is not kept."""
        if url in self._answers:
            self._answers.move_to_end(url)
        return self._answers.get(url)

    async def download(self, url: str, *, keeps: bool = True) -> Answer | None:
        """Return what is downloaded from *url*; None if there is no response."""
        request = Request(url, dont_filter=True, meta=dict(PLAIN))
        try:
            response = await self._crawler.engine.download_async(request)
        except Exception:  # whatever fails, the browser learns only that there is no answer
            return None
        headers = {
            name.decode("latin-1").lower(): b", ".join(values).decode("latin-1")
            for name, values in response.headers.items()
        }
        own = {name: text for name, text in headers.items() if name not in OWN_HEADERS}
        answer = Answer(response.status, own, response.body)
        if keeps and url not in self._answers:
            self._answers[url] = answer
            self._bytes += len(answer.body)
            while self._bytes > MAX_BYTES:
                self._bytes -= len(self._answers.popitem(last=False)[1].body)
        return answer


MAX_REQUESTS = 100  # of the scripts of one page; further ones are refused


class SubRequests:
    """The requests of the page that was downloaded for *lease* as *response*, to *hosts*."""

    def __init__(self, crawler: Crawler, lease: Lease, response: Response, hosts: Hosts) -> None:
        self._crawl = owner_of(crawler).crawl
        self._lease = lease
        self._response = response
        self._hosts = hosts
        self._options = normalization(crawler.settings)
        self._domain = domain_group(site_of(response.url))
        self._left = MAX_REQUESTS
        self._turn = asyncio.Lock()
        self._is_open = False  # whether the browser has got the page
        self.redirect: Redirect | None = None  # where scripts want to go instead
        self._is_closed = False
        self.limit: asyncio.Timeout | None = None  # of the page; it does not run while the page waits for a host

    def close(self) -> None:
        """Request nothing more: the page has ended."""
        self._is_closed = True
        self._left = 0

    async def answer(self, route: Route, request: BrowserRequest) -> None:
        """Answer a *request* of the browser.

        Raises nothing: Playwright would raise it again in its next call, which may be that of another page.
        """
        from playwright.async_api import Error

        try:
            await self._respond(route, request)
        except Error:  # the page was closed in the meantime
            pass
        except Exception:
            logger.exception("A request of %s can't be answered", self._lease.url)

    async def _respond(self, route: Route, request: BrowserRequest) -> None:
        if request.is_navigation_request() and request.frame.parent_frame is None:
            await self._navigate(route, request)
            return
        if request.resource_type not in NEEDED or request.method != "GET":
            await route.abort()
            return
        async with self._turn:
            answer = await self._answer(request.url.partition("#")[0], request.resource_type)
            if answer is None:
                await route.abort()
            else:
                await route.fulfill(status=answer.status, headers=answer.headers, body=answer.body)

    async def _navigate(self, route: Route, request: BrowserRequest) -> None:
        if not self._is_open:
            self._is_open = True
            headers = {"content-type": (self._response.headers.get("Content-Type") or b"").decode("latin-1")}
            await route.fulfill(status=200, headers=headers, body=self._response.body)
            return
        redirect = redirect_of(self._response.url, 302, request.url.encode(), self._options)
        if redirect is not None and redirect.target is not None and redirect.target.key != self._lease.key:
            self.redirect = self.redirect or redirect
        await route.abort()

    async def _answer(self, url: str, kind: str) -> Answer | None:
        """Return the answer for *url* after redirects; None if it may not be requested, or there is none."""
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._one(url, kind)
            if answer is None:
                return None
            redirect = self._hosts.redirect(url, answer)
            if redirect is None:
                return answer
            if redirect.target is None:
                return None
            url = redirect.target.url
        return None

    async def _one(self, url: str, kind: str) -> Answer | None:
        try:
            site = site_of(url)
        except BadUrl:
            return None
        if self._left <= 0 or not (kind == SCRIPT or domain_group(site) == self._domain):
            return None
        self._left -= 1
        lock = self._hosts.lock(site)
        with self._uncounted():
            await lock.acquire()
        try:
            return self._hosts.cached(url) or await self._download(site, url)
        finally:
            lock.release()

    async def _download(self, site: str, url: str) -> Answer | None:
        with self._uncounted():
            if self._is_closed or await self._hosts.reason_against(site, url) is not None:
                return None
            now = self._crawl.clock()
            await asyncio.sleep(max(0.0, self._hosts.gate(site).schedule_request(now) - now))
        return None if self._is_closed else await self._hosts.download(url)

    @contextmanager
    def _uncounted(self) -> Iterator[None]:
        """Stop the clock of the page during a wait for a host."""
        limit, loop = self.limit, asyncio.get_running_loop()
        until = None if limit is None or limit.expired() else limit.when()
        if limit is None or until is None:
            yield
            return
        left_s = until - loop.time()
        limit.reschedule(None)
        try:
            yield
        finally:
            if not self._is_closed:
                limit.reschedule(loop.time() + left_s)
