"""A crawl is measured in small steps, and its snapshots never change."""

import asyncio

import pytest

from crawlers.crawl.metrics import SUM_S, Measuring
from crawlers.frontier.values import RuleDecisions
from crawlers.items import SiteLimits, State
from tests.support.opened_crawl import OpenedCrawl


class Measured:
    """A crawl of three sites, and the measuring of it at a time that the test sets."""

    def __init__(self, url, **settings):
        sites = [SiteLimits(f"http://{name}.test") for name in "abc"]
        self.opened = OpenedCrawl(url, mission={"sites": sites}, **settings)
        self.now = 0.0
        self.measuring = Measuring(self.opened.crawl, "sitegraph", lambda: self.opened.stats, lambda: self.now)

    def step(self, now, late_s=0.0):
        self.now = now
        self.measuring.step(late_s)

    def query(self):
        asyncio.run(self.measuring.query())


@pytest.fixture
def measured(sqlite_url):
    measured = Measured(sqlite_url)
    yield measured
    measured.opened.kill()


def test_numbers_at_hand_are_read_every_second(measured):
    lease = measured.opened.lease()
    measured.step(0.9)
    assert measured.measuring.snapshot.leases == 0
    measured.step(1.0)
    assert measured.measuring.snapshot.leases == 1
    measured.opened.end(lease, "/x", state=State.REFUSED, status=404)
    before = measured.measuring.snapshot
    measured.opened.crawl.session.writer.flush()
    measured.step(2.0)
    after = measured.measuring.snapshot
    assert (before.stats, before.leases) == ({}, 1), "a snapshot never changes"
    assert after.stats == {"pages/refused": 1, "pages/found": 1, "errors/client_error": 1}
    assert (after.leases, after.unwritten) == (0, 0)
    assert after.rule_decisions == RuleDecisions(1, 0, 0)
    assert after.commits.number >= 1


def test_pages_are_counted_now_and_then(measured):
    measured.opened.end(measured.opened.lease())
    measured.step(SUM_S - 0.1)
    assert measured.measuring.snapshot.pages == {State.WAITING: 3}
    measured.step(SUM_S)
    assert measured.measuring.snapshot.pages == {State.WAITING: 2, State.DONE: 1}


def test_store_that_can_not_be_read_ends_nothing(measured):
    measured.opened.crawl.session.writer.flush()
    measured.query()
    with measured.opened.crawl.session.database.write() as connection:
        connection.exec_driver_sql("ALTER TABLE page RENAME TO lost")
    measured.query()
    assert measured.measuring.snapshot.oldest_found_at is None
    assert not measured.measuring.needs_query
