"""Requests for robots.txt and pages are made in order, and the engine is woken when the next one is due."""

import asyncio
import time
from types import SimpleNamespace

import pytest
from scrapy import Request, Spider, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.http import Response

from crawlers.errors import FrontierError, StoreError
from crawlers.extensions.pending_callbacks import PendingCallbacks
from crawlers.frontier.values import Candidate
from crawlers.items import LEASE, REQUEST_SENT, State
from crawlers.schedulers import adaptive
from crawlers.schedulers.adaptive import RequestFlow, Wakeup
from crawlers.store.writing.change_set import ChangeSet
from tests.support.opened_crawl import NOW, SITE, OpenedCrawl, crawler_of, target


class Flow:
    """The requests of an opened crawl; the spider is a plain one of Scrapy."""

    def __init__(self, url, mission, settings):
        self.opened = OpenedCrawl(url, None, mission, **settings)
        self.crawler = crawler_of(url, **settings)
        self.times = []  # at which the engine would be woken
        timer = SimpleNamespace(at=lambda when, now: self.times.append(when))
        spider = Spider.from_crawler(self.crawler, "test")
        callbacks = PendingCallbacks(self.opened.crawl.recording.record)
        self.flow = RequestFlow(self.crawler, spider, self.opened.crawl, callbacks, timer)
        self.flow.follow(None)  # by signals

    def next(self):
        request = self.flow.next()
        assert request is not None
        return request

    def paths(self):
        """Return the paths of all requests that may be sent now."""
        return [request.url.removeprefix(SITE) for request in iter(self.flow.next, None)]

    def respond(self, request, status=404, body=b""):
        assert request.callback is not None
        asyncio.run(request.callback(Response(request.url, status, body=body, request=request)))


@pytest.fixture
def flows(sqlite_url):
    made = []

    def make(mission=None, **settings):
        made.append(Flow(sqlite_url, mission, settings))
        return made[-1]

    yield make
    for flow in made:
        flow.opened.crawl.session.close_all()


def test_requests_for_robots_txt_use_half_of_the_slots_at_most(flows):
    sites = [f"http://s{number}.test/" for number in range(5)]
    flow = flows({"roots": sites}, ROBOTSTXT_OBEY=True, CONCURRENT_REQUESTS=4)
    requests = list(iter(flow.flow.next, None))
    assert len(requests) == 2
    flow.respond(requests[0])
    assert flow.next().url.endswith("/robots.txt")
    assert flow.paths() == ["/"]


def test_requests_for_robots_txt_count_as_downloads(flows):
    flow = flows({"roots": ["http://b.test/", f"{SITE}/a"]}, ROBOTSTXT_OBEY=True, CONCURRENT_REQUESTS=2)
    flow.respond(flow.next())
    first, robots = flow.next(), flow.next()
    assert (first.url, robots.url) == (f"{SITE}/", "http://b.test/robots.txt")
    assert flow.flow.next() is None
    flow.opened.end(first.meta[LEASE])
    assert flow.next().url == f"{SITE}/a"
    assert flow.flow.next() is None
    flow.respond(robots)
    assert flow.flow.next() is not None


@pytest.mark.parametrize("signal", [signals.request_reached_downloader, REQUEST_SENT])
def test_delay_counts_from_the_time_at_which_the_request_was_sent(flows, signal):
    flow = flows(SITE_DELAY_SECONDS=5.0)
    request = flow.next()
    flow.opened.now += 2.0
    flow.crawler.signals.send_catch_log(signal, request=request)
    flow.crawler.signals.send_catch_log(signal, request=Request(f"{SITE}/robots.txt"))
    flow.opened.end(request.meta[LEASE], "/a")
    assert flow.flow.next() is None
    assert flow.times == [NOW + 7.0]


def test_bug_while_a_request_is_made_ends_the_crawl(flows):
    flow = flows()
    flow.opened.crawl.frontier.add([Candidate(1, target("/x"), request="not JSON")], NOW)
    assert flow.paths() == ["/"]
    failure = flow.opened.crawl.control.failure
    assert isinstance(failure, FrontierError)
    assert str(failure).startswith("the next request can't be made: JSONDecodeError")
    assert flow.opened.stopped == ["store_failed"]


# Plain Scrapy spiders


def test_one_call_makes_a_bounded_number_of_steps_and_the_engine_asks_again(flows, monkeypatch):
    monkeypatch.setattr(adaptive, "MAX_STEPS", 2)
    flow = flows({"is_foreign": True, "sites": ()})
    site_id = flow.opened.crawl.sites.id_of(SITE, NOW, ChangeSet())
    lost = '{"kept": 1, "process": "earlier"}'
    flow.opened.crawl.frontier.add([Candidate(site_id, target(f"/{n}"), request=lost) for n in range(3)], NOW)
    flow.flow.add(Request(f"{SITE}/x"))
    assert flow.flow.next() is None
    assert flow.times == [NOW]
    assert flow.paths() == ["/x"]


def test_lease_whose_replacement_is_refused_ends_at_the_next_call(flows):
    flow = flows({"is_foreign": True, "sites": ()})
    flow.flow.add(Request(f"{SITE}/x"))
    replacement = flow.next().replace(url="http://elsewhere.test/")
    flow.crawler.signals.send_catch_log(signals.request_scheduled, request=replacement, spider=None)
    assert flow.flow.next() is None
    assert flow.opened.pages()["/x"][0] is State.REFUSED


def test_store_that_fails_while_a_request_is_added_ends_the_crawl(flows):
    flow = flows({"is_foreign": True, "sites": ()})
    flow.opened.crawl.session.writer.close()
    assert not flow.flow.add(Request(f"{SITE}/x"))
    assert isinstance(flow.opened.crawl.control.failure, StoreError)
    assert flow.opened.stopped == ["store_failed"]


# The engine asks again when something becomes due: not five seconds later, and not in between


DUE_S = 0.2
HEARTBEAT_S = 3600  # after which the engine would ask by itself; 5 in Scrapy


class OneLater(BaseScheduler):
    """Has one request, which is due DUE_S after it was first asked for; *moments* has when it was asked."""

    def __init__(self, crawler):
        self.wakeup = Wakeup(crawler)
        self.moments = []
        self.is_open = True
        crawler.scheduler_of_test = self

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def has_pending_requests(self):
        return self.is_open

    def enqueue_request(self, request):
        return False

    def next_request(self):
        now = time.monotonic()
        self.moments.append(now)
        if not self.is_open:
            return None
        due = self.moments[0] + DUE_S
        if now >= due:
            self.is_open = False
            return Request("data:,due")
        self.wakeup.at(due + 60, now)  # the earliest wins, whatever came before
        self.wakeup.at(due, now)
        self.wakeup.at(due + 30, now)
        return None


class Waiting(Spider):
    name = "waiting"

    async def start(self):
        return
        yield

    def parse(self, response):
        self.responded_at = time.monotonic()


async def crawled():
    """Return a crawler with a real engine, without Twisted's reactor, that ran on `OneLater`."""
    switched_off = ("TWISTED_REACTOR_ENABLED", "TELNETCONSOLE_ENABLED", "REMOTE_CONTROL_ENABLED", "LOG_ENABLED")
    settings = {"SCHEDULER": OneLater, **dict.fromkeys(switched_off, False)}
    crawler = AsyncCrawlerRunner(settings).create_crawler(Waiting)
    await asyncio.wait_for(crawler.crawl_async(), 60)
    return crawler


def test_engine_is_woken_when_a_request_is_due_once_and_not_when_it_is_closed(monkeypatch):
    """By a private attribute of Scrapy."""
    monkeypatch.setattr(ExecutionEngine, "_SLOT_HEARTBEAT_INTERVAL", HEARTBEAT_S)
    crawler = asyncio.run(crawled())
    moments = crawler.scheduler_of_test.moments
    assert DUE_S <= crawler.spider.responded_at - moments[0] < HEARTBEAT_S
    # At the start, when start() is exhausted, when it is due, and when the download is over.
    assert len(moments) <= 6
    wakeup = Wakeup(crawler)
    wakeup._ring()
    wakeup.cancel()
