"""Rounds report what a worker does, and take up what it gets."""

from __future__ import annotations

import asyncio
import json

import pytest

from crawlers.crawl.run import Run
from crawlers.items import LinkPlace, SiteLimits, Target
from crawlers.store import worker_rows
from crawlers.store.worker import ROUND_S
from crawlers.urls.scope import Scope
from crawlers.workers import shared
from crawlers.workers.shared import SOON_S, Details, _Result, details_of, incoming, link_message, text_of
from tests.support.opened_crawl import rounds, target

SITES = [f"http://s{number}.test" for number in range(4)]


class Mail(Run):
    """Notes the URLs of the messages that it gets at a time; takes up those that do not end in 0."""

    def __init__(self):
        self.got = []

    async def receive(self, links, now):
        self.got.append([one.message.url for one in links])
        return [one for one in links if not one.message.url.endswith("0")]


@pytest.fixture
def mail():
    return Mail()


@pytest.fixture
def begun(begin, mail):
    """Begins a worker of a crawl of all sites, which can find further ones."""
    sites = [SiteLimits(site) for site in SITES]
    return lambda: begin(mail, {"sites": sites, "scope": Scope("test", SITES)})


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
    crawl.share()
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
    one.crawl.ask_to_stop("timeout")
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
    monkeypatch.setattr(shared, "MESSAGES_AT_ONCE", 2)
    one, two = begun(), begun()
    rounds(one, two)
    ours = {row.site for row in one.crawl.sites.rows.values()}
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


# When rounds are due ----------------------------------------------------------------------------------


@pytest.fixture
def shared_crawl(begin):
    """Shares a crawl with some *others* that do nothing."""

    def share(others=0, **mission):
        crawl = begin(None, {"sites": [SiteLimits(site) for site in SITES], **mission})
        claims = crawl.share()
        claims.last = claims.last._replace(others=others, granted=1)
        return crawl, claims

    return share


def pause_s(crawl, claims):
    """Return the seconds until a round is due, if one begins now."""
    claims._worker.begin_round()
    began = crawl.now
    while not claims.is_due:
        crawl.now += 0.001
    return crawl.now - began


@pytest.mark.parametrize(
    ("budget", "others", "has_indexes", "took_s", "expected_s"),
    [
        (0, 0, True, 0.0, ROUND_S),
        (10, 0, True, 0.0, ROUND_S),
        (10, 1, True, 0.0, 2 / 12),  # of all workers together, 12 a second
        (10, 2, True, 0.0, 3 / 12),
        (10, 1, True, 0.003, 0.3),  # a hundredth of the time at most
        (10, 1, True, 0.5, ROUND_S),
        (10, 1, False, 0.0, ROUND_S),
    ],
)
def test_rounds_are_due_every_second_and_quickly_if_sites_of_a_budget_are_compared(
    shared_crawl, budget, others, has_indexes, took_s, expected_s
):
    crawl, claims = shared_crawl(others, page_budget=budget)
    crawl.crawl.frontier.budget.grant(1)
    claims._has_indexes, claims._took_s = has_indexes, took_s
    assert pause_s(crawl, claims) == pytest.approx(expected_s, abs=0.002)


def test_worker_asks_less_often_after_each_round_that_grants_nothing(shared_crawl):
    crawl, claims = shared_crawl(1, page_budget=10)
    crawl.crawl.frontier.budget._granted = 0  # it lacks pulls
    pauses = []
    for granted in (1, 1, 1, 1, 1, 2, 2):
        pauses.append(round(pause_s(crawl, claims), 2))
        claims._lacked_pulls = True
        found = claims.last._replace(granted=granted, others=1)
        claims._apply(_Result(found, 0.0, (), 0.0, (), None))
        crawl.crawl.frontier.budget._granted = 0
    assert pauses == [SOON_S, 0.2, 0.4, 0.8, 1.0, 1.0, SOON_S]


def test_pulls_of_others_are_read_once(begin):
    mission = {"sites": [SiteLimits(site) for site in SITES], "page_budget": 100}
    one = begin(None, mission)
    two = begin(None, mission)
    rounds(one, two)
    two.end(two.lease())
    for expected in (1, 0):
        learnt = one.crawl.frontier.budget._learnt
        rounds(two, one, number=1)
        assert one.crawl.frontier.budget._learnt - learnt == expected


def test_claimed_sites_were_asked_by_the_clock_of_the_worker(begin, monkeypatch):
    mission = {"sites": [SiteLimits(site) for site in SITES]}
    one = begin(None, mission)
    two = begin(None, mission)
    monkeypatch.setattr(worker_rows, "server_time", lambda connection: two.now - 100.0)
    one.crawl.session.close_all()
    with two.crawl.session.database.write() as connection:
        connection.exec_driver_sql("UPDATE site SET worker_id = NULL, asked_at = 7.0")
    found = two.crawl.session.claims._submit().result()
    assert [row.asked_at for row in found.claimed] == [107.0] * len(SITES)


TARGET = Target("http://b.test/x?utm_source=1", "http://b.test/x", 7, "http://b.test")
PLACE = LinkPlace("ul/li", "", "a text")
FULL = Details(None, "POST", (2, 0.5), "a text", PLACE, (3, 4), is_new=True, has_moved=True)


@pytest.mark.parametrize("target", [TARGET, TARGET._replace(url=TARGET.normalized)])
def test_target_and_what_belongs_to_it_are_received_as_they_were_sent(target):
    message = link_message(1, 5, target, 3, 1, 9.0, FULL)
    assert incoming(message) == (message, target, (2, 0.5), PLACE, "POST")
    assert details_of(message).contexts == [3, 4]
    assert incoming(link_message(1, 5, target, 3, 1, 9.0, Details()))[1:] == (target, None, None, None)


def test_empty_text_of_a_link_is_not_the_lack_of_one():
    assert text_of(Details()) is None
    assert details_of(link_message(1, 5, TARGET, 3, 1, 9.0, Details(anchor=""))).anchor == ""
