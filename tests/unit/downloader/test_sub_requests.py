"""What the scripts of a page request is downloaded by the crawl, under the rules and delays of each host."""

import asyncio
from contextlib import suppress
from types import SimpleNamespace

import pytest
from scrapy.http import Response

from crawlers.downloader import sub_requests
from crawlers.downloader.sub_requests import Answer, Hosts, SubRequests
from crawlers.frontier.politeness import HostGate
from tests.support.opened_crawl import project_settings

OURS, OTHER = "http://www.ours.org", "http://cdn.test"
LEASE = SimpleNamespace(key=1, url=f"{OURS}/")


class World:
    """A crawl of one site whose robots.txt is known, and the web by URL; a missing URL has no response."""

    def __init__(self, monkeypatch, web, **settings):
        self.requested = []
        self.waits_s = []
        self.gate = HostGate(1, 3.0)
        self._web = web
        sites = SimpleNamespace(open_site_id=lambda site: 1 if site == OURS else None)
        robots = SimpleNamespace(
            are_obeyed=True,
            knows=lambda site: site == OURS,
            reason_against=lambda site, url: "robots.txt disallows it" if "secret" in url else None,
        )
        frontier = SimpleNamespace(site=lambda site_id: self)
        of_crawl = {"sites": sites, "robots": robots, "frontier": frontier}
        crawl = SimpleNamespace(**of_crawl, clock=lambda: 100.0, robots_token="us")
        monkeypatch.setattr(sub_requests, "owner_of", lambda crawler: SimpleNamespace(crawl=crawl))
        values = project_settings(**{"SITE_DELAY_SECONDS": 0.0, **settings})
        self._crawler = SimpleNamespace(settings=values, engine=SimpleNamespace(download_async=self._download))
        self.hosts = Hosts(self._crawler)
        self._sleep = asyncio.sleep
        monkeypatch.setattr(sub_requests.asyncio, "sleep", self._wait)

    async def _download(self, request):
        self.requested.append(request.url)
        if request.url not in self._web:
            raise OSError("no response")
        return self._web[request.url]

    async def _wait(self, wait_s):
        self.waits_s.append(wait_s)
        await self._sleep(0)

    async def turn(self):
        """Let the other tasks go on until they wait."""
        for _ in range(5):
            await self._sleep(0)

    def page(self):
        return SubRequests(self._crawler, LEASE, Response(f"{OURS}/"), self.hosts)

    def answers(self, *urls, kind="fetch"):
        """Return the answers to the requests of one page."""
        page = self.page()

        async def ask():
            return [await page._answer(url, kind) for url in urls]

        return asyncio.run(ask())


def found(url, body=b"x", status=200, **headers):
    return {url: Response(url, status, headers, body)}


def test_answer_is_what_the_crawl_downloads_and_is_not_requested_again(monkeypatch):
    world = World(monkeypatch, found(f"{OURS}/x", b"[]", **{"Content-Type": "a/b", "Set-Cookie": "c"}))
    assert world.answers(f"{OURS}/x", f"{OURS}/x") == [Answer(200, {"content-type": "a/b"}, b"[]")] * 2
    assert world.answers(f"{OURS}/x") != [None], "another page"
    assert world.requested == [f"{OURS}/x"]


def test_delay_of_the_site_is_kept(monkeypatch):
    world = World(monkeypatch, {**found(f"{OURS}/1"), **found(f"{OURS}/2")})
    world.gate.record_start(100.0)
    world.answers(f"{OURS}/1", f"{OURS}/2")
    assert world.waits_s == [3.0, 6.0]
    assert world.gate.in_flight == 1


MOVED = {
    **found(f"{OTHER}/robots.txt", status=301, Location="http://www.cdn.test/robots.txt"),
    **found("http://www.cdn.test/robots.txt", b"User-agent: *\nDisallow: /x"),
}


@pytest.mark.parametrize(
    ("robots", "is_allowed"),
    [
        (MOVED, False),
        (found(f"{OTHER}/robots.txt", b"User-agent: us\nDisallow: /y"), True),
        (found(f"{OTHER}/robots.txt", b"User-agent: *\nDisallow: /x"), False),
        (found(f"{OTHER}/robots.txt", status=404), True),
        (found(f"{OTHER}/robots.txt", status=500), False),
        ({}, False),
    ],
)
def test_robots_txt_of_another_host_is_fetched_once_and_applies(monkeypatch, robots, is_allowed):
    world = World(monkeypatch, {**robots, **found(f"{OTHER}/x.js"), **found(f"{OTHER}/x2.js")})
    answers = world.answers(f"{OTHER}/x.js", f"{OTHER}/x2.js", kind="script")
    assert [answer is not None for answer in answers] == [is_allowed] * 2
    assert world.requested.count(f"{OTHER}/robots.txt") == 1


def test_number_of_hosts_in_memory_is_limited(monkeypatch):
    monkeypatch.setattr(sub_requests, "MAX_HOSTS", 2)
    world = World(monkeypatch, {})
    locks = [world.hosts.lock(f"http://{name}.test") for name in "aba"]
    assert locks[0] is locks[2]
    world.hosts.lock("http://c.test")
    assert world.hosts.lock("http://a.test") is locks[0]
    assert world.hosts.lock("http://b.test") is not locks[1]


def test_crawl_delay_of_another_host_is_kept(monkeypatch):
    robots = found(f"{OTHER}/robots.txt", b"User-agent: *\nCrawl-delay: 1e308")
    world = World(monkeypatch, {**robots, **found(f"{OTHER}/1"), **found(f"{OTHER}/2")}, ROBOTS_MAX_DELAY_SECONDS=9)
    world.answers(f"{OTHER}/1", f"{OTHER}/2", kind="script")
    assert world.waits_s == [9.0, 18.0]


def test_data_comes_from_hosts_of_the_same_registered_domain_only(monkeypatch):
    near = "http://api.ours.org"
    web = {**found(f"{OTHER}/x"), **found(f"{near}/robots.txt", status=404), **found(f"{near}/x")}
    world = World(monkeypatch, web)
    assert [answer is not None for answer in world.answers(f"{OTHER}/x", f"{near}/x")] == [False, True]
    assert f"{OTHER}/robots.txt" not in world.requested


def test_redirects_are_followed_under_the_rules_of_their_targets(monkeypatch):
    web = {
        **found(f"{OURS}/1", status=302, Location="/2"),
        **found(f"{OURS}/2"),
        **found(f"{OURS}/3", status=302, Location="/secret"),
        **found(f"{OURS}/4", status=302, Location="file:///etc/passwd"),
        **found(f"{OURS}/5", status=302, Location="/6"),
        **found(f"{OURS}/6", status=302, Location="/5"),
    }
    world = World(monkeypatch, web)
    answers = world.answers(*(f"{OURS}/{number}" for number in (1, 3, 4, 5)))
    assert [answer and answer.body for answer in answers] == [b"x", None, None, None]


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://www.ours.org/x", "data:,x", "chrome://version", "http://"]
)
def test_other_schemes_are_not_requested(monkeypatch, url):
    world = World(monkeypatch, {})
    assert world.answers(url, kind="script") == [None]
    assert world.requested == []


def test_requests_of_a_page_are_limited(monkeypatch):
    web = {url: response for number in range(5) for url, response in found(f"{OURS}/{number}").items()}
    monkeypatch.setattr(sub_requests, "MAX_REQUESTS", 2)
    world = World(monkeypatch, web)
    assert sum(answer is not None for answer in world.answers(*web)) == 2
    assert len(world.requested) == 2


def test_memory_for_answers_is_limited(monkeypatch):
    monkeypatch.setattr(sub_requests, "MAX_BYTES", 10)
    web = {url: response for number in range(3) for url, response in found(f"{OURS}/{number}", b"12345").items()}
    world = World(monkeypatch, web)
    world.answers(*web)
    assert [world.hosts.cached(url) is not None for url in web] == [False, True, True]


def test_clock_of_the_page_stops_while_it_waits_for_a_host(monkeypatch):
    world = World(monkeypatch, {**found(f"{OURS}/1"), **found(f"{OURS}/2")})
    page = world.page()
    clocks = []

    async def wait(wait_s):
        clocks.append(page.limit.when())

    async def ask():
        monkeypatch.setattr(sub_requests.asyncio, "sleep", wait)
        async with asyncio.timeout(1000.0) as page.limit:
            assert await page._answer(f"{OURS}/1", "fetch") is not None
            return page.limit.when()

    assert asyncio.run(ask()) is not None, "it goes on afterwards"
    assert clocks == [None]


@pytest.mark.parametrize("is_late", [True, False], ids=["timed out", "ended"])
def test_page_that_ends_while_it_waits_requests_nothing_and_raises_nothing(monkeypatch, caplog, is_late):
    world = World(monkeypatch, {**found(f"{OURS}/1"), **found(f"{OURS}/2")})
    page = world.page()
    route = Route()

    async def ask():
        async with world.hosts.lock(OURS):
            with suppress(TimeoutError):
                async with asyncio.timeout(1000.0) as page.limit:
                    asked = asyncio.ensure_future(page.answer(route, fetched(f"{OURS}/1")))
                    await world.turn()
                    if is_late:
                        page.limit.reschedule(0.0)
                        await asyncio.Event().wait()
            page.close()
        await asked
        await page.answer(route, fetched(f"{OURS}/2"))

    asyncio.run(ask())
    assert world.requested == []
    assert route.outcomes == ["aborted", "aborted"]
    assert not caplog.records


def test_unexpected_error_of_a_request_is_logged_and_not_raised(monkeypatch, caplog):
    world = World(monkeypatch, {})
    page = world.page()
    monkeypatch.setattr(world.hosts, "cached", lambda url: 1 / 0)
    asyncio.run(page.answer(Route(), fetched(f"{OURS}/1")))
    assert "can't be answered" in caplog.text


class Route:
    """A request of the browser that waits for its answer."""

    def __init__(self):
        self.outcomes = []

    async def abort(self):
        self.outcomes.append("aborted")


def fetched(url):
    return SimpleNamespace(url=url, resource_type="fetch", method="GET", is_navigation_request=lambda: False)
