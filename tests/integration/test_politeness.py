"""The limits of hosts are kept: parallel downloads, and rests after 429 and 503; no host delays another."""

import asyncio

import pytest

from crawlers.items import State
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages

PAGES = 24
WORK_S = 0.03  # of a server for a page
REST_S = 1  # the Retry-After of the hosts


def many(at_once=1, read=None):
    """A home page that links to PAGES pages, each of which takes the server WORK_S.

    They wait until *at_once* pages are requested at the same time. The event *read* is set at the last request.
    """
    bodies = {f"/{n}": f"<title>{n}</title>" for n in range(PAGES)}
    site = pages(bodies | {"/": links(*bodies)})
    enough = asyncio.Event()

    async def respond(exchange):
        if exchange.site.at_once >= at_once:
            enough.set()
        if read is not None and len(exchange.site.requests) == PAGES + 3:
            read.set()
        if exchange.path[1:].isdigit():
            await enough.wait()
            await asyncio.sleep(WORK_S)  # in which a further request would be noticed
        await site(exchange)

    return respond


def held_until(event):
    """The home page waits for *event*."""

    async def respond(exchange):
        if exchange.path in ("/robots.txt", "/sitemap.xml"):
            await exchange.page(status=404)
        else:
            await event.wait()
            await exchange.page(links())

    return respond


def refusing(status, times, **headers):
    """The home page is refused *times* times."""

    async def respond(exchange):
        if exchange.path == "/robots.txt":
            await exchange.page(status=404)
        elif exchange.path == "/" and exchange.site.count("/") <= times:
            await exchange.page("later", status, **headers)
        else:
            await exchange.page(links("/next"))

    return respond


ONE_BY_ONE = many()


async def one_refused_page(exchange):
    if exchange.path == "/0" and exchange.site.count("/0") == 1:
        await exchange.page("later", 503, Retry_After=REST_S)
    else:
        await ONE_BY_ONE(exchange)


READ = asyncio.Event()  # all pages of "quick"
SITES = {
    "narrow": many(2),
    "wide": many(5),
    "quick": many(read=READ),
    "held": held_until(READ),
    "resting": refusing(429, 1, Retry_After=REST_S),
    "speechless": refusing(503, 1),
    "nonsense": refusing(429, 1, Retry_After="tomorrow"),
    "busy": refusing(503, 1000, Retry_After=0),
    "broken": refusing(500, 1000),
    "mended": refusing(502, 1),
    "hurried": one_refused_page,
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    retries = {"RETRY_TIMES": 1, "RETRY_REST_TIMES": 3, "RETRY_BACKOFF_SECONDS": 0.1}
    project = Project(tmp_path_factory.mktemp("politeness"), **retries)
    with Web(**SITES) as web:
        limits = {"narrow": ";2;;0", "wide": ";5;;0", "hurried": ";1;;0"}
        ended = project.crawl(",".join(web.hosts(name, limits=limits.get(name, ";8;;0")) for name in SITES)).done()
        assert "Traceback" not in ended.log
        assert project.outcomes == [("finished", "finished")]
        yield web, project


@pytest.mark.parametrize(("name", "limit"), [("narrow", 2), ("wide", 5)])
def test_parallel_downloads_are_limited_by_hosts_txt(crawled, name, limit):
    web, _ = crawled
    assert web[name].most_at_once == limit
    assert len(web[name].requests) == PAGES + 3  # with robots.txt, and a sitemap that is none


def test_host_that_is_slow_does_not_delay_the_others(crawled):
    web, project = crawled
    assert web["quick"].count("/") == 1
    assert web["held"].paths == ["/robots.txt", "/sitemap.xml", "/"]  # the last responds when "quick" has been read
    assert project.pages(web["held"].origin) == {"/": (State.DONE, "")}


@pytest.mark.parametrize("name", ["resting", "speechless", "nonsense"])
def test_host_that_requests_a_pause_gets_it_and_then_responds(crawled, name):
    web, project = crawled
    assert web[name].paths == ["/robots.txt", "/sitemap.xml", "/", "/", "/next"]
    assert web[name].gaps_s[2] > 0.9 * REST_S  # without Retry-After: politeness.FIRST_REST_S
    assert {state for state, _ in project.pages(web[name].origin).values()} == {State.DONE}


def test_whole_host_rests_not_only_the_page_that_was_refused(crawled):
    web, _ = crawled
    site = web["hurried"]  # one request at a time: none is in flight when the host refuses
    refused = site.paths.index("/0")
    assert {"/0", "/1"} <= set(site.paths[refused + 1 :])
    assert site.gaps_s[refused] > 0.9 * REST_S
    assert len(site.requests) == PAGES + 4


@pytest.mark.parametrize(
    ("name", "retries", "home"),
    [
        ("busy", 3, (State.FAILED, "status 503")),
        ("broken", 1, (State.FAILED, "status 500")),
        ("mended", 1, (State.DONE, "")),
    ],
)
def test_errors_of_the_server_are_retried_as_often_as_configured(crawled, name, retries, home):
    web, project = crawled
    assert web[name].count("/") == 1 + retries
    assert project.pages(web[name].origin)["/"] == home
    if name == "busy":
        assert project.site(web[name].origin)["availability"] == "status 503"


def test_delay_of_hosts_txt_is_kept(tmp_path):
    delay_s = 0.1
    project = Project(tmp_path)
    with Web(site=many()) as web:
        assert project.crawl(web.hosts(limits=f";8;;{delay_s * 1000:.0f}")).status == 0
        gaps_s = web["site"].gaps_s[1:]
        assert len(gaps_s) == PAGES + 1
        assert sum(gaps_s) > 0.5 * PAGES * delay_s  # not all of it: the first request may have arrived late
