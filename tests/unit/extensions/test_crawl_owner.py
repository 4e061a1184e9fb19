"""The crawl begins and ends with its owner, which all other components reach through the crawler; and its rounds."""

import asyncio
import logging
from importlib.metadata import version
from types import SimpleNamespace

import pytest
from scrapy import Spider, signals
from scrapy.exceptions import CloseSpider, DontCloseSpider
from sqlalchemy import select
from twisted.python.failure import Failure

from crawlers.crawl.run import Run
from crawlers.crawl.spec import CrawlSpec
from crawlers.errors import ConfigError, CrawlEnded, FrontierError, StoreError
from crawlers.extensions import crawl_owner
from crawlers.extensions.crawl_owner import begin_rounds, owner_of, required_extension
from crawlers.extensions.pending_callbacks import PendingCallbacks
from crawlers.inputs.program import CRAWL, PLACE, SUMMARY
from crawlers.items import SiteLimits
from crawlers.options import OFFERED
from crawlers.reports.crawl_manifest import manifest_of
from crawlers.spiders.base import SiteSpider
from crawlers.store.schema.tables import crawl
from tests.support.opened_crawl import SITE, crawler_of
from tests.support.processes import PATIENCE_S


class OneSite(SiteSpider):
    """A mission with one site."""

    name = "mine"

    def crawl_spec(self, settings):
        budget = settings.getint("PAGE_BUDGET")
        return CrawlSpec(self.name, [SiteLimits(SITE)], page_budget=budget, open=lambda session: self.opened())

    def opened(self):
        return SkipAll(None, None)


class SkipAll(Run):
    """Skips every page."""

    def reason_to_skip(self, lease):
        return "feed_removed"


class Opened:
    """A crawler and the owner of its crawl."""

    def __init__(self, url, kind=Spider, **settings):
        self.crawler = crawler_of(url, kind, **settings)
        self.spider = kind.from_crawler(self.crawler, **({"name": "mine"} if kind is Spider else {"hosts": SITE}))
        self.woken = asyncio.Event()
        self.owner = owner_of(self.crawler)

    def open(self):
        self.owner.open(self.spider, self._wake)
        return self

    def _wake(self):
        self.woken.set()

    def send(self, signal):
        """Return the exceptions that handlers of *signal* raise."""
        results = self.crawler.signals.send_catch_log(signal, spider=self.spider, dont_log=Exception)
        return [result.value for _, result in results if isinstance(result, Failure)]


@pytest.fixture
def opened(sqlite_url):
    made = []

    def make(kind=Spider, **settings):
        made.append(Opened(sqlite_url, kind, **settings))
        return made[-1]

    yield make
    for one in made:
        one.owner.close("cleanup")


# Access


def test_command_is_kept_with_the_names_of_what_is_not_kept_of_it(opened):
    one = opened(OneSite)
    given = {"MAX_LEVEL": "2", "HTTPCACHE_DIR": "/secret", "CRAWL": "x", "LOG_FILE": "a.log"}
    for name, value in given.items():
        one.crawler.settings.frozen = False
        one.crawler.settings.set(name, value, "cmdline")
    one.open()
    command = manifest_of(one.owner.crawl.session.database, one.owner.crawl.session.row.id)["command"]
    assert command == {"arguments": {"hosts": SITE}, "settings": {"MAX_LEVEL": "2"}, "left_out": ["HTTPCACHE_DIR"]}


def test_manifest_has_every_setting_that_people_may_choose_and_the_versions_of_libraries(opened):
    one = opened(OneSite).open()
    manifest = manifest_of(one.owner.crawl.session.database, one.owner.crawl.session.row.id)
    assert OFFERED.keys() <= {*manifest["settings"], *manifest["further_settings"]}
    assert manifest["further_settings"]["TRAPS_ENABLED"] is True
    assert manifest["further_settings"]["GRAPH_FORMATS"] == ["gexf"]
    assert {"DATABASE_URL", "WEB_PASSWORD"}.isdisjoint(manifest["further_settings"])
    assert manifest["versions"]["lxml"] == version("lxml")
    assert manifest["site_options"] == {}


def test_crawl_is_not_open_before_the_scheduler(opened):
    one = opened()
    assert not one.owner.is_started
    with pytest.raises(FrontierError, match=r"no crawl is open; SCHEDULER must be .*AdaptiveScheduler"):
        _ = one.owner.crawl


def test_extension_that_is_switched_off_is_reported_with_its_name(sqlite_url):
    crawler = crawler_of(sqlite_url, EXTENSIONS={})
    with pytest.raises(ConfigError, match=r"switches off crawlers\.extensions\.crawl_owner\.CrawlOwner; switch it on"):
        owner_of(crawler)
    with pytest.raises(ConfigError, match="PendingCallbacks"):
        required_extension(crawler, PendingCallbacks)


# The beginning


def test_crawl_says_for_whom_the_rules_of_robots_txt_apply(opened, caplog):
    caplog.set_level("INFO")
    opened(ROBOTSTXT_OBEY=True, USER_AGENT="Mozilla/5.0 (compatible; mybot/1.0)").open()
    assert 'Rules of robots.txt apply to the crawl if they are for the user agent "mybot"' in caplog.messages


def test_unexpected_error_of_a_policy_is_reported_and_leaves_no_crawl_running(opened, sqlite, monkeypatch):
    monkeypatch.setattr(OneSite, "opened", lambda _: 1 / 0)
    one = opened(OneSite)
    assert one.owner.open(one.spider, lambda: None) is None
    assert "the crawl can't begin: ZeroDivisionError" in str(one.owner.failure)
    assert sqlite.rows(select(crawl.c.state, crawl.c.reason)) == [("interrupted", "could_not_begin")]


@pytest.mark.parametrize(("place", "is_silent"), [({}, False), ({PLACE: "2/4", SUMMARY: "summary.txt"}, True)])
def test_worker_that_is_too_late_for_the_crawl_of_its_command_ends_silently(opened, monkeypatch, place, is_silent):
    opened(OneSite).open().owner.close("finished")
    for name, value in {CRAWL: "1", **place}.items():
        monkeypatch.setenv(name, value)
    try:
        assert isinstance(opened(OneSite).open().owner.failure, CrawlEnded)
        assert logging.root.manager.disable == (logging.INFO if is_silent else logging.NOTSET)
    finally:
        logging.disable(logging.NOTSET)


def test_crawl_that_can_not_begin_ends_the_spider_and_keeps_the_reason(opened, sqlite):
    one = opened(OneSite, RULE="chess")
    assert one.owner.open(one.spider, lambda: None) is None
    assert not one.owner.is_started
    assert isinstance(one.owner.failure, ConfigError)
    assert "chess" in str(one.owner.failure)
    errors = one.send(signals.spider_opened)  # others need the event loop that a test hasn't
    assert [error.reason for error in errors if isinstance(error, CloseSpider)] == ["could_not_begin"]
    assert one.send(signals.spider_idle) == []
    assert sqlite.rows(select(crawl)) == []


# The end


def test_spider_stays_open_until_the_levels_are_settled(opened):
    one = opened(ORDER="opic").open()

    async def idle():
        errors = one.send(signals.spider_idle)
        await one.woken.wait()
        return errors

    (error,) = asyncio.run(asyncio.wait_for(idle(), 30))
    assert isinstance(error, DontCloseSpider)
    assert one.send(signals.spider_idle) == []


def test_failure_of_the_crawl_closes_the_engine_with_its_reason(opened):
    one = opened().open()
    failure = StoreError("the disk is full")

    class Engine:
        """Takes the place of Scrapy's engine, which would need a reactor."""

        def __init__(self):
            self.reason = asyncio.get_running_loop().create_future()

        async def close_spider_async(self, *, reason):
            self.reason.set_result(reason)

    async def abort():
        engine = one.crawler.engine = Engine()
        one.owner.crawl.control.abort(failure)
        return await asyncio.wait_for(engine.reason, 30)

    assert asyncio.run(abort()) == "store_failed"
    assert one.owner.failure is failure


# Rounds


class Crawl:
    """What rounds need of a crawl that *has_joined* others or is alone, and of its engine."""

    def __init__(self, monkeypatch, *, has_joined=True, is_due=True):
        monkeypatch.setattr(crawl_owner, "TICK_S", 0.001)
        self.has_joined = has_joined
        self.session = SimpleNamespace(claims=SimpleNamespace(is_due=is_due))
        self.begun = []  # whether the crawl was stopping, of each round
        self._changed = asyncio.Condition()
        self.crawler = crawler_of("sqlite://")
        self.engine = self.crawler.engine = SimpleNamespace(running=False)

    async def round(self, *, is_stopping):
        self.begun.append(is_stopping)
        async with self._changed:
            self._changed.notify_all()

    async def has_had(self, number):
        """Wait until this *number* of rounds have begun."""
        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(lambda: len(self.begun) >= number)

    def close(self):
        self.crawler.signals.send_catch_log(signals.spider_closed, spider=None, reason="finished")


def test_rounds_begin_while_the_crawl_is_open_when_they_are_due(monkeypatch):
    async def test():
        crawl = Crawl(monkeypatch, has_joined=False, is_due=False)
        begin_rounds(crawl.crawler, crawl)
        await asyncio.sleep(0.01)
        assert crawl.begun == []
        crawl.session.claims.is_due = True
        await crawl.has_had(3)
        crawl.close()
        begun = len(crawl.begun)
        await asyncio.sleep(0.01)
        assert len(crawl.begun) == begun

    asyncio.run(test())


def test_crawl_whose_engine_has_stopped_takes_nothing_more(monkeypatch):
    async def test():
        crawl = Crawl(monkeypatch)
        begin_rounds(crawl.crawler, crawl)
        for is_running in (True, False):
            await crawl.has_had(len(crawl.begun) + 1)
            assert set(crawl.begun) <= {False}, "before it runs, the engine is not stopping"
            crawl.engine.running = is_running
        await crawl.has_had(len(crawl.begun) + 2)
        assert crawl.begun[-1]
        crawl.close()

    asyncio.run(test())
