"""The limits of hosts are kept: parallel downloads, and rests after 429 and 503; no host delays another."""

from __future__ import annotations

import asyncio

import pytest

from crawlers.items import State
from tests.support.sites.project import Project
from tests.support.sites.server import Web, links, pages

PAGES = 24
WORK_S = 0.03  # of a server for a page
TIMEOUT_S = 4
REST_S = 1  # the Retry-After of the hosts


def many(pause_s=0.0):
    """A home page that links to PAGES pages, each of which takes the server *pause_s*."""
    bodies = {
        "/": links(*(f"/{n}" for n in range(PAGES))),
        **{f"/{n}": f"<title>{n}</title>" for n in range(PAGES)},
    }
    site = pages(bodies)

    async def respond(exchange):
        await asyncio.sleep(pause_s)
        await site(exchange)

    return respond


async def stalled(exchange):
    if exchange.path == "/robots.txt":
        await exchange.page(status=404)
    else:
        await asyncio.sleep(60)


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


async def one_refused_page(exchange):
    if exchange.path == "/0" and exchange.site.count("/0") == 1:
        await exchange.page("later", 503, Retry_After=REST_S)
    else:
        await many()(exchange)


SITES = {
    "narrow": many(WORK_S),
    "wide": many(WORK_S),
    "quick": many(),
    "stalled": stalled,
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
    project = Project(
        tmp_path_factory.mktemp("politeness"),
        DOWNLOAD_TIMEOUT=TIMEOUT_S,
        RETRY_TIMES=1,
        RETRY_REST_TIMES=3,
        RETRY_BACKOFF_SECONDS=0.1,
    )
    with Web(**SITES) as web:
        limits = {"narrow": ";2;;0", "wide": ";5;;0"}
        ended = project.crawl(",".join(web.hosts(name, limits=limits.get(name, ";8;;0")) for name in SITES))
        assert ended.status == 0, ended.log
        assert "Traceback" not in ended.log
        assert project.states() == [("finished", "finished")]
        yield web, project


@pytest.mark.parametrize(("name", "limit"), [("narrow", 2), ("wide", 5)])
def test_parallel_downloads_are_limited_by_hosts_txt(crawled, name, limit):
    web, _ = crawled
    assert web[name].most_at_once == limit
    assert len(web[name].requests) == PAGES + 2


def test_stalled_host_does_not_delay_the_others(crawled):
    web, project = crawled
    began_s = web["stalled"].requests[1].at_s
    assert len(web["quick"].requests) == PAGES + 2
    assert web["quick"].requests[-1].at_s < began_s + TIMEOUT_S
    assert project.pages(web["stalled"].origin) == {"/": (State.FAILED, "timeout, 2 attempts")}
    assert project.site(web["stalled"].origin)["availability"] == "timeout, 2 attempts"


@pytest.mark.parametrize("name", ["resting", "speechless", "nonsense"])
def test_host_that_requests_a_pause_gets_it_and_then_responds(crawled, name):
    web, project = crawled
    assert web[name].paths == ["/robots.txt", "/", "/", "/next"]
    assert web[name].gaps_s[1] > 0.9 * REST_S  # without Retry-After: politeness.FIRST_REST_S
    assert {state for state, _ in project.pages(web[name].origin).values()} == {State.DONE}


def test_whole_host_rests_not_only_the_page_that_was_refused(crawled):
    web, _ = crawled
    site = web["hurried"]
    refused_s = next(one.at_s for one in site.requests if one.path == "/0")
    during = [one.path for one in site.requests if refused_s + 0.5 < one.at_s < refused_s + 0.9 * REST_S]
    assert during == []  # requests in flight when the response arrived do not count
    assert len(site.requests) == PAGES + 3


def test_host_that_is_always_busy_fails_with_a_reason(crawled):
    web, project = crawled
    assert web["busy"].count("/") == 1 + 3
    assert project.pages(web["busy"].origin) == {"/": (State.FAILED, "status 503, 4 attempts")}
    assert project.site(web["busy"].origin)["availability"] == "status 503, 4 attempts"


def test_errors_of_the_server_are_retried_as_often_as_configured(crawled):
    web, project = crawled
    assert web["broken"].count("/") == 1 + 1
    assert project.pages(web["broken"].origin) == {"/": (State.FAILED, "status 500, 2 attempts")}
    assert web["mended"].count("/") == 2
    assert project.pages(web["mended"].origin)["/"] == (State.DONE, "")


def test_delay_of_hosts_txt_is_kept(tmp_path):
    delay_s = 0.1
    project = Project(tmp_path)
    with Web(site=many()) as web:
        assert project.crawl(web.hosts(limits=f";8;;{delay_s * 1000:.0f}")).status == 0
        gaps_s = web["site"].gaps_s[1:]
        assert len(gaps_s) == PAGES
        assert 0.7 * PAGES * delay_s < sum(gaps_s) < PAGES  # the engine by itself would take 5 s for each page
        assert web["site"].most_at_once == 1
