"""Rounds report what a worker does, and take up what it gets."""

import asyncio
import json

import pytest

from crawlers.crawl.policy import CrawlPolicy
from crawlers.items import SiteLimits
from crawlers.urls.scope import Scope
from crawlers.workers import worker_rounds
from tests.support.opened_crawl import rounds, target

SITES = [f"http://s{number}.test" for number in range(4)]


class Mail(CrawlPolicy):
    """Notes the URLs of the messages that it gets at a time; takes up those that do not end in 0."""

    def __init__(self):
        self.got = []

    async def receive(self, messages, run, now):
        self.got.append([one.url for one in messages])
        return [one for one in messages if not one.url.endswith("0")]


@pytest.fixture
def mail():
    return Mail()


@pytest.fixture
def begun(begin, mail):
    """Begins a worker of a crawl of all sites, which can find further ones."""
    sites = [SiteLimits(site) for site in SITES]
    return lambda: begin(mail, {"sites": sites, "can_be_shared": True, "scope": Scope("test", SITES)})


def said(crawl):
    """Return how many leases a worker reported, and whether it has nothing to do."""
    ((leases, is_idle),) = crawl.rows(
        f"SELECT leases, is_idle FROM worker WHERE id = {crawl.crawl.session.row.worker_id}"
    )
    return leases, bool(is_idle)


def held(crawl):
    """Return how many sites a worker holds."""
    return crawl.rows(f"SELECT count(*) FROM site WHERE worker_id = {crawl.crawl.session.row.worker_id}")[0][0]


def test_round_reports_what_the_worker_does(begun):
    crawl = begun()
    lease = crawl.lease()
    crawl.round()
    assert said(crawl) == (1, False)
    crawl.end(lease)
    crawl.now += 10.0
    crawl.round()
    assert said(crawl) == (0, False)
    ((status,),) = crawl.rows("SELECT status FROM worker")
    assert json.loads(status)["pages_per_s"] == pytest.approx(0.1)
    for _ in SITES[1:]:
        crawl.end(crawl.lease())
    crawl.round()
    assert said(crawl) == (0, True)


def test_worker_that_stops_claims_nothing(begun):
    one, two = begun(), begun()
    one.round()
    one.round()
    asyncio.run(two.crawl.round(is_stopping=True))
    assert (held(two), said(two)) == (0, (0, False))
    two.round()
    assert held(two) == 0, "it is still stopping"


def test_others_are_asked_to_stop_once(begun):
    one, two = begun(), begun()
    one.crawl.rounds.ask_to_stop("timeout")
    rounds(one, two)
    assert (one.stopped, two.stopped) == ([], ["timeout"])


def test_round_does_not_begin_during_another_one(begun):
    crawl = begun()
    before = crawl.crawl.session.writer.submitted

    async def twice():
        await asyncio.gather(crawl.crawl.round(), crawl.crawl.round())

    asyncio.run(twice())
    assert crawl.crawl.session.writer.submitted == before + 1


def test_messages_are_taken_up_a_few_at_a_time_as_the_policy_wants_them(begun, mail, monkeypatch):
    monkeypatch.setattr(worker_rounds, "MESSAGES_AT_ONCE", 2)
    one, two = begun(), begun()
    rounds(one, two)
    ours = {row.site for row in one.crawl.sites.rows}
    mine, theirs = sorted(ours), sorted(set(SITES) - ours)
    assert mine
    assert theirs
    links = [(target(f"{theirs[0]}/{number}"), 1) for number in range(10, 15)]
    one.end(one.lease(), cross_site_links=links)
    one.crawl.session.writer.flush()
    two.round()
    assert [len(some) for some in mail.got] == [2, 2, 1]
    found = two.rows("SELECT url FROM page WHERE level = 1 ORDER BY url")
    assert found == [(f"{theirs[0]}/{number}",) for number in range(11, 15)]
